#include "scheduler/cycle/question/quota_ask.h"

#include <algorithm>
#include <limits>

namespace maniple {

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
