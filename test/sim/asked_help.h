// What would help gangs that wait, asked in whatever cluster a history comes to rest in. Violations
// go to the Truth.
#pragma once

#include "absl/time/time.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// HelpIsPure: an answer changes nothing of what it was asked about, and is the same when asked
// again; it always has something to say.
void CheckHelpIsPure(Truth& truth, const SchedulingLoop& loop, absl::Time now);

}  // namespace maniple::sim
