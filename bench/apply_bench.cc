// How long the state takes to fold events, and how much memory it needs.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/synthetic_cluster.h"
#include "scheduler/state/cluster_state.h"
#include "test/support/heap_in_use.h"

namespace maniple {
namespace {

constexpr int kNodes = 5000;
constexpr int kPods = 50'000;
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

void ApplyAll(ClusterState& state, const std::vector<ObjectEvent>& events) {
  Delta delta;
  for (const ObjectEvent& event : events) state.Apply(event, kNow, delta);
}

// The relist of a large cluster: 5,000 nodes, then 50,000 pods in 6,250 gangs.
void BM_ApplyWholeCluster(benchmark::State& run) {
  const std::vector<ObjectEvent> nodes = SyntheticNodes(kNodes);
  const std::vector<ObjectEvent> pods = SyntheticLoad(kPods, kNodes);
  double bytes = 0;
  for (auto _ : run) {
    const int64_t before = HeapInUse();
    ClusterState state{ClusterStateOptions{}};
    ApplyAll(state, nodes);
    ApplyAll(state, pods);
    const SnapshotPtr snapshot = state.Publish();
    benchmark::DoNotOptimize(snapshot.get());
    bytes = static_cast<double>(HeapInUse() - before);
  }
  run.SetItemsProcessed(run.iterations() * (kNodes + static_cast<int64_t>(pods.size())));
  run.counters["state_MiB"] = bytes / (1 << 20);
}
BENCHMARK(BM_ApplyWholeCluster)->Unit(benchmark::kMillisecond);

// Pods of a full cluster end and run again, in no order that a cache could like. After every 100
// events a snapshot is taken, so blocks have to be copied.
void BM_ApplyPodEvent(benchmark::State& run) {
  ClusterState state{ClusterStateOptions{}};
  std::vector<ObjectEvent> running;
  for (ObjectEvent& event : SyntheticLoad(kPods, kNodes)) {
    const bool is_pod = std::holds_alternative<Pod>(std::get<ObjectUpserted>(event).object);
    if (is_pod) {
      running.push_back(std::move(event));
    } else {
      ApplyAll(state, {event});
    }
  }
  ApplyAll(state, SyntheticNodes(kNodes));
  ApplyAll(state, running);
  size_t next = 0;
  int64_t applied = 0;
  for (auto _ : run) {
    run.PauseTiming();
    std::vector<ObjectEvent> batch;
    for (int i = 0; i < 1000; ++i, ++next) {
      ObjectEvent event = running[(next * 7919) % running.size()];
      const bool ends = (next / running.size()) % 2 == 0;
      std::get<Pod>(std::get<ObjectUpserted>(event).object).phase =
          ends ? PodPhase::kSucceeded : PodPhase::kRunning;
      batch.push_back(std::move(event));
    }
    run.ResumeTiming();
    for (size_t i = 0; i < batch.size(); i += 100) {
      Delta delta;
      for (size_t j = i; j < i + 100; ++j) state.Apply(batch[j], kNow, delta);
      benchmark::DoNotOptimize(state.Publish());
    }
    applied += static_cast<int64_t>(batch.size());
  }
  run.SetItemsProcessed(applied);
  run.counters["per_event"] = benchmark::Counter(
      static_cast<double>(applied), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_ApplyPodEvent)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace maniple
