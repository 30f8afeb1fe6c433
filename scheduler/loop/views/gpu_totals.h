// Totals of GPUs and their slices: used, free, held, or on nodes that take no pods.
//
//   GpuTotals totals(snapshot);
//   totals.Hold(node, shape);             // for each room that is kept for somebody
//   totals.Sum(ledger);
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plugins/framework/snapshot.h"
#include "scheduler/loop/quota/quota_ledger.h"
#include "scheduler/report/figures.h"

namespace maniple {

// Of what no pod has on a node of that class, unless it is held.
[[nodiscard]] GpuState StateOfRest(const NodeClass* node);

class GpuTotals final {
 public:
  explicit GpuTotals(const Snapshot& snapshot) : snapshot_(snapshot) {}

  // Counts room that the snapshot shows as taken as held. An invalid node holds nothing.
  void Hold(NodeId node, ShapeId shape);
  // By flavor and resource. Each GPU is counted once. Costs a few numbers of each node.
  [[nodiscard]] std::vector<GpuTotalView> Sum(const QuotaLedger& ledger) const;

 private:
  using Amounts = std::array<int64_t, kGpuStates.size()>;
  [[nodiscard]] Amounts AmountsOf(NodeId node, ResourceId resource) const;

  const Snapshot& snapshot_;
  absl::flat_hash_map<std::pair<NodeId, ResourceId>, int64_t> held_;
};

}  // namespace maniple
