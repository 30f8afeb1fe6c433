// Questions for help for gangs that wait, in whatever cluster a history comes to rest in.
// Violations go to the Truth.
#pragma once

#include "absl/time/time.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// HelpIsPure: an answer changes nothing of its question, is the same when asked again,
// and always has something to say.
void CheckHelpIsPure(Truth& truth, SchedulingLoop& loop, absl::Time now);

}  // namespace maniple::sim
