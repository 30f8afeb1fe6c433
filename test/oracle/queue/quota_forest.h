// Random forests of Cohorts and Queues, small enough that every rule of quota is met soon.
#pragma once

#include <vector>

#include "api/base/random.h"
#include "queue/gang_queue.h"
#include "queue/quota_tree.h"

namespace maniple {

struct QuotaForest {
  static constexpr uint32_t kCells = 3;

  std::vector<QuotaNodeSpec> nodes;
  std::vector<QuotaNodeId> cohorts, queues;
  std::vector<QueueRules> rules;  // by node

  explicit QuotaForest(Random& random) { Grow(random, random.Below(4), 1 + random.Below(5)); }

  // Adds nodes at the end, then gives every node other limits, and every Queue another parent.
  void Grow(Random& random, uint64_t more_cohorts, uint64_t more_queues) {
    for (uint64_t i = 0; i < more_cohorts; ++i) {
      const QuotaNodeId parent = PickCohort(random);  // of those before it, so there is no cycle
      cohorts.emplace_back(static_cast<uint32_t>(nodes.size()));
      nodes.push_back({.parent = parent});
    }
    for (uint64_t i = 0; i < more_queues; ++i) {
      queues.emplace_back(static_cast<uint32_t>(nodes.size()));
      nodes.push_back({});
    }
    rules.resize(nodes.size());
    for (QuotaNodeSpec& node : nodes) SetLimits(random, node);
    for (const QuotaNodeId queue : queues) {
      nodes[queue.index()].parent = PickCohort(random);
      rules[queue.index()].ordering =
          random.OneIn(2) ? QueueOrdering::kStrictFifo : QueueOrdering::kBestEffortFifo;
    }
  }

  // Cells 0 and 1 are one resource in two flavors.
  [[nodiscard]] QuotaTree Tree() const { return {nodes, {0, 0, 1}}; }
  [[nodiscard]] QuotaNodeId PickQueue(Random& random) const {
    return queues[random.Below(queues.size())];
  }
  [[nodiscard]] static Demand PickDemand(Random& random) {
    Demand demand;
    for (uint32_t cell = 0; cell < kCells; ++cell) {
      if (!random.OneIn(2)) continue;
      demand.push_back({QuotaCellId(cell), Amount(static_cast<int64_t>(1 + random.Below(3)))});
    }
    return demand;
  }

 private:
  [[nodiscard]] QuotaNodeId PickCohort(Random& random) const {
    if (cohorts.empty() || random.OneIn(6)) return {};
    return cohorts[random.Below(cohorts.size())];
  }
  static void SetLimits(Random& random, QuotaNodeSpec& node) {
    constexpr int64_t kWeights[] = {0, 500, 1000, 1000, 2500};
    node.weight_milli = kWeights[random.Below(5)];
    node.limits.clear();
    for (uint32_t cell = 0; cell < kCells; ++cell) {
      if (random.OneIn(4)) continue;
      const auto upto = [&random](uint64_t most) {
        return Amount(static_cast<int64_t>(random.Below(most + 1)));
      };
      QuotaLimit limit{.cell = QuotaCellId(cell), .nominal = upto(6)};
      if (random.OneIn(3)) limit.borrowing = upto(4);
      if (random.OneIn(3)) limit.lending = upto(4);
      node.limits.push_back(limit);
    }
  }
};

}  // namespace maniple
