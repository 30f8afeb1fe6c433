// What a gang may do to others to start, by its Queue's policy and its own past. Functions of what
// the desk knows; one thread.
#pragma once

#include <vector>

#include "scheduler/cycle/victims/preemption_question.h"
#include "scheduler/loop/desk/desk.h"

namespace maniple {

// The policy of the gang's Queue.
[[nodiscard]] PreemptionPolicy PolicyOf(const Desk& desk, const Gang& gang);
// The configured strategies that the gang has not used up.
[[nodiscard]] std::vector<FairStrategy> StrategiesOf(const Desk& desk, const Case& c);

}  // namespace maniple
