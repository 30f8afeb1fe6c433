// What can be evicted at one stroke, and what that costs.
//
// A running gang is a chain of units: its surplus members, the last first, then all the rest at
// once. A unit can be taken only after those before it in its chain. Plain values.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/cycle/preemption.h"
#include "scheduler/cycle/victim_policy.h"

namespace maniple {

enum class UnitPart : uint8_t { kSurplusMember, kRest };

struct VictimUnit {
  size_t running = 0;  // index into the input's
  UnitPart part = UnitPart::kRest;
  std::optional<size_t> after;  // the unit before it in its chain
  VictimCharge charge;
  std::vector<FreedRoom> room;    // of pods on nodes that exist
  std::vector<uint32_t> budgets;  // one entry per pod and budget
  int64_t pods = 0;
  int64_t lost_seconds = 0;  // run time of all its pods
};

// Appends the gang's chain as far as the budgets bear it.
void AppendUnits(const PreemptionInput& input, size_t running, VictimClaim claim,
                 std::vector<VictimUnit>& units);

// Compared from the first field on; the least is best.
struct VictimCost {
  int64_t own_gangs = 0;    // what was lent is taken back before one's own work is hurt
  int64_t own_surplus = 0;  // members
  int64_t unentitled = 0;   // units of others that are not what the preemptor's side owns
  // Of gangs that go whole, so that surplus goes before any quorum; lowest when there is none.
  std::optional<int32_t> highest_priority;
  int64_t gangs = 0;
  std::optional<int32_t> highest_surplus_priority;
  int64_t pods = 0;
  std::vector<int32_t> priorities;  // of all, from the highest down
  int64_t lost_seconds = 0;
  std::vector<size_t> running;  // by name
  friend auto operator<=>(const VictimCost&, const VictimCost&) = default;
};
enum class Entitlement : uint8_t { kNominal, kShare };
// `entitlement` says how victims by share are taken.
[[nodiscard]] VictimCost CostOf(const PreemptionInput& input, std::span<const VictimUnit> units,
                                std::span<const size_t> taken, Entitlement entitlement);

}  // namespace maniple
