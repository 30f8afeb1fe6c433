#include "scheduler/cycle/victims/victim_limits.h"

namespace maniple {

VictimLimits::VictimLimits(const PreemptionInput& input, std::span<const VictimUnit> units)
    : input_(input),
      units_(units),
      is_taken_(units.size(), false),
      next_taken_(units.size(), 0),
      left_(input.allowed.begin(), input.allowed.end()),
      parts_(input.running.size()) {}

bool VictimLimits::MayTake(size_t index) const {
  const VictimUnit& unit = units_[index];
  if (is_taken_[index] || (unit.after.has_value() && !is_taken_[*unit.after])) return false;
  const Part& part = parts_[unit.running];
  if (part.wholes > 0 || !BudgetsBear(left_, unit)) return false;
  switch (unit.part) {
    case UnitPart::kWholeGang:
      return part.members == 0;
    case UnitPart::kSurplusMember:
      break;
  }
  const RunningGang& gang = input_.running[unit.running];
  if (part.members + unit.pods > gang.surplus.members) return false;
  const auto sub_group = static_cast<size_t>(gang.members[unit.members.front()].sub_group);
  if (sub_group >= gang.surplus.sub_groups.size()) return true;
  const int64_t gone = sub_group < part.sub_groups.size() ? part.sub_groups[sub_group] : 0;
  return gone + unit.pods <= gang.surplus.sub_groups[sub_group];
}

void VictimLimits::Take(size_t index) {
  is_taken_[index] = true;
  Count(units_[index], 1);
}

void VictimLimits::GiveBack(size_t index) {
  is_taken_[index] = false;
  Count(units_[index], -1);
}

void VictimLimits::Count(const VictimUnit& unit, int32_t change) {
  if (unit.after.has_value()) next_taken_[*unit.after] += change;
  if (!unit.past_budgets) {
    for (const uint32_t budget : unit.budgets) left_[budget] -= change;
  }
  Part& part = parts_[unit.running];
  switch (unit.part) {
    case UnitPart::kWholeGang:
      part.wholes += change;
      return;
    case UnitPart::kSurplusMember:
      part.members += change * unit.pods;
      break;
  }
  const RunningGang& gang = input_.running[unit.running];
  const auto sub_group = static_cast<size_t>(gang.members[unit.members.front()].sub_group);
  if (sub_group >= gang.surplus.sub_groups.size()) return;
  part.sub_groups.resize(gang.surplus.sub_groups.size(), 0);
  part.sub_groups[sub_group] += change * unit.pods;
}

}  // namespace maniple
