// How long it takes to publish what one pod changed, and to speculate on it.
#include <benchmark/benchmark.h>

#include "bench/synthetic_cluster.h"
#include "scheduler/cycle/room/overlay.h"
#include "scheduler/state/cluster_state.h"

namespace maniple {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

void Fill(ClusterState& state, int nodes) {
  Delta delta;
  for (ObjectEvent& event : SyntheticNodes(nodes)) state.Apply(event, kNow, delta);
  for (ObjectEvent& event : SyntheticLoad(nodes * 10, nodes)) {
    state.Apply(event, kNow, delta);
  }
}

void BM_PublishAfterOnePod(benchmark::State& run) {
  ClusterState state{ClusterStateOptions{}};
  Fill(state, static_cast<int>(run.range(0)));
  std::vector<ObjectEvent> gang = SyntheticGang(0, 1, 1);
  Delta delta;
  for (const ObjectEvent& event : gang) state.Apply(event, kNow, delta);
  const PodId pod =
      state.PodWithUid(std::get<Pod>(std::get<ObjectUpserted>(gang[1]).object).meta.uid).value();
  uint32_t i = 0;
  for (auto _ : run) {
    run.PauseTiming();
    state.Release(pod, delta);
    state.Reserve(pod, NodeId(i++ % static_cast<uint32_t>(run.range(0))));
    run.ResumeTiming();
    benchmark::DoNotOptimize(state.Publish());
  }
}
BENCHMARK(BM_PublishAfterOnePod)->Arg(1000)->Arg(5000)->Unit(benchmark::kMicrosecond);

void BM_OverlayPlaceAndRollback(benchmark::State& run) {
  ClusterState state{ClusterStateOptions{}};
  Fill(state, 5000);
  const SnapshotPtr snapshot = state.Publish();
  for (auto _ : run) {
    Overlay overlay(*snapshot, Overlay::View::kNow);
    for (uint32_t i = 0; i < 64; ++i) overlay.Place(NodeId(i * 78), ShapeId(0));
    overlay.Rollback(0);
  }
  run.SetItemsProcessed(run.iterations() * 64);
}
BENCHMARK(BM_OverlayPlaceAndRollback)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace maniple
