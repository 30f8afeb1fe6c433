#include "scheduler/cycle/victim_trial.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace maniple {

VictimTrial::VictimTrial(const PreemptionInput& input, VictimRules& rules, FreedRoomCount& room,
                         std::span<const VictimUnit> units, const QuotaAsk* ask)
    : input_(input),
      rules_(rules),
      room_(room),
      units_(units),
      is_taken_(units.size(), false),
      next_taken_(units.size(), 0),
      allowed_(input.allowed.begin(), input.allowed.end()) {
  if (ask == nullptr) return;
  ask_ = *ask;
  ask_->tree = &rules_.tree();
}

bool VictimTrial::MayTake(size_t index) const {
  const VictimUnit& unit = units_[index];
  if (is_taken_[index] || (unit.after.has_value() && !is_taken_[*unit.after])) return false;
  absl::flat_hash_map<uint32_t, int64_t> uses;
  return std::all_of(unit.budgets.begin(), unit.budgets.end(), [&](uint32_t budget) {
    return budget < allowed_.size() && ++uses[budget] <= allowed_[budget];
  });
}

void VictimTrial::Take(size_t index) {
  const VictimUnit& unit = units_[index];
  is_taken_[index] = true;
  taken_.push_back(index);
  if (unit.after.has_value()) ++next_taken_[*unit.after];
  for (const uint32_t budget : unit.budgets) --allowed_[budget];
  rules_.Take(unit.charge);
  room_.Free(unit.room);
}

void VictimTrial::GiveBack(size_t index) {
  const VictimUnit& unit = units_[index];
  is_taken_[index] = false;
  taken_.erase(std::find(taken_.begin(), taken_.end(), index));
  if (unit.after.has_value()) --next_taken_[*unit.after];
  for (const uint32_t budget : unit.budgets) ++allowed_[budget];
  rules_.GiveBack(unit.charge);
  room_.TakeBack(unit.room);
}

bool VictimTrial::EndsChain(size_t unit) const { return next_taken_[unit] == 0; }

void VictimTrial::GiveBackAll() {
  for (const size_t index : taken_) {
    const VictimUnit& unit = units_[index];
    is_taken_[index] = false;
    if (unit.after.has_value()) --next_taken_[*unit.after];
    for (const uint32_t budget : unit.budgets) ++allowed_[budget];
    rules_.GiveBack(unit.charge);
  }
  taken_.clear();
  room_.Reset();
}

Justification VictimTrial::Justify(const PreemptionMode& mode) {
  std::vector<const VictimCharge*> charges;
  charges.reserve(taken_.size());
  for (const size_t index : taken_) charges.push_back(&units_[index].charge);
  return rules_.Justify(charges, mode);
}

std::optional<Plan> VictimTrial::Find() {
  ++finds_;
  std::vector<FreedRoom> freed(input_.decide.freed.begin(), input_.decide.freed.end());
  for (const size_t index : taken_) {
    freed.insert(freed.end(), units_[index].room.begin(), units_[index].room.end());
  }
  DecideInput without = {.snapshot = input_.decide.snapshot,
                         .request = input_.decide.request,
                         .now = input_.decide.now,
                         .seed = input_.decide.seed,
                         .quota = ask_.has_value() ? &*ask_ : nullptr,
                         .freed = freed};
  PlanSearch found = SearchPlan(without, input_.profile);
  gave_up_ = gave_up_ || found.gave_up;
  return std::move(found.plan);
}

}  // namespace maniple
