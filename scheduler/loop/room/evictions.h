// Evictions: gangs that are asked to leave, for another gang or because their Queue is drained, and
// the requests that ask each of their pods.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/reversals.h"
#include "scheduler/loop/desk/use_counts.h"
#include "scheduler/loop/flight/flights.h"
#include "scheduler/loop/room/claims.h"

namespace maniple {

class Evictions final {
 public:
  // The owners that it works with.
  struct Parts {
    UseCounts& uses;
    Flights& flights;
    Reversals& reversals;
    Claims& claims;
  };
  Evictions(Desk& desk, const Parts& parts) : desk_(desk), parts_(parts) {}

  // The victims are asked to leave, and their room is kept for the gang; so is the room of
  // `awaited`. `refused`: why it could not start without that, for the decision log.
  void StartClaim(Case& c, const GangRequest& request, const std::vector<RunningGang>& running,
                  const PreemptionPlan& plan, const LeavingPods& awaited, ClaimGround ground,
                  std::string refused);
  // Before anybody leaves: see Flights::YieldHolds.
  [[nodiscard]] bool HoldsYield(const Case& c, const GangRequest& request,
                                std::span<const GangId> of) {
    return parts_.flights.YieldHolds(c, request, of);
  }
  // For a gang that leaves: asks again, or sees that it has left.
  void SeeDeparture(Case& c);
  // Budgets have changed: refused evictions are tried again.
  void HurryEvictions(absl::Time now);
  void HearEviction(const Errand& errand, const WriteResult& result, absl::Time now);
  // Takes from what each budget allows, as ClusterState::Budgets lists them, what is asked of it
  // already.
  void TakePromised(std::vector<int32_t>& allowed) const;
  // Sends the gang away if its Queue is being drained.
  void DrainQueue(Case& c);

  void Forget(GangId gang) { departing_.erase(gang); }

 private:
  void LeaveToWatch(const Case& c);
  void Begin(GangRecord& record);
  void Grant(PodId pod, Departure::Pod& leaving, absl::Time now);
  void KeepGranted(const Case& c, Departure& departure);
  void GiveBudgetsBack(const Gang& gang);
  [[nodiscard]] Departure::Pod NewLeaver(const Case& c, PodId pod);
  // `departure` has everything but the pods.
  void StartDeparture(GangId gang, const std::vector<PodId>& pods, Departure departure,
                      absl::Time now);
  void SendAway(PodId pod, Departure::Way way, const std::string& why, absl::Time now);
  void FollowDeparture(Case& c, Departure& departure);
  void WaitForDeparture(Departure& departure, absl::Time until);
  void EndDeparture(Case& c, DepartureEnd end);
  [[nodiscard]] bool CalledOff(const Case& c, const Departure& departure) const;
  [[nodiscard]] bool IsSurplusNoMore(const Case& c, const Departure& departure) const;

  Desk& desk_;
  Parts parts_;
  absl::btree_set<GangId> departing_;  // gangs with a departure
};

}  // namespace maniple
