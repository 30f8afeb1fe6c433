// What a refused gang waits for, in the words and figures of the decision that refused it.
#pragma once

#include "scheduler/cycle/question/decision.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/records/gang_request.h"

namespace maniple {

[[nodiscard]] WaitingFor WaitsFor(const GangRequest& request, const Rejection& rejection,
                                  Desk& desk);

}  // namespace maniple
