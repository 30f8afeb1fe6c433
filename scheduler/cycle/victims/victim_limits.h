// The units that may be taken together. One thread, for the length of a search;
// borrows its arguments.
//
// Units that are taken one by one, each time as MayTake allows,
//   1. overdraw no budget, summed over all of them that may not pass budgets;
//   2. are of each gang either the whole or surplus members, as many as it can spare, in all and of
//      each sub-group;
//   3. include, of members that are alike, the last in rank first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/cycle/victims/preemption_question.h"
#include "scheduler/cycle/victims/victim_units.h"

namespace maniple {

class VictimLimits final {
 public:
  VictimLimits(const PreemptionInput& input, std::span<const VictimUnit> units);

  [[nodiscard]] bool IsTaken(size_t unit) const { return is_taken_[unit]; }
  [[nodiscard]] bool MayTake(size_t unit) const;
  // REQUIRES: it is not taken; MayTake, or that limits do not matter.
  void Take(size_t unit);
  // REQUIRES: it is taken.
  void GiveBack(size_t unit);
  // No unit that must come after it is taken.
  [[nodiscard]] bool EndsChain(size_t unit) const { return next_taken_[unit] == 0; }

 private:
  // The taken units of one gang.
  struct Part {
    int64_t wholes = 0, members = 0;
    std::vector<int64_t> sub_groups;
  };
  void Count(const VictimUnit& unit, int32_t change);

  const PreemptionInput& input_;
  std::span<const VictimUnit> units_;
  std::vector<bool> is_taken_;
  std::vector<int64_t> next_taken_;  // by unit: how many right after it in its chain are taken
  std::vector<int32_t> left_;        // of the budgets
  std::vector<Part> parts_;          // by running gang
};

}  // namespace maniple
