// Serves one item of the queue after the other: decides and starts it,
// or parks it with the facts that could help it.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/parking.h"
#include "scheduler/loop/desk/room_holders.h"
#include "scheduler/loop/desk/searches.h"
#include "scheduler/loop/desk/yielding_holds.h"
#include "scheduler/loop/flight/flights.h"
#include "scheduler/loop/room/claims.h"
#include "scheduler/loop/room/mig_division.h"
#include "scheduler/loop/room/preemptions.h"
#include "scheduler/loop/room/reservations.h"
#include "scheduler/loop/serve/wakes.h"

namespace maniple {

class Serving final {
 public:
  // The owners that it works with.
  struct Parts {
    RoomHolders& room_holders;
    Charges& charges;
    Parking& parking;
    Searches& searches;
    Flights& flights;
    YieldingHolds& yielding;
    Claims& claims;
    Preemptions& preemptions;
    Reservations& reservations;
    MigDivision& mig;
    Wakes& wakes;
  };
  Serving(Desk& desk, const Parts& parts) : desk_(desk), parts_(parts) {}

  // Serves as many items as the turn has time for.
  void DecideReady(absl::Time now);
  // Asks for room and quota together. The gang's own holds are free to it.
  [[nodiscard]] Answer Ask(const Case& c, const GangRequest& request);

 private:
  void Serve(QueueItem item, absl::Time now);
  // A place where those who will follow fit, too; none: there is none, or nobody follows.
  [[nodiscard]] std::optional<Plan> PlanWithFollowers(const Case& c, const GangRequest& request);
  [[nodiscard]] bool OthersMayRepair(const Case& c, ItemKind kind) const;
  // Something other than room stands in the way of the item.
  [[nodiscard]] bool ParkUndecided(Case& c, QueueItem item);
  void TakePlan(Case& c, QueueItem item, const Answer& answer, const SearchWork& work);
  void DecideAgain(Case& c, QueueItem item);
  [[nodiscard]] bool HoldsYieldToNominal(const Case& c, const GangRequest& request);
  void ParkRejected(Case& c, QueueItem item, const GangRequest& request, const Answer& answer);
  // For a request of surplus members.
  void KeepUnitsWhole(const Case& c, const GangRequest& request, Decision& decision);

  Desk& desk_;
  Parts parts_;
  RoomCache rooms_;
};

}  // namespace maniple
