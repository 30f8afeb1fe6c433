// Room and quota kept for the gang at the head of its Queue until it can start, and the memory of
// guests. Plain values in the records of these gangs, kept by Reservations. Nothing of them has to
// survive a restart: a new leader plans afresh.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/model/ids.h"
#include "plugins/framework/snapshot.h"
#include "queue/quota_tree.h"
#include "scheduler/cycle/question/quota_ask.h"
#include "scheduler/cycle/start_plan.h"

namespace maniple {

// The API server reports an end a little late.
inline constexpr absl::Duration kEndGrace = absl::Seconds(10);

struct Reservation {
  struct Room {
    HoldId hold;
    NodeId node;  // invalid: it is gone, and the hold with it
    ShapeId shape;
  };
  // The nodes it is to go to. Room that others still have there is held on top, for when they end.
  std::vector<Room> rooms;
  Demand demand;        // what the rooms cost its Queue
  Demand held;          // the part of it that is charged now: at most nominal and available
  bool modest = false;  // it seemed to ask for no more than is nominal when it was made

  absl::Time made;
  absl::Time start;  // planned, on the expected ends
  EndIs end = EndIs::kKnown;
  absl::Time first_start;  // as they were planned at first
  EndIs first_end = EndIs::kKnown;
  absl::Time until;  // then another gang gets its turn

  absl::Time renewed;  // when it was planned last
  bool stale = false;  // something has changed since
  bool lost = false;   // the plan cannot be kept: another is made at once
  // Gangs of its Queue that have started since: their part of nominal quota is the holder's.
  std::vector<GangId> newcomers;
  std::vector<GangId> guests;  // gangs that were let into the room because they were to end in time
};

// What `whole` has of each cell beyond `part`.
[[nodiscard]] Demand Beyond(const Demand& whole, const Demand& part);
// The part of the demand that is not held yet.
[[nodiscard]] Demand Lacking(const Reservation& reservation);
// "2026-01-01 12:00:00 UTC", "… or so".
[[nodiscard]] std::string StartText(const Reservation& reservation);
// ", first planned for 2026-01-01 11:00:00 UTC"; "" while it is not later.
[[nodiscard]] std::string DelayText(const Reservation& reservation);

// The gang runs as a guest in room that is held for others.
struct Backfill {
  absl::Time end;  // as its owner said
};

}  // namespace maniple
