#include "scheduler/cycle/question/quota_ask.h"

#include <algorithm>
#include <limits>

namespace maniple {

bool IsCheaperPart(const QuotaOption& part, const QuotaOption& whole) {
  const auto costs_no_more = [](const CellAmount& less, const CellAmount& more) {
    return less.cell == more.cell && less.amount <= more.amount;
  };
  if (part.flavor != whole.flavor) return false;
  if (!std::ranges::equal(part.each, whole.each, costs_no_more)) return false;
  if (!whole.nodes.has_value()) return true;
  if (!part.nodes.has_value()) return false;
  for (size_t b = 0; b < part.nodes->size(); ++b) {
    NodeMask common = (*part.nodes)[b];
    common &= b < whole.nodes->size() ? (*whole.nodes)[b] : NodeMask();
    if (common != (*part.nodes)[b]) return false;
  }
  return true;
}

void AddTo(Demand& demand, const QuotaOption& option, int64_t members) {
  if (members == 0) return;
  for (const CellAmount& each : option.each) {
    auto it = std::ranges::find(demand, each.cell, &CellAmount::cell);
    if (it == demand.end()) it = demand.insert(demand.end(), {each.cell, Amount()});
    it->amount += each.amount * members;
  }
}

QuotaBudget::QuotaBudget(const QuotaTree& tree, QuotaNodeId queue,
                         const std::vector<const QuotaOption*>& option_of_kind, Of of) {
  for (const QuotaOption* option : option_of_kind) {
    std::vector<Draw>& draws = draws_.emplace_back();
    for (const CellAmount& cost : option->each) {
      auto slot = std::ranges::find(left_, cost.cell, &CellAmount::cell);
      if (slot == left_.end()) {
        const Amount left =
            of == Of::kNow ? tree.Available(queue, cost.cell) : tree.Potential(queue, cost.cell);
        slot = left_.insert(left_.end(), {cost.cell, left});
      }
      draws.push_back({static_cast<uint32_t>(slot - left_.begin()), cost.amount});
    }
  }
}

int64_t QuotaBudget::CountOf(uint32_t kind) const {
  int64_t count = std::numeric_limits<int64_t>::max();
  if (draws_.empty()) return count;
  for (const Draw& draw : draws_[kind]) {
    count = std::min(count, left_[draw.slot].amount.CountOf(draw.each));
  }
  return count;
}

Amount QuotaBudget::CostIn(uint32_t cell, uint32_t kind) const {
  Amount cost;
  for (const Draw& draw : draws_[kind]) {
    if (draw.slot == cell) cost += draw.each;
  }
  return cost;
}

void QuotaBudget::Take(uint32_t kind, int64_t members) {
  if (draws_.empty()) return;
  for (const Draw& draw : draws_[kind]) left_[draw.slot].amount -= draw.each * members;
}

QuotaBudget QuotaBudget::PartedInto(std::span<const uint32_t> kinds) const {
  QuotaBudget parted;
  if (draws_.empty()) return parted;
  for (const uint32_t kind : kinds) parted.draws_.push_back(draws_[kind]);
  parted.left_ = left_;
  return parted;
}

}  // namespace maniple
