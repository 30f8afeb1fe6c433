// Whether every gang that may be made to leave by the rules is made to leave, by the server's
// objects and a naive search: nothing of the scheduler's own lists of victims.
#pragma once

#include <map>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "test/sim/evictions.h"
#include "test/sim/truth.h"

namespace maniple::sim {

// By gang: nodes on which room is held until it can start.
using HeldNodes = std::map<std::string, std::set<std::string>>;

// At quiescence. Checks NobodyIsImmune: no whole gang waits that could start if one less important
// gang left, which it may make leave; whatever state that one is in. Where something was
// remembered against the waiting one that has no reason any more, the promise is called
// NoBanOutlivesItsReason.
//
// Says nothing where budgets, protection or leaving pods may interfere. What somebody at least as
// important holds is not free to the one that waits.
void CheckNobodyIsImmune(Truth& truth, const Evictions& evictions, const HeldNodes& held,
                         absl::Time now);

}  // namespace maniple::sim
