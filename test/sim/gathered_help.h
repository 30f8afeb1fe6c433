// Follows the loop as the process does that wants to know what would help, turn by turn.
//
// HelpIsAsOfItsEnd: a question that was gathered over many turns says of every gang that may end
// what one says that is gathered at once.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "scheduler/loop/scheduling_loop.h"

namespace maniple::sim {

class GatheredHelp final {
 public:
  void AfterTurn(SchedulingLoop& loop, absl::Time now);
  // The first difference; "": none so far.
  [[nodiscard]] const std::string& flaw() const { return flaw_; }

 private:
  std::optional<GangKey> asked_;
  std::string flaw_;
};

}  // namespace maniple::sim
