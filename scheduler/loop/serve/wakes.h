// Wakes parked gangs that the turn's changes could help.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/room_holders.h"
#include "scheduler/loop/flight/flights.h"
#include "scheduler/loop/room/preemptions.h"
#include "scheduler/loop/room/reservations.h"

namespace maniple {

class Wakes final {
 public:
  // The owners that it works with.
  struct Parts {
    RoomHolders& room_holders;
    Charges& charges;
    Flights& flights;
    Preemptions& preemptions;
    Reservations& reservations;
  };
  Wakes(Desk& desk, const Parts& parts) : desk_(desk), parts_(parts) {}

  // Wakes by the news of the turn so far.
  void WakeParked(absl::Time now);

  // Domains are made of nodes, and some have gone.
  void NodesLost() { nodes_lost_ = true; }

 private:
  Desk& desk_;
  Parts parts_;
  bool nodes_lost_ = false;  // nodes have gone since it was last called
};

}  // namespace maniple
