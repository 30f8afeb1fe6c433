// Every set of a few units, the cheapest first, until one is legal and suffices.
#pragma once

#include <optional>
#include <span>

#include "scheduler/cycle/victims/victim_choice.h"
#include "scheduler/cycle/victims/victim_trial.h"

namespace maniple {

inline constexpr size_t kMostExactUnits = 24;

struct ExactAnswer {
  std::optional<VictimChoice> choice;
  // False: gave up before every set was looked at, or there are too many to begin with.
  bool complete = true;
};
// Looks among `units`, ascending, each with all that come before it in its chain.
// REQUIRES: no unit is taken, and there are at most kMostExactUnits. Leaves none taken.
[[nodiscard]] ExactAnswer SearchExactly(VictimTrial& trial, const PreemptionMode& mode,
                                        std::span<const size_t> units);

}  // namespace maniple
