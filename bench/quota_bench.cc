// What a question to the quota algebra costs: 1,000 queues in a tree of four levels.
#include <benchmark/benchmark.h>

#include <optional>
#include <utility>
#include <vector>

#include "api/base/random.h"
#include "queue/quota_tree.h"

namespace maniple {
namespace {

constexpr uint32_t kDepartments = 10;
constexpr uint32_t kTeams = 10;   // of each department
constexpr uint32_t kQueues = 10;  // of each team
constexpr uint32_t kFlavors = 3;
constexpr uint32_t kResources = 3;

std::vector<QuotaLimit> Limits(int64_t nominal, std::optional<Amount> borrowing,
                               std::optional<Amount> lending) {
  std::vector<QuotaLimit> limits;
  for (uint32_t cell = 0; cell < kFlavors * kResources; ++cell) {
    limits.push_back({.cell = QuotaCellId(cell),
                      .nominal = Amount(nominal),
                      .borrowing = borrowing,
                      .lending = lending});
  }
  return limits;
}

// Every queue runs something, about a third of them more than their own, and asks for more.
struct Company {
  QuotaTree tree;
  std::vector<QuotaNodeId> queues;
  std::vector<Demand> demands;  // one of each queue

  Company() {
    std::vector<QuotaNodeSpec> nodes = {{.limits = Limits(1000, std::nullopt, std::nullopt)}};
    const auto grow = [&nodes](QuotaNodeId parent, std::vector<QuotaLimit> limits) {
      nodes.push_back({.parent = parent, .limits = std::move(limits)});
      return QuotaNodeId(static_cast<uint32_t>(nodes.size() - 1));
    };
    for (uint32_t d = 0; d < kDepartments; ++d) {
      const QuotaNodeId department = grow(QuotaNodeId(0), Limits(100, Amount(2000), Amount(2000)));
      for (uint32_t t = 0; t < kTeams; ++t) {
        const QuotaNodeId team = grow(department, Limits(10, std::nullopt, Amount(200)));
        for (uint32_t q = 0; q < kQueues; ++q) {
          queues.push_back(grow(team, Limits(64, Amount(256), Amount(32))));
        }
      }
    }
    std::vector<uint32_t> resources;
    for (uint32_t cell = 0; cell < kFlavors * kResources; ++cell) {
      resources.push_back(cell % kResources);
    }
    tree = QuotaTree(nodes, resources);
    Random random(1);
    for (const QuotaNodeId queue : queues) {
      const auto units = [&random] { return Amount(1 + static_cast<int64_t>(random.Below(96))); };
      const auto flavor = static_cast<uint32_t>(random.Below(kFlavors)) * kResources;
      Demand running, waiting;
      for (uint32_t resource = 0; resource < kResources; ++resource) {
        running.push_back({QuotaCellId(flavor + resource), units()});
        waiting.push_back({QuotaCellId(flavor + resource), units()});
      }
      tree.Add(queue, running);
      demands.push_back(waiting);
    }
  }
};

// One question a turn, of the next queue each time.
template <typename Question>
void Ask(benchmark::State& run, Question question) {
  Company company;
  size_t at = 0;
  for (auto _ : run) {
    benchmark::DoNotOptimize(question(company.tree, company.queues[at], company.demands[at]));
    at = (at + 1) % company.queues.size();
  }
}

void BM_QuotaFits(benchmark::State& run) {
  Ask(run, [](const QuotaTree& tree, QuotaNodeId queue, const Demand& demand) {
    return tree.Fits(queue, demand);
  });
}
BENCHMARK(BM_QuotaFits);

void BM_QuotaHeightOf(benchmark::State& run) {
  Ask(run, [](const QuotaTree& tree, QuotaNodeId queue, const Demand& demand) {
    return tree.HeightOf(queue, demand).height;
  });
}
BENCHMARK(BM_QuotaHeightOf);

void BM_QuotaShareWith(benchmark::State& run) {
  Ask(run, [](const QuotaTree& tree, QuotaNodeId queue, const Demand& demand) {
    return tree.ShareWith(queue, queue, demand).permille;
  });
}
BENCHMARK(BM_QuotaShareWith);

// As the decision asks: all three of one demand.
void BM_QuotaWhatIf(benchmark::State& run) {
  Ask(run, [](const QuotaTree& tree, QuotaNodeId queue, const Demand& demand) {
    return tree.Fits(queue, demand) + tree.HeightOf(queue, demand).height +
           tree.ShareWith(queue, queue, demand).permille;
  });
}
BENCHMARK(BM_QuotaWhatIf);

void BM_QuotaAddAndRemove(benchmark::State& run) {
  Ask(run, [](QuotaTree& tree, QuotaNodeId queue, const Demand& demand) {
    tree.Add(queue, demand);
    tree.Remove(queue, demand);
    return tree.node_count();
  });
}
BENCHMARK(BM_QuotaAddAndRemove);

void BM_QuotaSnapshot(benchmark::State& run) {
  Ask(run, [](const QuotaTree& tree, QuotaNodeId, const Demand&) {
    const QuotaTree copy = tree;
    return copy.node_count();
  });
}
BENCHMARK(BM_QuotaSnapshot);

}  // namespace
}  // namespace maniple
