#include "scheduler/loop/gpu_totals.h"

#include <algorithm>
#include <map>

namespace maniple {
namespace {

bool IsAway(const Taint& taint) {
  return taint.key == "node.kubernetes.io/unreachable" ||
         taint.key == "node.kubernetes.io/not-ready";
}

// Of what no pod has.
GpuState StateOfRest(const NodeClass* node) {
  if (node == nullptr) return GpuState::kFree;
  if (std::ranges::any_of(node->taints, IsAway)) return GpuState::kUnreachable;
  return node->unschedulable ? GpuState::kCordoned : GpuState::kFree;
}

}  // namespace

void GpuTotals::Hold(NodeId node, ShapeId shape) {
  if (!node.valid()) return;
  for (const auto& [resource, amount] : snapshot_.tables->ShapeOf(shape).requests) {
    if (snapshot_.tables->FactsOf(resource).gpu) held_[{node, resource}] += amount;
  }
}

GpuTotals::Amounts GpuTotals::AmountsOf(NodeId node, ResourceId resource) const {
  const NodeBlock& block = *snapshot_.blocks[BlockOf(node)];
  const uint32_t at = RowOf(node);
  const int64_t all = block.Allocatable(resource)[at];
  const auto known = held_.find({node, resource});
  // What is held for later may be in use still.
  const int64_t kept = known == held_.end() ? 0 : known->second;
  const int64_t used = std::clamp<int64_t>(all - block.Free(resource)[at] - kept, 0, all);
  const NodeClassId id = block.rows().classes[at];
  const GpuState rest = StateOfRest(snapshot_.tables->classes[id.index()].get());
  const int64_t held = rest == GpuState::kFree ? std::min(kept, all - used) : 0;
  Amounts amounts = {};
  amounts[static_cast<size_t>(GpuState::kUsed)] = used;
  amounts[static_cast<size_t>(GpuState::kHeld)] = held;
  amounts[static_cast<size_t>(rest)] = all - used - held;
  return amounts;
}

std::vector<GpuTotalView> GpuTotals::Sum(absl::FunctionRef<std::string(NodeId)> flavor_of) const {
  const std::vector<ResourceFacts>& resources = snapshot_.tables->resources;
  std::map<std::pair<std::string, std::string>, Amounts> sums;
  for (const NodeId node : snapshot_.order->by_name) {
    const std::string flavor = flavor_of(node);
    for (uint32_t r = 0; r < resources.size(); ++r) {
      const NodeBlock& block = *snapshot_.blocks[BlockOf(node)];
      if (!resources[r].gpu || block.Allocatable(ResourceId(r))[RowOf(node)] == 0) continue;
      const Amounts more = AmountsOf(node, ResourceId(r));
      Amounts& sum = sums[{flavor, resources[r].name}];
      for (size_t state = 0; state < more.size(); ++state) sum[state] += more[state];
    }
  }
  std::vector<GpuTotalView> totals;
  for (const auto& [of, sum] : sums) totals.push_back({of.first, of.second, sum});
  return totals;
}

}  // namespace maniple
