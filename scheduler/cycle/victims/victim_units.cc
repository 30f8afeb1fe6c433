#include "scheduler/cycle/victims/victim_units.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/base/sort_unique.h"

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
  if (gang.queue.valid()) AddTo(unit.charge.charge, pod.charge);
  if (input.decide.snapshot.HasNode(pod.node)) {
    unit.room.push_back({.node = pod.node, .shape = pod.shape});
  }
  if (pod.budgets.size() == 1) unit.budgets.push_back(pod.budgets.front());
  unit.doubly_covered += pod.budgets.size() > 1;
  ++unit.pods;
  const absl::Duration lost = std::max(absl::ZeroDuration(), input.decide.now - gang.started);
  unit.lost_seconds += std::min<int64_t>(absl::ToInt64Seconds(lost), int64_t{1} << 40);
}

// The units of one running gang.
class UnitMaker final {
 public:
  UnitMaker(const PreemptionInput& input, size_t running, VictimClaim claim)
      : input_(input), running_(running), claim_(claim), gang_(input.running[running]) {}

  void AppendSurplus(std::vector<VictimUnit>& units) {
    if (gang_.surplus.members <= 0) return;
    for (const Members& members : LeaveTogether()) {
      if (!CanSpare(members, gang_.surplus)) continue;
      VictimUnit unit = Start(UnitPart::kSurplusMember);
      unit.members = members;
      for (const size_t member : members) AddPod(input_, gang_, gang_.members[member], unit);
      if (!BudgetsBear(input_.allowed, unit)) continue;
      if (members.size() == 1) Chain(unit, units.size());
      units.push_back(std::move(unit));
    }
  }
  void AppendWhole(std::vector<VictimUnit>& units) const {
    VictimUnit whole = Start(UnitPart::kWholeGang);
    for (const VictimPod& pod : gang_.members) AddPod(input_, gang_, pod, whole);
    if (gang_.queue.valid()) AddTo(whole.charge.charge, gang_.held_charge);
    for (const FreedRoom& room : gang_.held) {
      if (input_.decide.snapshot.HasNode(room.node)) whole.room.push_back(room);
    }
    if (gang_.queue.valid()) whole.charge.surplus = SurplusCharge();
    if (whole.pods > 0 && BudgetsBear(input_.allowed, whole)) units.push_back(std::move(whole));
  }
  [[nodiscard]] bool AllIsSurplus() const {
    std::vector<int64_t> left = gang_.surplus.sub_groups;
    return gang_.surplus.members >= static_cast<int64_t>(gang_.members.size()) &&
           std::ranges::all_of(gang_.members, [&left](const VictimPod& pod) {
             const auto sub_group = static_cast<size_t>(pod.sub_group);
             return sub_group >= left.size() || --left[sub_group] >= 0;
           });
  }

 private:
  using Members = absl::InlinedVector<size_t, 1>;

  // Single members, and units of several; the last in rank first.
  [[nodiscard]] std::vector<Members> LeaveTogether() const {
    std::vector<Members> all;
    absl::flat_hash_map<int32_t, size_t> place_of;  // by unit
    for (size_t member = gang_.members.size(); member-- > 0;) {
      const int32_t unit = gang_.members[member].unit;
      const auto [place, is_first] =
          unit < 0 ? std::pair(place_of.end(), true) : place_of.try_emplace(unit, all.size());
      if (is_first) {
        all.push_back({member});
      } else {
        all[place->second].push_back(member);
      }
    }
    return all;
  }
  [[nodiscard]] size_t SubGroupOf(const Members& members) const {
    return static_cast<size_t>(gang_.members[members.front()].sub_group);
  }
  [[nodiscard]] bool CanSpare(const Members& members, const Surplus& surplus) const {
    const auto pods = static_cast<int64_t>(members.size());
    const size_t sub_group = SubGroupOf(members);
    if (pods > surplus.members) return false;
    return sub_group >= surplus.sub_groups.size() || pods <= surplus.sub_groups[sub_group];
  }
  // After the last one that is like it.
  void Chain(VictimUnit& unit, size_t index) {
    const VictimPod& pod = gang_.members[unit.members.front()];
    const auto [last, is_first] =
        alike_.try_emplace({pod.node, pod.shape, pod.sub_group, pod.charge, pod.budgets});
    if (!is_first) unit.after = last->second;
    last->second = index;
  }

  // The last members in rank are surplus: the first ones make the quorum.
  [[nodiscard]] Demand SurplusCharge() const {
    Demand charge;
    Surplus left = gang_.surplus;
    if (left.members <= 0) return charge;
    for (const Members& members : LeaveTogether()) {
      if (!CanSpare(members, left)) continue;
      const auto pods = static_cast<int64_t>(members.size());
      const size_t sub_group = SubGroupOf(members);
      if (sub_group < left.sub_groups.size()) left.sub_groups[sub_group] -= pods;
      left.members -= pods;
      for (const size_t member : members) AddTo(charge, gang_.members[member].charge);
    }
    return charge;
  }

