// Room held for later starts: whose turn it is, the rooms and the time of each hold,
// and the guests in them.
//
// A hold is the whole plan of a gang: its rooms, also where others still are, and the available
// part of its quota. More quota is taken as it comes free, before any other gang is decided.
// So the plan comes true if everything ends when it should.
//
// Its sources: reservations.cc (holding), reservations_due.cc (when),
// reservation_guests.cc (guests).
//
// Owned by Leadership; one thread.
#pragma once

#include "api/base/due_times.h"
#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/room_holders.h"
#include "scheduler/loop/desk/searches.h"
#include "scheduler/loop/desk/yielding_holds.h"
#include "scheduler/loop/records/turn_output.h"
#include "scheduler/loop/room/evictions.h"
#include "scheduler/loop/room/preemptions.h"

namespace maniple {

class Reservations final {
 public:
  // The owners that it works with.
  struct Parts {
    RoomHolders& room_holders;
    Charges& charges;
    Searches& searches;
    YieldingHolds& yielding;
    Evictions& evictions;
    Preemptions& preemptions;
  };
  Reservations(Desk& desk, const Parts& parts) : desk_(desk), parts_(parts) {}

  // Gives room to gangs whose time has come, renews holds, and ends them.
  void KeepReservations(absl::Time now);
  // After a rejection; a gang that never fits waits in no line.
  void WaitInLine(const Case& c, const Answer& answer);
  // Takes as much of the holders' demand as is nominal and available, before any other gang asks.
  void GatherHeldQuota(absl::Time now);
  // The gang starts: held room that it uses is its own until the holders start.
  void NoteGuest(const Case& c, const Answer& answer);
  // Holders whose room was taken for good plan anew.
  void NoteYielded(const Answer& answer);
  // The time of the next call.
  [[nodiscard]] absl::Time NextReservation();
  // For tests: the known turns are those that a fresh look would find.
  [[nodiscard]] absl::Status CheckTurns() const;
  [[nodiscard]] std::vector<HeldStart> HeldStarts() const;
  // Some holders are to be looked at before the next decision.
  [[nodiscard]] bool TakeChanged() { return std::exchange(changed_, false); }

 private:
  void NoteBeside(const Case& c, const Answer& answer);
  void EndReservation(GangId gang, absl::Time now);
  // False: no start is in sight.
  bool Reserve(GangId gang, absl::Time now);
  void Renew(GangId gang, absl::Time now);
  void Keep(Case& c, const GangRequest& request, const StartPlan& plan);
  void EndReservationsUnder(const Case& c, const GangRequest& request);
  [[nodiscard]] bool SendOverstayersAway(Case& c, const GangRequest& request);
  // As if `displaced` held no room any more.
  [[nodiscard]] std::optional<StartPlan> PlanStartOf(const Case& c, const GangRequest& request,
                                                     Beside beside, absl::Time by,
                                                     std::optional<GangId> displaced = {});
  [[nodiscard]] absl::Time NextTurn();  // of a head, to hold room
  [[nodiscard]] absl::Time ReservationDue(const WaitingLines::Head& head) const;
  [[nodiscard]] Opening OpeningFor(const WaitingLines::Head& head) const;
  [[nodiscard]] bool IsModest(const GangRecord& record) const;
  [[nodiscard]] absl::Time RenewalDue(const Reservation& reservation) const;

  Desk& desk_;
  Parts parts_;
  DueTimes<std::string> turns_;  // of the heads of Queues, as of the last NextTurn
  bool changed_ = false;         // some holders are to be looked at before the next decision
};

}  // namespace maniple
