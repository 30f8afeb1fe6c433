// How long one decision takes on 5,000 nodes, binding of the filters included.
#include <benchmark/benchmark.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "bench/synthetic_cluster.h"
#include "plugins/builtin.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/state/cluster_state.h"

namespace maniple {
namespace {

constexpr int kNodes = 5000;
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

// A cluster that is half full, and one gang of equal pods that waits.
class Bench final {
 public:
  Bench(int pods, int64_t gpus, int load) : profile_(BuiltinProfile()) {
    Delta delta;
    for (ObjectEvent& event : SyntheticNodes(kNodes)) state_.Apply(event, kNow, delta);
    for (ObjectEvent& event : SyntheticLoad(load, kNodes)) {
      state_.Apply(event, kNow, delta);
    }
    for (ObjectEvent& event : SyntheticGang(0, pods, gpus)) {
      state_.Apply(event, kNow, delta);
    }
    const Gang& gang =
        *state_.FindGang(state_.GangNamed({.namespace_name = "default", .name = "gang-0"}).value());
    request_.name = "gang-0";
    request_.need.total = pods;
    for (const Member& member : gang.members) {
      request_.wants.push_back({.pod = member.pod, .shape = member.shape});
    }
  }

  void Run(benchmark::State& run, bool placed) {
    const SnapshotPtr snapshot = state_.Publish();
    for (auto _ : run) {
      const Decision decision =
          Decide({.snapshot = *snapshot, .request = request_, .now = kNow}, profile_);
      if (std::holds_alternative<Plan>(decision) != placed) run.SkipWithError("wrong answer");
      benchmark::DoNotOptimize(&decision);
    }
  }

 private:
  ClusterState state_{ClusterStateOptions{}};
  Profile profile_;
  GangRequest request_;
};

void BM_DecideGangOf64OnEmptyCluster(benchmark::State& run) {
  Bench(64, run.range(0), 0).Run(run, true);
}
BENCHMARK(BM_DecideGangOf64OnEmptyCluster)->Arg(1)->Arg(8)->Unit(benchmark::kMicrosecond);

void BM_DecideGangOf64OnLoadedCluster(benchmark::State& run) {
  Bench(64, run.range(0), 50'000).Run(run, true);
}
BENCHMARK(BM_DecideGangOf64OnLoadedCluster)->Arg(1)->Arg(4)->Unit(benchmark::kMicrosecond);

// 16 GPUs on nodes of 8: never.
void BM_DecideNever(benchmark::State& run) { Bench(64, 16, 50'000).Run(run, false); }
BENCHMARK(BM_DecideNever)->Unit(benchmark::kMicrosecond);

// Whole nodes where every node has lost four GPUs: not now.
void BM_DecideNotNow(benchmark::State& run) { Bench(64, 8, 50'000).Run(run, false); }
BENCHMARK(BM_DecideNotNow)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace maniple
