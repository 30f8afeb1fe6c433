// Reclaim for a gang of 250 pods on 5,000 full nodes where 2,000 gangs of other Queues could go:
// the plan, and the proof that no eviction helps.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/synthetic_cluster.h"
#include "plugins/builtin.h"
#include "scheduler/cycle/victims/preemption.h"
#include "scheduler/state/cluster_state.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

constexpr int kNodes = 5000;
constexpr int kGangs = 2000;
constexpr int kPodsPerGang = 20;  // of one GPU: 40,000 pods on 40,000 GPUs
constexpr int kQueues = 20;       // the first one is the preemptor's
constexpr int kPods = 250;
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

// How the pods of a gang lie on the nodes.
enum class Layout : uint8_t { kPacked, kScattered };

class Bench final {
 public:
  Bench(Layout layout, int64_t gpus, FairSharing fair_sharing)
      : profile_(BuiltinProfile()), fair_sharing_(fair_sharing) {
    Delta delta;
    for (ObjectEvent& event : SyntheticNodes(kNodes)) state_.Apply(event, kNow, delta);
    for (ObjectEvent& event : SyntheticGang(0, kPods, gpus)) state_.Apply(event, kNow, delta);
    for (int g = 0; g < kGangs; ++g) {
      for (int p = 0; p < kPodsPerGang; ++p) {
        MakePod pod(absl::StrCat("run-", g, "-", p));
        pod.Group(absl::StrCat("run-", g)).Gpu(1).Cpu(1000);
        state_.Apply(pod.On(NodeFor(layout, g, p)), kNow, delta);
      }
    }
    MakeTree();
    ListGangs();
    const Gang& gang = GangNamed("gang-0");
    request_.gang = gang.id;
    request_.name = "gang-0";
    request_.need.total = kPods;
    for (const Member& member : gang.members) {
      request_.wants.push_back({.pod = member.pod, .shape = member.shape});
    }
    ask_.tree = &tree_;
    ask_.queue = QuotaNodeId(1);
    ask_.options[request_.wants.front().shape] = {
        {.nodes = {}, .each = {{.cell = QuotaCellId(0), .amount = Amount(gpus)}}, .flavor = ""}};
    snapshot_ = state_.Publish();
  }

  void ProtectOneGpuOfEachNode() {
    std::vector<bool> seen(kNodes, false);
    for (RunningGang& gang : running_) {
      for (const VictimPod& pod : gang.members) {
        if (seen[pod.node.index()]) continue;
        seen[pod.node.index()] = true;
        gang.protected_until = absl::InfiniteFuture();
      }
    }
  }

  void Run(benchmark::State& run, bool planned) {
    const DecideInput decide{
        .snapshot = *snapshot_, .request = request_, .now = kNow, .quota = &ask_};
    size_t victims = 0;
    for (auto _ : run) {
      const auto answer =
          PlanPreemption({.decide = decide,
                          .profile = profile_,
                          .priority = 5,
                          .queued = kNow,
                          .policy = {.reclaim = ReclaimWithinCohort::kAny},
                          .fair_sharing = fair_sharing_,
                          .strategies = {FairStrategy::kLessThanOrEqualToFinalShare},
                          .running = running_});
      const auto* plan = std::get_if<PreemptionPlan>(&answer);
      if ((plan != nullptr) != planned) {
        run.SkipWithError(planned ? std::get<NoPreemption>(answer).message.c_str() : "a plan");
      }
      if (plan != nullptr) victims = plan->victims.size();
    }
    run.counters["victims"] = static_cast<double>(victims);
  }

 private:
  static std::string NodeFor(Layout layout, int gang, int pod) {
    const int slot = gang * kPodsPerGang + pod;
    int node = slot / 8;
    switch (layout) {
      case Layout::kPacked:
        break;
      case Layout::kScattered:
        node = slot % kNodes;
        break;
    }
    return absl::StrFormat("node-%05d", node);
  }
  const Gang& GangNamed(const std::string& name) {
    return *state_.FindGang(state_.GangNamed({.namespace_name = "default", .name = name}).value());
  }
  void MakeTree() {
    std::vector<QuotaNodeSpec> specs(kQueues + 1);
    for (size_t q = 1; q < specs.size(); ++q) {
      specs[q].parent = QuotaNodeId(0);
      const int64_t nominal = q == 1 ? 5000 : 35'000 / (kQueues - 1);
      specs[q].limits.push_back({.cell = QuotaCellId(0), .nominal = Amount(nominal)});
    }
    tree_ = QuotaTree(specs, {0});
  }
  void ListGangs() {
    for (int g = 0; g < kGangs; ++g) {
      const Gang& model = GangNamed(absl::StrCat("run-", g));
      RunningGang gang{.gang = model.id,
                       .name = absl::StrCat("default/run-", g),
                       .queue = QuotaNodeId(static_cast<uint32_t>(2 + g % (kQueues - 1))),
                       .priority = g % 7,
                       .queued = kNow - absl::Hours(1),
                       .started = kNow - absl::Minutes(1 + g % 600)};
      for (const Member& member : model.members) {
        gang.members.push_back({.pod = member.pod,
                                .node = member.node,
                                .shape = member.shape,
                                .charge = {{.cell = QuotaCellId(0), .amount = Amount(1)}}});
        tree_.Add(gang.queue, gang.members.back().charge);
      }
      running_.push_back(std::move(gang));
    }
  }

  ClusterState state_{ClusterStateOptions{}};
  Profile profile_;
  FairSharing fair_sharing_;
  SnapshotPtr snapshot_;
  QuotaTree tree_;
  QuotaAsk ask_;
  GangRequest request_;
  std::vector<RunningGang> running_;
};

FairSharing FairOf(benchmark::State& run) {
  return run.range(0) == 1 ? FairSharing::kOn : FairSharing::kOff;
}

void BM_ReclaimForGangOf250PackedGangs(benchmark::State& run) {
  Bench(Layout::kPacked, run.range(1), FairOf(run)).Run(run, true);
}
BENCHMARK(BM_ReclaimForGangOf250PackedGangs)
    ->ArgNames({"fair", "gpus"})
    ->ArgsProduct({{0, 1}, {1, 4, 8}})
    ->Unit(benchmark::kMillisecond);

void BM_ReclaimForGangOf250ScatteredGangs(benchmark::State& run) {
  Bench(Layout::kScattered, run.range(1), FairOf(run)).Run(run, true);
}
BENCHMARK(BM_ReclaimForGangOf250ScatteredGangs)
    ->ArgNames({"fair", "gpus"})
    ->ArgsProduct({{0, 1}, {1, 8}})
    ->Unit(benchmark::kMillisecond);

// Whole nodes are asked for, and on each of them something stays.
void BM_ProofThatNoPreemptionHelps(benchmark::State& run) {
  Bench bench(Layout::kScattered, 8, FairOf(run));
  bench.ProtectOneGpuOfEachNode();
  bench.Run(run, false);
}
BENCHMARK(BM_ProofThatNoPreemptionHelps)
    ->ArgName("fair")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace maniple
