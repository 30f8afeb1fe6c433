#include "scheduler/cycle/victims/victim_trial.h"

#include <algorithm>

namespace maniple {

VictimTrial::VictimTrial(const PreemptionInput& input, VictimRules& rules, FreedRoomCount& room,
                         std::span<const VictimUnit> units, const QuotaAsk* ask)
    : input_(input), rules_(rules), room_(room), units_(units), limits_(input, units) {
  if (ask == nullptr) return;
  ask_ = *ask;
  ask_->tree = &rules_.tree();
}

void VictimTrial::Take(size_t index) {
  const VictimUnit& unit = units_[index];
  taken_.push_back(index);
  limits_.Take(index);
  rules_.Take(unit.charge);
  room_.Free(unit.room);
}

void VictimTrial::GiveBack(size_t index) {
  const VictimUnit& unit = units_[index];
  taken_.erase(std::find(taken_.begin(), taken_.end(), index));
  limits_.GiveBack(index);
  rules_.GiveBack(unit.charge);
  room_.TakeBack(unit.room);
}

void VictimTrial::GiveBackAll() {
  for (const size_t index : taken_) {
    limits_.GiveBack(index);
    rules_.GiveBack(units_[index].charge);
  }
  taken_.clear();
  room_.Reset();
}

Justification VictimTrial::Justify(const PreemptionMode& mode) {
  std::vector<const VictimCharge*> charges;
  charges.reserve(taken_.size());
  for (const size_t index : taken_) charges.push_back(&units_[index].charge);
  Justification why = rules_.Justify(charges, mode);
  if (!why.entitled && input_.ignore_pdb == IgnorePdb::kReclaim) {
    const std::vector<size_t> more = Overdrawing();
    why.illegal.insert(why.illegal.end(), more.begin(), more.end());
  }
  return why;
}

std::vector<size_t> VictimTrial::Overdrawing() const {
  std::vector<int32_t> left(input_.allowed.begin(), input_.allowed.end());
  const auto use = [&left](const VictimUnit& unit) {
    for (const uint32_t budget : unit.budgets) --left[budget];
  };
  std::vector<size_t> bound;  // units that their budgets bind after all
  for (size_t position = 0; position < taken_.size(); ++position) {
    const VictimUnit& unit = units_[taken_[position]];
    if (!unit.past_budgets) {
      use(unit);
    } else if (!MayPassBudgets(input_.ignore_pdb, unit.charge.claim, Entitlement::kShare)) {
      bound.push_back(position);
    }
  }
  std::erase_if(bound, [&](size_t position) {
    VictimUnit unit = units_[taken_[position]];
    unit.past_budgets = false;
    if (!BudgetsBear(left, unit)) return false;
    use(unit);
    return true;
  });
  return bound;
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
