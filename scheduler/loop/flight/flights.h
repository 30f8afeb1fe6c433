// Gangs in flight: members that are being bound, volumes that are bound before them, and room that
// is held for lost members. It drives one GangBinding for each gang (scheduler/bind).
//
// Its sources:
//   flights.cc         the protocol's actions
//   flight_volumes.cc  claims that wait for a node
//   flight_checks.cc   a second look at a place before a pod is bound to it
//   flight_holds.cc    room for the replacements of lost members
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/use_counts.h"

namespace maniple {

class Flights final {
 public:
  Flights(Desk& desk, UseCounts& uses, Charges& charges)
      : desk_(desk), uses_(uses), charges_(charges) {}

  // A gang that is partly bound, or has lost a member, is in flight, also if another bound it.
  void EnsureBinding(Case& c);
  // Takes in what the watch shows and does what follows, which may end the flight.
  void SettleBinding(Case& c);
  // A quorum that others have bound counts as reached.
  void NoteQuorum(Case& c);
  // Notes once for each start how long the quorum took from its last bind until it was Ready.
  void NoteReady(const Case& c);
  // Reserves all of the plan, then binds; volumes that wait for their node are bound first.
  void Start(Case& c, ItemKind kind, const std::vector<Placement>& placements);
  // The outcome of a bind, a reading or a deletion.
  void HearOfPod(const Errand& errand, const WriteResult& result, absl::Time now);
  // Calls `input` with a step and carries out what it asks for.
  void Step(Case& c, absl::FunctionRef<void(BindStep&)> input);
  // The gang has left whole, and waits anew.
  void CountLeaving(Case& c, LeavingCause cause);
  // Holds for the vacancies of a gang in flight: quota always, room as far as there is some.
  void ReconcileHolds(Case& c);
  void DropHolds(GangRecord& record);
  // REQUIRES: the gang is in flight.
  void EndBinding(GangRecord& record);
  // Sends a request about one pod, which the reply names.
  void SendTo(PodId pod, ErrandKind kind,
              absl::FunctionRef<HttpRequest(const PodReference&)> request);

  void SettleVolumes(Case& c);
  void HearVolume(const Errand& errand, const WriteResult& result, absl::Time now);
  // Offers the repairs of gangs that hold room on these nodes for lost members. Waking by free room
  // would miss them: the held room looks full to it.
  void OfferRepairsHeldOn(const absl::btree_set<NodeId>& nodes, absl::Time now);

  // Nodes have changed. A hold on a node that takes its member no more moves elsewhere. Vacancies
  // without room look for some, before anybody else is offered it. Of many gangs some are looked at
  // each turn.
  void LookAtHoldsAgain(const Delta& news, absl::Time now);
  // What these gangs hold for lost members is given up, if the request fits then; else false.
  [[nodiscard]] bool YieldHolds(const Case& c, const GangRequest& request,
                                std::span<const GangId> of);

  // Gangs that hold room for members they have lost; some may linger.
  [[nodiscard]] const absl::btree_set<GangId>& mending() const { return mending_; }

 private:
  void CountReply(BindReplyKind kind);
  void StartBinding(Case& c, const std::vector<Placement>& placements);
  // False: no member has a claim that waits for its node.
  [[nodiscard]] bool StartVolumes(Case& c, ItemKind kind, const std::vector<Placement>& placements);
  static void MeetThoseWhoRanAlone(Case& c);
  static void RememberTheFailed(Case& c);
  void BeginBinding(GangRecord& record, BindPhase phase, absl::Time since);
  void CarryOut(Case& c, const BindAction& action);
  void CoolDown(NodeId node, absl::Time now);
  void OnQuorumBound(Case& c);
  void OnUndone(Case& c, const Undone& undone);
  [[nodiscard]] std::vector<Vacancy> VacanciesToHold(const Case& c) const;
  [[nodiscard]] OpenHolds HeldFor(GangId id) const;
  [[nodiscard]] std::optional<NodeId> PlaceForHold(Case& c, const Vacancy& vacancy);
  // Is the node outside a topology that the gang, or the pod's sub-group, requires of its members?
  [[nodiscard]] bool Misplaced(const Case& c, PodId pod, NodeId node);
  [[nodiscard]] bool ApartFromOthers(const Case& c, NodeId node, const TopologyRequest& asked,
                                     absl::FunctionRef<bool(const Member&)> among);
  void SendBindOf(const Case& c, const SendBind& bind);
  [[nodiscard]] bool PlaceIsStillGood(const Case& c, PodId pod, NodeId node);
  [[nodiscard]] bool RoomIsStillThere(const Case& c, PodId pod, NodeId node);
  [[nodiscard]] bool TermsStillHold(const Case& c, PodId pod, NodeId node);
  [[nodiscard]] std::string PlacementTrouble(const Case& c);
  // Where one domain is required, the nodes of the plan whose volumes are being bound, and those of
  // members that stand, are in several.
  [[nodiscard]] bool PlanIsTorn(const Case& c);
  [[nodiscard]] static bool IsTorn(const Case& c, const DomainLevel& level, int32_t part);
  // Why the plan would not be made now, its volumes being bound; "" = it would.
  [[nodiscard]] std::string BurstTrouble(const Case& c);
  void SendVolume(const Case& c, const ClaimGoal& goal, const ClaimSight& sight, VolumeWrite what);
  void BindAfterVolumes(Case& c);
  // Surplus whose volumes are being bound must not keep others from a lost member's place.
  [[nodiscard]] bool SurplusGivesWay(const Case& c) const;
  [[nodiscard]] std::string ChangeOfMind(const Case& c);
  enum class DecidedAgain : uint8_t { kAtOnce, kLater };
  void GiveUpVolumes(Case& c, std::string why, DecidedAgain again);
  void TryVolumesLater(const Case& c, absl::string_view why);

  Desk& desk_;
  UseCounts& uses_;
  Charges& charges_;
  absl::btree_set<GangId> mending_;   // hold room for members they have lost; some may linger
  absl::btree_set<GangId> unplaced_;  // of these, those whose holds are to be looked at again
};

}  // namespace maniple
