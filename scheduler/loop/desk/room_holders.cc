#include "scheduler/loop/desk/room_holders.h"

namespace maniple {

void RoomHolders::Drop(GangId gang, GangRecord& record) {
  if (!record.reservation.has_value()) return;
  for (const Reservation::Room& room : record.reservation->rooms) {
    desk_.state.ReleaseHold(room.hold, desk_.news);
  }
  record.reservation.reset();
  holders_.erase(gang);
  lines_wait_ = false;
  openings_changed_ = true;
  holds_fell_ = true;
}

}  // namespace maniple
