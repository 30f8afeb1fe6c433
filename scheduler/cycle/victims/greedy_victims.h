// Takes units one after the other where they help, then gives back as many as can be spared.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "scheduler/cycle/victims/victim_choice.h"
#include "scheduler/cycle/victims/victim_trial.h"

namespace maniple {

// The start of a search when room is lacking.
enum class GreedyStart : uint8_t {
  kCheapestUnits,
  kCheapestNodes,  // better where gangs share nodes
};

struct GreedyAsk {
  GreedyStart start = GreedyStart::kCheapestUnits;
  std::span<const size_t> units;    // to choose from, ascending
  std::span<const UnitUse> uses;    // by unit
  std::span<const int64_t> weight;  // by unit: how much room it is good for; more first
  std::span<const int64_t> gain;    // by node index: members more, with all units gone
  std::optional<uint32_t> domain;   // only there; none: anywhere
};
// REQUIRES: nothing is taken. Leaves nothing taken.
[[nodiscard]] std::optional<VictimChoice> SearchGreedily(VictimTrial& trial,
                                                         const PreemptionMode& mode,
                                                         const GreedyAsk& ask);

}  // namespace maniple
