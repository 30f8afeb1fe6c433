// What must hold after every turn of the scheduling loop: one function per named invariant, facts
// in, violations out. They ask the objects and plain sums, not the scheduler's own structures.
//
// Each violation begins with the name of its invariant. What only the loop itself can tell
// (ParkedCannotStart, and the sums inside its state) is asked by TurnAudit; SnapshotNeverMutates is
// asked by state_model_test, where snapshots can be kept.
#pragma once

#include <string>
#include <vector>

#include "test/support/turn_facts.h"

namespace maniple::invariants {

using Violations = std::vector<std::string>;

// Nothing was placed on a node that has not the room for everything that is there or on its way.
[[nodiscard]] Violations NeverOversubscribed(const TurnFacts& facts);
// A quorum is placed whole, sub-groups included; what stands of a gang without its quorum is in
// hand: being completed, repaired, undone or kept on purpose.
[[nodiscard]] Violations GangAllOrNothing(const TurnFacts& facts);
// A pod never changes its node, and no bind is sent for one that is bound, leaving, ended or gone.
[[nodiscard]] Violations BoundAtMostOnce(const TurnFacts& facts);
// The usage that Queues show is the sum over their pods, bound, terminating and on their way, and
// what is held; whoever was let in is within what the closed form allows; nothing starts from a
// Queue that is stopped or broken.
[[nodiscard]] Violations QuotaLegal(const TurnFacts& facts);
// The room that nodes show is what they offer less the pods there, less what is held; and nothing
// is held when nobody holds anything.
[[nodiscard]] Violations ReservationsMatchState(const TurnFacts& facts);
// A gang that is within its Queue's nominal quota and fits by plain counting is not passed over by
// a later gang of its Queue.
[[nodiscard]] Violations NoStarvation(const TurnFacts& facts);
// No gang makes another leave that has made it leave, unless limits or priorities have changed.
[[nodiscard]] Violations NoPreemptionLoop(const TurnFacts& facts);
// When the loop has come to rest: no whole gang waits whose room is free and whose quota allows it,
// by plain counting.
[[nodiscard]] Violations NothingRunnableWaits(const TurnFacts& facts);
// What a gang requires of racks and NVLink domains, for itself, its sub-groups and its slices,
// holds for whatever was placed of it.
[[nodiscard]] Violations DomainsHold(const TurnFacts& facts);
// What is late must not change what somebody else wrote meanwhile.
[[nodiscard]] Violations EveryWriteHasAPrecondition(const TurnFacts& facts);

struct Invariant {
  const char* name;
  Violations (*check)(const TurnFacts&);
};
// All of the above.
[[nodiscard]] const std::vector<Invariant>& All();
[[nodiscard]] Violations CheckAll(const TurnFacts& facts);

}  // namespace maniple::invariants
