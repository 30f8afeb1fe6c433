// Questions on room and quota that others hold for later: which gangs may use it. It keeps nothing
// and changes nothing.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/planned_starts.h"
#include "scheduler/loop/desk/room_holders.h"

namespace maniple {

class YieldingHolds final {
 public:
  YieldingHolds(Desk& desk, RoomHolders& room_holders, Charges& charges)
      : desk_(desk),
        room_holders_(room_holders),
        charges_(charges),
        planned_starts_(desk, room_holders, charges) {}

  // The holder has no Queue, and the gang asks within its own Queue's nominal quota.
  [[nodiscard]] bool YieldsToNominal(const Case& c, const GangRequest& request, GangId holder,
                                     const QuotaTree& tree);
  // Room and quota of the holders that the gang may use before they start.
  [[nodiscard]] OpenHolds HoldsThatYieldTo(const Case& c, const Supposition& as_is);
  // After a rejection: puts into `answer` a plan in or beside held room, or who keeps the gang out.
  void TryHeldRoom(const Case& c, const Supposition& as_is, Answer& answer);
  // Why `from` waits for this holder. REQUIRES: the holder has a reservation.
  [[nodiscard]] WaitingFor HeldBy(GangId holder, const Gang& from) const;

 private:
  [[nodiscard]] bool YieldsTo(const Case& c, const Supposition& as_is, GangId holder);
  [[nodiscard]] bool MayReclaimFrom(const Case& c, Supposition as_if, const Gang& holder);
  // How the holders stand towards a gang that asks.
  struct Sides {
    OpenHolds may_use;            // those that yield to it, or start only after its end
    std::vector<GangId> in_time;  // of these, the latter
    OpenHolds kept;
  };
  [[nodiscard]] Sides SidesTowards(const Case& c, const Supposition& as_is);
  // Says in `answer` beside whom the plan is, or who keeps the gang out.
  [[nodiscard]] std::optional<Plan> PlanBeside(const Case& c, Supposition with,
                                               const OpenHolds& kept, Answer& answer);

  Desk& desk_;
  RoomHolders& room_holders_;
  Charges& charges_;
  PlannedStarts planned_starts_;
};

}  // namespace maniple
