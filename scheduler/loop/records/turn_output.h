// The output of a turn of the scheduling loop, and its report on room held for later starts.
// Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/client/write_command.h"
#include "queue/gang.h"
#include "scheduler/cycle/start_plan.h"

namespace maniple {

struct TurnOutput {
  std::vector<WriteCommand> writes;
  uint64_t lead = 0;                         // under which they were decided: ClusterNews::lead
  absl::Time next = absl::InfiniteFuture();  // call Turn again by then
  bool more = false;                         // gangs are ready that this turn had no time for
};

// Room that is held for a gang until it can start.
struct HeldStart {
  GangKey gang;
  absl::Time made;
  absl::Time first_start;  // as it was planned then
  EndIs first_end = EndIs::kKnown;
  std::vector<std::string> nodes;  // where; may repeat
};

}  // namespace maniple
