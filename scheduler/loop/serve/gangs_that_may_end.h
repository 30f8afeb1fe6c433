// The gangs whose end could help one that waits: those that stand, and those for which room is held
// until they start. They are gathered piece by piece between turns, so that no turn is late for a
// question. What changes after its piece is gathered again with the last one: the whole is as of
// the last call.
//
// Owned by HelpQuestions; one thread.
//
//   may_end.Begin();
//   while (!may_end.More(now)) { … a turn, which calls NoteTurn() before it reports … }
//   std::vector<RunningGang> gangs = may_end.Take(waiting);
//   may_end.Stop();
#pragma once

#include <cstddef>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/room_holders.h"
#include "scheduler/loop/room/preemptions.h"

namespace maniple {

class GangsThatMayEnd final {
 public:
  GangsThatMayEnd(Desk& desk, RoomHolders& room_holders, Preemptions& preemptions)
      : desk_(desk), room_holders_(room_holders), preemptions_(preemptions) {}

  void Begin();
  // Whether all have been gathered.
  [[nodiscard]] bool More(absl::Time now);
  // All but `waiting`, in no order. REQUIRES: More() has just said so.
  [[nodiscard]] std::vector<RunningGang> Take(GangId waiting);
  void Stop();

  // The turn is about to report on the gangs that it has changed.
  void NoteTurn();
  void NoteGone(GangId id) {
    if (under_way_) changed_.insert(id);
  }
  // Ids of Queues, cells or nodes mean something else now, or policies have changed.
  void BeginsAnew() { stale_ = true; }

 private:
  void BeginRound();
  // As it is now, if it may end; how many pods it has.
  size_t Gather(GangId id, absl::Time now);
  void Drop(GangId id);

  Desk& desk_;
  RoomHolders& room_holders_;
  Preemptions& preemptions_;

  bool under_way_ = false;
  bool stale_ = false;
  int times_begun_ = 0;
  size_t budgets_ = 0;  // so many there were: entries name them by index
  GangId last_;         // that a piece has come to; invalid: none
  std::vector<RunningGang> gathered_;
  absl::flat_hash_map<GangId, size_t> places_;  // in `gathered_`
  absl::btree_set<GangId> changed_;             // to be gathered again in the end
};

}  // namespace maniple
