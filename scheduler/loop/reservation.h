// Room and quota that are kept for the gang at the head of its Queue until it can start, and what
// is remembered of gangs that use some of it meanwhile. Plain values in the records of these gangs,
// kept by Reservations; nothing of them has to survive a restart (a new leader plans
// afresh).
#pragma once

#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "api/model/ids.h"
#include "plugins/framework/snapshot.h"
#include "queue/quota_tree.h"
#include "scheduler/cycle/quota_ask.h"
#include "scheduler/cycle/start_plan.h"

namespace maniple {

// The API server tells of an end a little late.
inline constexpr absl::Duration kEndGrace = absl::Seconds(10);

struct Reservation {
  struct Room {
    HoldId hold;
    NodeId node;  // invalid: it is gone, and the hold with it
    ShapeId shape;
  };
  // Where it is to go. What others have there still is held on top: it is the gang's once they end.
  std::vector<Room> rooms;
  Demand demand;        // what the rooms cost its Queue
  Demand held;          // as much of that as is charged now: no more than is nominal and available
  bool modest = false;  // it seemed to ask for no more than is nominal when it was made

  absl::Time made;
  absl::Time start;  // planned, on the ends that are expected
  EndIs end = EndIs::kKnown;
  absl::Time first_start;  // as they were planned at first
  EndIs first_end = EndIs::kKnown;
  absl::Time until;  // then others get their turn

  absl::Time renewed;  // when it was planned last
  bool stale = false;  // something has changed since
  bool lost = false;   // what was planned cannot be kept: it is planned anew at once
  // Gangs of its Queue that have started since: what they use of the Queue's own is the holder's.
  std::vector<GangId> newcomers;
  std::vector<GangId> guests;  // gangs that were let into the room because they were to end in time
};

// What of the demand is not held yet.
[[nodiscard]] Demand Lacking(const Reservation& reservation);
// "2026-01-01 12:00:00 UTC", "… or so".
[[nodiscard]] std::string StartText(const Reservation& reservation);
// ", first planned for 2026-01-01 11:00:00 UTC"; "" while it is not later.
[[nodiscard]] std::string DelayText(const Reservation& reservation);

// Room that is held for others, used because the gang was to end before they start.
struct Backfill {
  absl::Time end;  // as its owner said
};

}  // namespace maniple
