// Every set of a few units, the cheapest first, until one is legal and suffices.
#pragma once

#include <optional>
#include <span>

#include "scheduler/cycle/victim_search.h"
#include "scheduler/cycle/victim_trial.h"

namespace maniple {

inline constexpr size_t kMostExactUnits = 12;

struct ExactAnswer {
  std::optional<VictimChoice> choice;
  bool complete = true;  // false: gave up before every set was looked at
};
// Among `units`, ascending, with whole chains from their beginning. REQUIRES: nothing is taken, and
// at most kMostExactUnits. Leaves nothing taken.
[[nodiscard]] ExactAnswer SearchExactly(VictimTrial& trial, const PreemptionMode& mode,
                                        std::span<const size_t> units);

}  // namespace maniple
