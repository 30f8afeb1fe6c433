// Claims: the room kept for a gang while others leave it.
//
// Owned by Leadership; one thread.
#pragma once

#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/parking.h"
#include "scheduler/loop/flight/flights.h"
#include "scheduler/loop/room/leaving_pods.h"

namespace maniple {

// Room that is being freed is kept for so long, and as long again after a victim's grace period.
// Evictions that are refused are tried until then.
constexpr absl::Duration kClaimFor = absl::Minutes(5);

// The pod has not ended, and has a node.
[[nodiscard]] inline bool TakesRoom(const PodFacts& pod) {
  return !pod.terminal && !pod.node_name.empty();
}

class Claims final {
 public:
  // The owners that it works with.
  struct Parts {
    Charges& charges;
    Parking& parking;
    Flights& flights;
  };
  Claims(Desk& desk, const Parts& parts) : desk_(desk), parts_(parts) {}

  // The first step: the gang leaves its line, since it is to have room that is better than a plan.
  [[nodiscard]] Claim Begin(Case& c, const LeavingPods& awaited);
  // The second: holds and charges the places. `claim` has everything but its rooms.
  void Hold(Case& c, const GangRequest& request, const std::vector<Placement>& places, Claim claim);

  // Gives the room back, for any gang to use.
  void Drop(GangRecord& record);
  void GiveUp(Case& c);
  // The gang starts at these places: its claim ends.
  void Spend(Case& c, const std::vector<Placement>& places);
  // A start in room that others had left for it may have come to nothing. The gang gets that room
  // back, until the time of its claim.
  void SeeStart(Case& c);
  void ForgetStart(GangId id) { spent_.erase(id); }
  void ForgetNodes(const absl::btree_set<NodeId>& gone);
  // The plan of the gang cannot come true: it makes another one.
  void AskAnew(GangId claimant, absl::Time now);
  // Nodes have changed or gone. Nobody is to leave from now on for a place that will not do: such a
  // gang makes another plan.
  void LookAtNodesAgain(const Delta& news, absl::Time now);
  // Ends the claim when its time is over.
  void See(Case& c);
  // Parks the item until the room is made; false: it has no claim, or the claim came to nothing.
  [[nodiscard]] bool Wait(Case& c, QueueItem item);
  // All the room that it is to have is there.
  [[nodiscard]] bool HasRoomMade(const Case& c) const {
    return c.record.claim.has_value() && !RoomIsToCome(c);
  }

  // What may not be there any more: a gang in whose claim `victim` is asked to leave.
  [[nodiscard]] bool Needs(GangId claimant, GangId victim) const;
  // Its room comes from these pods, too, from now on.
  void Await(GangId claimant, const std::vector<PodId>& pods);
  // It is kept until then at least. Null: the gang has none.
  [[nodiscard]] const Claim* KeepUntil(GangId claimant, absl::Time until);

 private:
  [[nodiscard]] Claim* Find(GangId claimant) const;
  [[nodiscard]] bool RoomIsToCome(const Case& c) const;
  // Some victim has not begun to leave, and some room is on a node that takes its member no more.
  [[nodiscard]] bool AsksInVain(GangId claimant, const Claim& claim) const;
  // Null: it does not leave for the claimant.
  [[nodiscard]] const Departure* DepartureFor(GangId claimant, GangId victim) const;
  void OfferAgain(Case& c);
  // Each could start in its place again, and these are enough. REQUIRES: the request asks for each.
  [[nodiscard]] bool MayHoldAgain(const GangRequest& request,
                                  const std::vector<Placement>& places) const;

  Desk& desk_;
  Parts parts_;
  absl::btree_set<GangId> claimants_;  // and some that are none any more
  // Claims in whose room a start is under way; some starts may have succeeded.
  struct Spent {
    std::vector<Placement> places;
    Claim claim;  // without rooms, victims and pods that are awaited
  };
  absl::btree_map<GangId, Spent> spent_;
};

}  // namespace maniple
