// Units: gangs or members that can be evicted at one stroke, and their cost.
//
// A running gang is a unit as a whole, and so is each member that it can spare, or each replica of
// several hosts; victim_limits.h says which of them may be taken together. Members that are alike,
// on one node, form a chain, the last in rank first: a unit can be taken only after those before
// it. Plain values.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "scheduler/cycle/victims/preemption_question.h"
#include "scheduler/cycle/victims/victim_policy.h"

namespace maniple {

enum class UnitPart : uint8_t { kSurplusMember, kWholeGang };

struct VictimUnit {
  size_t running = 0;  // index into the input's
  UnitPart part = UnitPart::kWholeGang;
  // Of surplus: indices into the gang's, the last in rank first. All are of one sub-group.
  absl::InlinedVector<size_t, 1> members;
  std::optional<size_t> after;  // the unit before it in its chain
  VictimCharge charge;
  std::vector<FreedRoom> room;    // of pods on nodes that exist
  std::vector<uint32_t> budgets;  // one entry per pod that a single budget covers
  int64_t doubly_covered = 0;     // pods that the eviction API refuses whatever budgets allow
  bool past_budgets = false;      // may leave even if budgets refuse
  int64_t pods = 0;
  int64_t lost_seconds = 0;  // run time of all its pods
};

// How victims of other Queues are taken: for the nominal quota of the preemptor's Queue,
// or by share.
enum class Entitlement : uint8_t { kNominal, kShare };
[[nodiscard]] inline Entitlement EntitlementOf(const Justification& why) {
  return why.entitled ? Entitlement::kNominal : Entitlement::kShare;
}

// May victims of this claim leave though their budgets refuse?
[[nodiscard]] bool MayPassBudgets(IgnorePdb ignored, VictimClaim claim, Entitlement entitlement);
// Pods of these units that the eviction API would refuse.
[[nodiscard]] int64_t ViolationsOf(const PreemptionInput& input, std::span<const VictimUnit> units,
                                   std::span<const size_t> taken);

// Would the rest of each budget be enough for the unit?
[[nodiscard]] bool BudgetsBear(std::span<const int32_t> left, const VictimUnit& unit);

// Appends the gang's units, if the budgets bear each on its own. First the surplus from
// the last member on, then the whole gang unless all of it is surplus.
void AppendUnits(const PreemptionInput& input, size_t running, VictimClaim claim,
                 std::vector<VictimUnit>& units);

// Compared from the first field on; the least is best.
struct VictimCost {
  int64_t violations = 0;   // pods beyond the allowance of their budgets
  int64_t own_gangs = 0;    // lent quota is taken back before own work is hurt
  int64_t own_surplus = 0;  // members of gangs that do not go whole, here and below
  int64_t unentitled = 0;   // gangs of others that hold nothing owned by the preemptor's side
  // Of gangs that go whole, so that surplus goes before any quorum; lowest when there is none.
  std::optional<int32_t> highest_priority;
  int64_t gangs = 0;
  std::optional<int32_t> highest_surplus_priority;
  int64_t pods = 0;
  std::vector<int32_t> priorities;  // of all, from the highest down
  int64_t lost_seconds = 0;
  std::vector<size_t> running;  // by name
  std::vector<size_t> members;  // of the surplus that goes: how many rank after it in its gang
  friend auto operator<=>(const VictimCost&, const VictimCost&) = default;
};
// REQUIRES: `taken` is ascending.
[[nodiscard]] VictimCost CostOf(const PreemptionInput& input, std::span<const VictimUnit> units,
                                std::span<const size_t> taken, Entitlement entitlement);

}  // namespace maniple