  // Only their names tell such members apart.
  using Likeness = std::tuple<NodeId, ShapeId, int32_t, Demand, std::vector<uint32_t>>;

  [[nodiscard]] VictimUnit Start(UnitPart part) const {
    return {.running = running_,
            .part = part,
            .members = {},
            .after = {},
            .charge = {.queue = gang_.queue, .claim = claim_, .charge = {}, .surplus = {}},
            .room = {},
            .budgets = {},
            .past_budgets = MayPassBudgets(input_.ignore_pdb, claim_, Entitlement::kNominal)};
  }

  const PreemptionInput& input_;
  size_t running_;
  VictimClaim claim_;
  const RunningGang& gang_;
  std::map<Likeness, size_t> alike_;  // the last unit of each kind
};

}  // namespace

bool MayPassBudgets(IgnorePdb ignored, VictimClaim claim, Entitlement entitlement) {
  switch (ignored) {
    case IgnorePdb::kNever:
      return false;
    case IgnorePdb::kAlways:
      return true;
    case IgnorePdb::kReclaim:
      break;
  }
  switch (claim) {
    case VictimClaim::kNoQueue:
    case VictimClaim::kOwnQueue:
      return false;
    case VictimClaim::kHierarchy:
      return true;
    case VictimClaim::kPriority:
    case VictimClaim::kPriorityWhileBorrowing:
    case VictimClaim::kShare:
      break;
  }
  return entitlement == Entitlement::kNominal;
}

int64_t ViolationsOf(const PreemptionInput& input, std::span<const VictimUnit> units,
                     std::span<const size_t> taken) {
  std::map<uint32_t, int64_t> uses;
  int64_t violations = 0;
  for (const size_t index : taken) {
    violations += units[index].doubly_covered;
    for (const uint32_t budget : units[index].budgets) ++uses[budget];
  }
  for (const auto& [budget, pods] : uses) {
    const int32_t allowed = budget < input.allowed.size() ? input.allowed[budget] : 0;
    violations += std::max<int64_t>(0, pods - std::max(0, allowed));
  }
  return violations;
}

bool BudgetsBear(std::span<const int32_t> left, const VictimUnit& unit) {
  if (unit.past_budgets) return true;
  // The eviction API refuses a pod that several budgets cover, whatever these allow.
  if (unit.doubly_covered > 0) return false;
  absl::flat_hash_map<uint32_t, int32_t> uses;
  return std::ranges::all_of(unit.budgets, [&](uint32_t budget) {
    return budget < left.size() && ++uses[budget] <= left[budget];
  });
}

void AppendUnits(const PreemptionInput& input, size_t running, VictimClaim claim,
                 std::vector<VictimUnit>& units) {
  UnitMaker maker(input, running, claim);
  maker.AppendSurplus(units);
  if (!maker.AllIsSurplus()) maker.AppendWhole(units);
}

VictimCost CostOf(const PreemptionInput& input, std::span<const VictimUnit> units,
                  std::span<const size_t> taken, Entitlement entitlement) {
  VictimCost cost{.violations = ViolationsOf(input, units, taken)};
  for (const size_t index : taken) {
    const VictimUnit& unit = units[index];
    const bool same_gang = !cost.running.empty() && cost.running.back() == unit.running;
    const int32_t priority = input.running[unit.running].priority;
    const bool own = unit.charge.claim == VictimClaim::kOwnQueue;
    switch (unit.part) {
      case UnitPart::kWholeGang:
        cost.own_gangs += own;
        ++cost.gangs;
        cost.priorities.push_back(priority);
        cost.highest_priority = std::max(cost.highest_priority, std::optional(priority));
        break;
      case UnitPart::kSurplusMember:
        if (own) cost.own_surplus += unit.pods;
        cost.highest_surplus_priority =
            std::max(cost.highest_surplus_priority, std::optional(priority));
        cost.priorities.insert(cost.priorities.end(), unit.members.size(), priority);
        for (const size_t member : unit.members) {
          cost.members.push_back(input.running[unit.running].members.size() - 1 - member);
        }
        break;
    }
    switch (unit.charge.claim) {
      case VictimClaim::kNoQueue:
      case VictimClaim::kOwnQueue:
      case VictimClaim::kHierarchy:
        break;
      case VictimClaim::kPriority:
      case VictimClaim::kPriorityWhileBorrowing:
        cost.unentitled += !same_gang;
        break;
      case VictimClaim::kShare:
        cost.unentitled += !same_gang && entitlement == Entitlement::kShare;
        break;
    }
    cost.pods += unit.pods;
    cost.lost_seconds += unit.lost_seconds;
    cost.running.push_back(unit.running);
  }
  std::sort(cost.priorities.begin(), cost.priorities.end(), std::greater<>());
  SortUnique(cost.running);
  return cost;
}

}  // namespace maniple
