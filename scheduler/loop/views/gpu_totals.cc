#include "scheduler/loop/views/gpu_totals.h"

#include <algorithm>
#include <map>
#include <string>

namespace maniple {
namespace {

bool IsAway(const Taint& taint) {
  return taint.key == "node.kubernetes.io/unreachable" ||
         taint.key == "node.kubernetes.io/not-ready";
}

void AddTo(std::array<int64_t, kGpuStates.size()>& sum,
           const std::array<int64_t, kGpuStates.size()>& more) {
  for (size_t state = 0; state < more.size(); ++state) sum[state] += more[state];
}

}  // namespace

GpuState StateOfRest(const NodeClass* node) {
  if (node == nullptr) return GpuState::kFree;
  if (std::ranges::any_of(node->taints, IsAway)) return GpuState::kUnreachable;
  return node->unschedulable ? GpuState::kCordoned : GpuState::kFree;
}

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
  // Room held for later may still be in use.
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

std::vector<GpuTotalView> GpuTotals::Sum(const QuotaLedger& ledger) const {
  std::vector<ResourceId> gpus;
  const std::vector<ResourceFacts>& resources = snapshot_.tables->resources;
  for (uint32_t r = 0; r < resources.size(); ++r) {
    if (resources[r].gpu) gpus.emplace_back(r);
  }
  absl::flat_hash_map<std::pair<NodeKindId, ResourceId>, Amounts> sums;
  for (const NodeId node : snapshot_.order->by_name) {
    const NodeBlock& block = *snapshot_.blocks[BlockOf(node)];
    for (const ResourceId resource : gpus) {
      if (block.Allocatable(resource)[RowOf(node)] == 0) continue;
      AddTo(sums[{ledger.KindOf(node), resource}], AmountsOf(node, resource));
    }
  }
  std::map<std::pair<std::string, std::string>, Amounts> named;
  for (const auto& [of, sum] : sums) {
    AddTo(named[{ledger.FlavorOf(of.first), resources[of.second.index()].name}], sum);
  }
  std::vector<GpuTotalView> totals;
  for (const auto& [of, sum] : named) totals.push_back({of.first, of.second, sum});
  return totals;
}

}  // namespace maniple
