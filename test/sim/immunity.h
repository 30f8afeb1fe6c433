// Whether every gang that may be evicted by the rules is evicted. Judged by the server's
// objects and a naive search, without the scheduler's own lists of victims.
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

// At quiescence. Checks NobodyIsImmune: no whole gang waits that could start if one less
// important gang left, which it may make leave, in whatever state. Where a ban of the waiting
// gang has lost its reason, the promise is called NoBanOutlivesItsReason.
//
// Says nothing where budgets, protection or leaving pods may interfere.
// Room held by a gang that is at least as important is not free to the waiting one.
void CheckNobodyIsImmune(Truth& truth, const Evictions& evictions, const HeldNodes& held,
                         absl::Time now);

}  // namespace maniple::sim
