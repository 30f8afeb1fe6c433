// The planned start of a gang of 250 pods on 5,000 full nodes: 10,000 pods in 20 Queues, each with
// an end of its own.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/synthetic_cluster.h"
#include "plugins/builtin.h"
#include "scheduler/cycle/start_plan.h"
#include "scheduler/state/cluster_state.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

constexpr int kNodes = 5000;
constexpr int kRunning = 2 * kNodes;  // of 4 GPUs each
constexpr int kQueues = 20;
constexpr int kPods = 250;
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

void BM_PlanStart(benchmark::State& run) {
  ClusterState state{ClusterStateOptions{}};
  Delta delta;
  for (ObjectEvent& event : SyntheticNodes(kNodes)) state.Apply(event, kNow, delta);
  for (ObjectEvent& event : SyntheticGang(0, kPods, 8)) state.Apply(event, kNow, delta);
  std::vector<QuotaNodeSpec> specs(kQueues + 1);
  for (size_t q = 1; q < specs.size(); ++q) {
    specs[q] = {.parent = QuotaNodeId(0),
                .limits = {{.cell = QuotaCellId(0), .nominal = Amount(8 * kNodes / kQueues)}}};
  }
  QuotaTree tree(specs, {0});
  std::vector<Release> releases;
  for (int i = 0; i < kRunning; ++i) {
    const std::string name = absl::StrCat("run-", i);
    state.Apply(MakePod(name).Gpu(4).Cpu(1000).On(absl::StrFormat("node-%05d", i / 2)), kNow,
                delta);
    const GangKey key{
        .dialect = GangDialect::kSingleton, .namespace_name = "default", .name = name};
    const Member& member = state.FindGang(state.GangNamed(key).value())->members.front();
    Release release{.at = kNow + absl::Seconds(1 + i * 7919 % 86'400),
                    .room = {member.node, member.shape},
                    .queue = QuotaNodeId(1 + static_cast<uint32_t>(i % kQueues)),
                    .charge = {{.cell = QuotaCellId(0), .amount = Amount(4)}}};
    tree.Add(release.queue, release.charge);
    releases.push_back(std::move(release));
  }
  const Gang& gang =
      *state.FindGang(state.GangNamed({.namespace_name = "default", .name = "gang-0"}).value());
  GangRequest request{.gang = gang.id, .name = "gang-0"};
  request.need.total = kPods;
  for (const Member& member : gang.members) {
    request.wants.push_back({.pod = member.pod, .shape = member.shape});
  }
  QuotaAsk ask{.tree = &tree, .queue = QuotaNodeId(1), .options = {}};
  ask.options[request.wants.front().shape] = {
      {.nodes = {}, .each = {{.cell = QuotaCellId(0), .amount = Amount(8)}}, .flavor = ""}};
  const SnapshotPtr snapshot = state.Publish();
  const DecideInput input{.snapshot = *snapshot, .request = request, .now = kNow, .quota = &ask};
  const Profile profile = BuiltinProfile();
  for (auto _ : run) {
    const std::optional<StartPlan> start = PlanStart(input, releases, profile);
    if (!start.has_value() || start->at == kNow) run.SkipWithError("no later start");
    benchmark::DoNotOptimize(start);
  }
}
BENCHMARK(BM_PlanStart)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace maniple
