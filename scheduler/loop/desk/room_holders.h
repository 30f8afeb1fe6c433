// The gangs that hold room for a later start, and the lines in which gangs wait to do so.
//
// Owned by Leadership; one thread. Reservations decides on holds; here others learn of them, and
// say that the decision may be otherwise now.
#pragma once

#include <utility>

#include "absl/container/btree_set.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/records/waiting_lines.h"

namespace maniple {

class RoomHolders final {
 public:
  explicit RoomHolders(Desk& desk) : desk_(desk) {}

  // Quorums that were rejected, and may start some day.
  [[nodiscard]] WaitingLines& lines() { return lines_; }
  [[nodiscard]] const WaitingLines& lines() const { return lines_; }
  // Gangs with a reservation; all of them stand in lines.
  [[nodiscard]] const absl::btree_set<GangId>& holders() const { return holders_; }
  void Add(GangId holder) { holders_.insert(holder); }
  // Gives back the gang's hold, if it has one.
  void Drop(GangId gang, GangRecord& record);

  // Until some reservation ends: the first in line needs its room.
  void LetLinesWait() { lines_wait_ = true; }
  [[nodiscard]] bool lines_wait() const { return lines_wait_; }

  // Some gang has given back its hold since the last call.
  [[nodiscard]] bool TakeHoldsFell() { return std::exchange(holds_fell_, false); }

  // The facts that decide which gang may hold room next have changed.
  void OpeningsChanged() { openings_changed_ = true; }
  [[nodiscard]] bool openings_changed() const { return openings_changed_; }
  [[nodiscard]] bool TakeOpeningsChanged() { return std::exchange(openings_changed_, false); }

 private:
  Desk& desk_;
  WaitingLines lines_;
  absl::btree_set<GangId> holders_;
  bool lines_wait_ = false;
  bool openings_changed_ = true;
  bool holds_fell_ = false;
};

}  // namespace maniple
