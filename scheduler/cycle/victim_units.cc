#include "scheduler/cycle/victim_units.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/time/time.h"

namespace maniple {
namespace {

void AddTo(Demand& sum, const Demand& more) {
  for (const CellAmount& add : more) {
    const auto at = std::lower_bound(
        sum.begin(), sum.end(), add.cell,
        [](const CellAmount& amount, QuotaCellId cell) { return amount.cell < cell; });
    if (at != sum.end() && at->cell == add.cell) {
      at->amount += add.amount;
    } else {
      sum.insert(at, add);
    }
  }
}

void AddPod(const PreemptionInput& input, const RunningGang& gang, const VictimPod& pod,
            VictimUnit& unit) {
  AddTo(unit.charge.charge, pod.charge);
  if (input.decide.snapshot.HasNode(pod.node)) {
    unit.room.push_back({.node = pod.node, .shape = pod.shape});
  }
  unit.budgets.insert(unit.budgets.end(), pod.budgets.begin(), pod.budgets.end());
  ++unit.pods;
  const absl::Duration lost = std::max(absl::ZeroDuration(), input.decide.now - gang.started);
  unit.lost_seconds += std::min<int64_t>(absl::ToInt64Seconds(lost), int64_t{1} << 40);
}

// The budgets that the chain has used up so far.
class BudgetUse final {
 public:
  explicit BudgetUse(std::span<const int32_t> allowed) : left_(allowed.begin(), allowed.end()) {}
  [[nodiscard]] bool Take(const VictimUnit& unit) {
    for (const uint32_t budget : unit.budgets) {
      if (budget >= left_.size() || --left_[budget] < 0) return false;
    }
    return true;
  }

 private:
  std::vector<int32_t> left_;
};

}  // namespace

void AppendUnits(const PreemptionInput& input, size_t running, VictimClaim claim,
                 std::vector<VictimUnit>& units) {
  const RunningGang& gang = input.running[running];
  std::optional<size_t> after;
  BudgetUse budgets(input.allowed);
  const auto start = [&](UnitPart part) {
    return VictimUnit{.running = running,
                      .part = part,
                      .after = after,
                      .charge = {.queue = gang.queue, .claim = claim, .charge = {}}};
  };
  const auto append = [&](VictimUnit unit) {
    if (!budgets.Take(unit)) return false;
    after = units.size();
    units.push_back(std::move(unit));
    return true;
  };
  for (auto pod = gang.surplus.rbegin(); pod != gang.surplus.rend(); ++pod) {
    VictimUnit unit = start(UnitPart::kSurplusMember);
    AddPod(input, gang, *pod, unit);
    if (!append(std::move(unit))) return;
  }
  VictimUnit rest = start(UnitPart::kRest);
  for (const VictimPod& pod : gang.quorum) AddPod(input, gang, pod, rest);
  if (rest.pods > 0) append(std::move(rest));
}

VictimCost CostOf(const PreemptionInput& input, std::span<const VictimUnit> units,
                  std::span<const size_t> taken, Entitlement entitlement) {
  VictimCost cost;
  for (const size_t index : taken) {
    const VictimUnit& unit = units[index];
    const int32_t priority = input.running[unit.running].priority;
    const bool own = unit.charge.claim == VictimClaim::kOwnQueue;
    switch (unit.part) {
      case UnitPart::kRest:
        cost.own_gangs += own;
        ++cost.gangs;
        cost.highest_priority = std::max(cost.highest_priority, std::optional(priority));
        break;
      case UnitPart::kSurplusMember:
        cost.own_surplus += own;
        cost.highest_surplus_priority =
            std::max(cost.highest_surplus_priority, std::optional(priority));
        break;
    }
    switch (unit.charge.claim) {
      case VictimClaim::kNoQueue:
      case VictimClaim::kOwnQueue:
      case VictimClaim::kHierarchy:
        break;
      case VictimClaim::kPriority:
      case VictimClaim::kPriorityWhileBorrowing:
        ++cost.unentitled;
        break;
      case VictimClaim::kShare:
        cost.unentitled += entitlement == Entitlement::kShare;
        break;
    }
    cost.pods += unit.pods;
    cost.lost_seconds += unit.lost_seconds;
    cost.priorities.push_back(priority);
    cost.running.push_back(unit.running);
  }
  std::sort(cost.priorities.begin(), cost.priorities.end(), std::greater<>());
  std::sort(cost.running.begin(), cost.running.end());
  cost.running.erase(std::unique(cost.running.begin(), cost.running.end()), cost.running.end());
  return cost;
}

}  // namespace maniple
