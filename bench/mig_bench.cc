// How long a plan for idle MIG nodes takes, and the choice of a place on one GPU.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "api/gpu/mig_layout.h"
#include "api/gpu/mig_tables.h"
#include "scheduler/mig/mig_plan.h"

namespace maniple {
namespace {

const MigTables& Tables() {
  static const MigTables tables;
  return tables;
}

// Nodes of three models, whole or divided, of which one in ten is idle unless told otherwise; 200
// pods that want slices of several profiles, and some that want whole GPUs.
MigPlanInput Input(int nodes, int idle_one_in) {
  MigPlanInput input;
  input.resources = {"nvidia.com/gpu",         "nvidia.com/mig-1g.10gb", "nvidia.com/mig-1g.20gb",
                     "nvidia.com/mig-2g.20gb", "nvidia.com/mig-3g.40gb", "nvidia.com/mig-7g.80gb",
                     "nvidia.com/mig-3g.71gb"};
  const int64_t pods[] = {2, 80, 30, 40, 30, 12, 8};
  for (int32_t r = 0; r < 7; ++r) {
    input.demands.push_back(
        {.resource = r, .per_pod = r == 0 ? 8 : 1, .pods = pods[r], .most = {200}});
  }
  const char* models[] = {"A100-80GB", "H100-80GB", "H200-141GB"};
  for (int i = 0; i < nodes; ++i) {
    MigPlanNode node{.name = absl::StrCat("node-", i),
                     .gpus = 8,
                     .config = i % 4 == 0 ? "all-2g.20gb" : "all-disabled",
                     .free = std::vector<int64_t>(input.resources.size(), 0)};
    if (i % idle_one_in == 0) {
      node.table = Tables().OfModel(models[i / idle_one_in % 3]);
      if (node.config == "all-disabled") node.free[0] = 8;
    }
    input.nodes.push_back(std::move(node));
  }
  return input;
}

void BM_PlanMigOn1000Nodes(benchmark::State& run) {
  const MigPlanInput input = Input(1000, static_cast<int>(run.range(0)));
  MigPlan plan;
  for (auto _ : run) {
    plan = PlanMig(input);
    benchmark::DoNotOptimize(&plan);
  }
  run.counters["nodes_changed"] = static_cast<double>(plan.proposals.size());
  run.counters["served"] = static_cast<double>(plan.served);
  run.counters["proven"] = plan.proven ? 1 : 0;
}
BENCHMARK(BM_PlanMigOn1000Nodes)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMicrosecond);

// Whether a GPU can be divided like that.
void BM_FindLayout(benchmark::State& run) {
  const MigTable& table = *Tables().OfModel("H100-80GB");
  const MigCounts counts = {2, 0, 0, 1, 1};
  for (auto _ : run) benchmark::DoNotOptimize(FindLayout(table, counts));
}
BENCHMARK(BM_FindLayout)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace maniple
