// What scores cost per pass over 5,000 nodes that differ in what is left of them. Both in one run,
// for their ratio: fragmentation is to cost no more than twice what packing does.
#include <benchmark/benchmark.h>

#include <memory>
#include <utility>

#include "api/base/random.h"
#include "plugins/factories.h"
#include "plugins/framework/request_mix.h"

namespace maniple {
namespace {

constexpr uint32_t kNodes = 5000;
constexpr ResourceId kGpu{3};
constexpr int64_t kGib = int64_t{1} << 30;

// Nodes of 8 GPUs, 96 cores and 1 TiB with a few pods of a mix of eight kinds on each.
Snapshot SnapshotOf(PodShape& shape) {
  Random random(1);
  std::vector<TypicalRequest> kinds;
  for (int64_t i = 0; i < 8; ++i) {
    kinds.push_back({.amounts = {{kCpu, 4000 + 4000 * (i % 3)},
                                 {kMemory, (16 + 16 * (i % 5)) * kGib},
                                 {kGpu, int64_t{1} << (i / 2)}},
                     .pods = 1000 * (9 - i)});
  }
  shape.requests = kinds[1].amounts;
  shape.requests.emplace_back(kPods, 1);
  shape.wants_gpu = true;
  Snapshot snapshot;
  Tables tables;
  tables.resources = {{.name = "pods"}, {.name = "cpu"}, {.name = "memory"}};
  tables.resources.push_back({.name = "nvidia.com/gpu", .gpu = true});
  snapshot.tables = std::make_shared<const Tables>(std::move(tables));
  for (uint32_t first = 0; first < kNodes; first += kBlockNodes) {
    NodeRows rows;
    for (uint32_t row = 0; row < kBlockNodes; ++row) {
      rows.present.Set(row);
      rows.allocatable.Mutable(kCpu)[row] = 96'000;
      rows.allocatable.Mutable(kMemory)[row] = 1024 * kGib;
      rows.allocatable.Mutable(kGpu)[row] = 8;
    }
    rows.RecomputeMaxima();
    auto block = std::make_unique<NodeBlock>(
        NodeBlock(std::make_shared<const NodeRows>(std::move(rows))).Emptied());
    for (uint32_t row = 0; row < kBlockNodes; ++row) {
      for (uint64_t pods = random.Below(4); pods > 0; --pods) {
        for (const auto& [resource, amount] : kinds[random.Below(6)].amounts) {
          block->AddFree(row, resource, -amount);
        }
      }
    }
    snapshot.blocks.push_back(std::move(block));
  }
  snapshot.mix = std::make_shared<const RequestMix>(std::move(kinds),
                                                    std::vector<UnitWorth>{{.resource = kGpu}});
  return snapshot;
}

void Run(benchmark::State& run, const ScorePlugin& plugin) {
  PodShape shape;
  const Snapshot snapshot = SnapshotOf(shape);
  std::array<int64_t, kBlockNodes> totals{};
  for (auto _ : run) {
    const std::unique_ptr<NodeScore> score = plugin.Bind({.snapshot = snapshot, .now = {}}, shape);
    for (const auto& block : snapshot.blocks) {
      score->AddTo(*block, block->rows().present, 1, totals);
    }
    benchmark::DoNotOptimize(&totals);
  }
}

void BM_ScoreByPacking(benchmark::State& run) { Run(run, *MakePacking()); }
BENCHMARK(BM_ScoreByPacking)->Unit(benchmark::kMicrosecond);
void BM_ScoreByFragmentation(benchmark::State& run) { Run(run, *MakeFragmentation()); }
BENCHMARK(BM_ScoreByFragmentation)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace maniple
