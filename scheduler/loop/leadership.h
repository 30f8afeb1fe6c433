// What a leader does with the cluster that it knows: looks at gangs, decides, binds, makes room,
// holds room, and says so. Made when the lead is won and gone when it is lost, with everything that
// only this lead knew.
//
// Owned by SchedulingLoop; works on its WarmState. Its sources: leadership.cc (the steps of a turn
// and the queue),
// loop_decide.cc (one item of it), loop_checks.cc (promises kept),
// loop_quota.cc (charges), loop_admission.cc (whom they are charged to),
// loop_preemption.cc and loop_eviction.cc (making room),
// loop_reservation.cc and loop_reservation_due.cc (holding room), loop_backfill.cc (using held
// room), loop_mig.cc (dividing idle nodes), loop_volumes.cc (claims that wait for a node),
// loop_binding.cc (gangs in flight), loop_standing.cc and loop_report.cc (statuses, conditions),
// loop_stand_in.cc (gangs that others declare), loop_nodes.cc (nodes asked of an autoscaler),
// loop_writes.cc (events, and what the server refuses), loop_help.cc (what would help).
#pragma once

#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "api/base/random.h"
#include "queue/assembly.h"
#include "scheduler/cycle/preemption.h"
#include "scheduler/loop/due_times.h"
#include "scheduler/loop/errands.h"
#include "scheduler/loop/gang_record.h"
#include "scheduler/loop/gang_request.h"
#include "scheduler/loop/loop_case.h"
#include "scheduler/loop/mig_request.h"
#include "scheduler/loop/queue_directory.h"
#include "scheduler/loop/quota_ledger.h"
#include "scheduler/loop/search_shares.h"
#include "scheduler/loop/standing_of.h"
#include "scheduler/loop/supposition.h"
#include "scheduler/loop/turn_output.h"
#include "scheduler/loop/waiting_lines.h"
#include "scheduler/loop/warm_state.h"
#include "scheduler/loop/write_budget.h"

namespace maniple {

struct HelpQuestion;  // scheduler/advice/help.h

class Leadership final {
 public:
  explicit Leadership(WarmState& warm);
  // Gives back what it holds in the state. REQUIRES: nothing is asked of it any more.
  void Resign();

  // What the steps of a turn before it have changed.
  template <typename Gangs>
  void Touch(const Gangs& gangs) {
    touched_.insert(gangs.begin(), gangs.end());
  }
  void NodesGone(const absl::btree_set<NodeId>& gone);
  void QuotaChanged(WarmState::QuotaChange change);
  void NoteForMig();
  // The steps of a turn from the replies to its writes on.
  [[nodiscard]] TurnOutput Turn(std::vector<WriteResult> results, absl::Time now);

  [[nodiscard]] bool Binds() const;  // some binding is under way
  // Between turns it knows these shapes by nothing but their ids: their pods may be gone.
  [[nodiscard]] std::vector<ShapeId> ShapesKept() const;
  void ForgetUnusedNotes();

  [[nodiscard]] std::shared_ptr<const HelpQuestion> HelpFor(const GangKey& key, absl::Time now);

  // For those who look at it. Null: nobody has looked at the gang yet.
  [[nodiscard]] GangRecord* FindRecord(GangId gang) const;
  // What is remembered at first of a gang, by what its status tells.
  [[nodiscard]] static std::unique_ptr<GangRecord> FirstRecord(const Gang& gang, absl::Time now);
  // None while nothing is known that would be true: the gang is ready, and not decided yet.
  [[nodiscard]] std::optional<Standing> StandingOf(const Case& c) const;
  [[nodiscard]] const GangQueue& queue() const { return *queue_; }
  [[nodiscard]] const absl::btree_set<GangId>& holders() const { return holders_; }
  [[nodiscard]] const absl::btree_set<GangId>& mending() const { return mending_; }
  [[nodiscard]] const absl::btree_set<GangId>& unadmitted() const { return unadmitted_; }

  // For tests and the simulation (scheduling_loop.h).
  [[nodiscard]] absl::Status CheckInvariants() const;
  [[nodiscard]] absl::Status CheckParkedCannotStart(absl::Time now);
  [[nodiscard]] absl::Status CheckNothingHeld() const;
  [[nodiscard]] std::array<int32_t, kBindStates> MemberStates() const;
  [[nodiscard]] std::vector<HeldStart> HeldStarts() const;

 private:
  [[nodiscard]] std::optional<Case> Open(GangId id, absl::Time now);

  // The steps of a turn, in order; loop_decide.cc: what becomes of one item.
  void ListenToReplies(std::vector<WriteResult> results, absl::Time now);
  void LookAtGangs(absl::Time now);
  void WakeParked(absl::Time now);
  // … and those that hold room on one of these nodes for members they have lost: what is held for
  // them looks full to whoever asks only what is free.
  void OfferRepairsHeldOn(const absl::btree_set<NodeId>& nodes, absl::Time now);
  void DecideReady(absl::Time now);
  [[nodiscard]] TurnOutput Finish(absl::Time now);

  void LookAt(GangId gang, absl::Time now);
  void MeetGroup(GangRecord& record, const Gang& gang);
  void Forget(GangId gang, absl::Time now);
  void Requeue(Case& c);
  [[nodiscard]] std::optional<ItemKind> ItemOf(const Case& c) const;
  // Made anew; what usage decides of it is kept in the record.
  OrderKey OrderOf(Case& c, ItemKind kind);
  // Quotas or flavors are others since, and with them what the item would charge to whom.
  [[nodiscard]] bool OrderIsStale(Case& c, ItemKind kind);
  void Serve(QueueItem item, absl::Time now);
  // Something other than room stands in the way of the item.
  [[nodiscard]] bool ParkUndecided(Case& c, QueueItem item);
  [[nodiscard]] std::optional<QueueRefusal> RefusalOf(const Case& c, ItemKind kind);

  // loop_search.cc: how long searches may be, and when
  [[nodiscard]] SearchWork WorkFor(const Case& c, const GangRequest& request);
  [[nodiscard]] SearchWork WorkForLater(const Case& c) const;
  // It ended because only a short search was allowed: nobody knows the answer.
  [[nodiscard]] bool Unfinished(const SearchWork& work) const;
  [[nodiscard]] bool MaySearchForLong(const Case& c) const;
  [[nodiscard]] bool MustWaitToSearch(const Case& c) const;
  void PutOffSearch(Case& c, QueueItem item);
  absl::Time TakeSearchSlot(Case& c);
  // When it may be searched for; REQUIRES: MustWaitToSearch.
  [[nodiscard]] absl::Time SearchAgainAt(Case& c);
  enum class CameTo : uint8_t { kAPlan, kNothing };
  void NoteSearch(Case& c, const SearchWork& work, CameTo what);
  void ChargeInVain(const Case& c, const SearchWork& work);
  void BackOffFromSearch(Case& c, ParkFacts& facts);
  // It asks something else now.
  static void ForgetSearch(GangRecord& record);

  void TakePlan(Case& c, QueueItem item, const Answer& answer, const SearchWork& work);
  // "a-0=n1 a-1=n2"
  [[nodiscard]] std::string PlacesText(const std::vector<Placement>& placements) const;
  void ParkRejected(Case& c, QueueItem item, const GangRequest& request, const Answer& answer);
  void Park(Case& c, QueueItem item, ParkFacts facts);
  [[nodiscard]] std::string VolumeTroubleText(const GangRequest& request, ShapeId shape) const;
  // Why it waits; shared with whom the same was noted of last in its Queue.
  void Note(Case& c, QueueItem item, WaitingFor waits);
  [[nodiscard]] GangRequest RequestOf(const Case& c, ItemKind kind) const;
  [[nodiscard]] static absl::Time QueuedAt(const Gang& gang, const GangRecord& record);
  void ArmTimer(GangId gang, GangRecord& record);
  const Snapshot& Picture();

  // loop_quota.cc
  void GiveTreeToQueue();
  // What is held for later starts in the tree of a root, and may be lifted for somebody.
  using HeldQuota = absl::btree_map<std::pair<QuotaNodeId, QuotaCellId>, Amount>;
  [[nodiscard]] HeldQuota AllHeldQuota() const;
  [[nodiscard]] std::optional<QuotaNodeId> ShortOfQuotaAt(QueueItem item,
                                                          const HeldQuota& held) const;
  void WakeForQuota(GangQueue::ShortAt short_at);
  // Room and quota together. The gang's own holds are free to it.
  [[nodiscard]] Answer Ask(const Case& c, const GangRequest& request);
  // What it asks, as things are.
  [[nodiscard]] Supposition Suppose(const Case& c, const GangRequest& request);
  [[nodiscard]] std::optional<QuotaAsk> AskFor(const Case& c, const GangRequest& request);
  // Charges the gang's queue for every pod that takes room, reserved ones and holds included.
  void ChargeQuota(const Case& c);
  // What of that is held for it, and free to itself.
  [[nodiscard]] Demand OwnHeldQuota(const Case& c);
  struct Price {
    Demand demand;
    bool is_only = true;  // no other flavors would do
  };
  [[nodiscard]] Price PriceOf(const Case& c, ItemKind kind, QuotaNodeId queue);
  // In the first flavors that suit, else in the first ones.
  [[nodiscard]] Price PriceFor(const GangRequest& request, QuotaNodeId queue,
                               absl::FunctionRef<bool(const Demand&)> suits);
  // In some flavors the request takes no more than its Queue has as its nominal.
  [[nodiscard]] bool AsksWithinNominal(const Case& c, const GangRequest& request,
                                       const QuotaTree& tree);

  // loop_admission.cc
  void FollowAdmission(const Case& c);
  [[nodiscard]] std::optional<std::string> AdmittedBefore(const Gang& gang) const;
  // Of a repair, where the Queue that has let the gang in does not let its namespace in any more.
  [[nodiscard]] std::optional<QueueRefusal> RefusalOfMore(const Case& c);

  // loop_binding.cc
  void Hear(const Errand& errand, const WriteResult& result, absl::Time now);
  void EnsureBinding(Case& c);
  void BeginBinding(GangRecord& record, BindPhase phase, absl::Time since);
  void EndBinding(GangRecord& record);
  void SettleBinding(Case& c);
  void NoteQuorum(Case& c);
  void StartBinding(Case& c, const std::vector<Placement>& placements);
  // Calls `input` with a step and carries out what it asks for.
  void Step(Case& c, absl::FunctionRef<void(BindStep&)> input);
  void CarryOut(Case& c, const BindAction& action);
  void CoolDown(NodeId node, absl::Time now);
  void OnQuorumBound(Case& c);
  void OnUndone(Case& c, const Undone& undone);
  static void NoteEvicted(GangRecord& record, const Gang& gang, std::string why);
  // It has left whole, and waits anew.
  void CountLeaving(Case& c, LeavingCause cause);
  [[nodiscard]] std::vector<Vacancy> VacanciesToHold(const Case& c) const;
  void ReconcileHolds(Case& c);
  [[nodiscard]] std::optional<NodeId> PlaceForHold(Case& c, const Vacancy& vacancy);
  void DropHolds(GangRecord& record);
  // Outside a topology that the gang, or the sub-group of the pod, requires of all its members.
  [[nodiscard]] bool Misplaced(const Case& c, PodId pod, NodeId node);
  [[nodiscard]] bool ApartFromOthers(const Case& c, NodeId node, const TopologyRequest& asked,
                                     absl::FunctionRef<bool(const Member&)> among);
  void SendTo(PodId pod, ErrandKind kind,
              absl::FunctionRef<HttpRequest(const PodReference&)> request);
  void SendBindOf(const Case& c, const SendBind& bind);
  void CountReply(BindReplyKind kind);

  // loop_recheck.cc: a place that was chosen, looked at again before it is bound to
  [[nodiscard]] bool PlaceIsStillGood(const Case& c, PodId pod, NodeId node);
  [[nodiscard]] bool TermsStillHold(const Case& c, PodId pod, NodeId node);

  // loop_volumes.cc
  [[nodiscard]] bool StartVolumes(Case& c, const std::vector<Placement>& placements);
  void SettleVolumes(Case& c);
  [[nodiscard]] std::string PlacementTrouble(const Case& c);
  void SendVolume(const Case& c, const ClaimGoal& goal, const ClaimSight& sight, VolumeWrite what);
  void HearVolume(const Errand& errand, const WriteResult& result, absl::Time now);
  void BindAfterVolumes(Case& c);
  void GiveUpVolumes(Case& c, std::string why);

  // loop_preemption.cc
  [[nodiscard]] bool MayPreempt(const Case& c, const Rejection& rejection) const;
  [[nodiscard]] bool PoliciesLetEvict(const Case& c) const;
  // Somebody may make it leave, or some of it.
  [[nodiscard]] static bool Stands(const Gang& gang, const GangRecord& record);
  // Of the Queue that it was admitted to, if that is there; else invalid, and it counts as one
  // without a Queue.
  [[nodiscard]] QuotaNodeId QueueOf(const GangRecord& record) const;
  [[nodiscard]] std::vector<GangId> GangsThatStand() const;
  [[nodiscard]] std::vector<RunningGang> RunningGangs(const Case& c, std::span<const GangId> stand);
  [[nodiscard]] absl::Duration ProtectedRuntimeOf(const Gang& gang, const GangRecord& record) const;
  [[nodiscard]] RunningGang RunningGangOf(const Gang& gang, const GangRecord& record,
                                          absl::Time now);
  [[nodiscard]] std::vector<FairStrategy> StrategiesOf(const Case& c) const;
  // None: others leave, and the room is the gang's.
  [[nodiscard]] std::optional<NoPreemption> MakeRoom(Case& c, const GangRequest& request,
                                                     const Rejection& rejection);
  [[nodiscard]] std::variant<PreemptionPlan, NoPreemption> PlanRoom(
      Case& c, const GangRequest& request, const std::vector<RunningGang>& running);
  [[nodiscard]] PreemptionInput PreemptionInputOf(const Case& c, const DecideInput& input,
                                                  const std::vector<RunningGang>& running,
                                                  const std::vector<int32_t>& allowed);
  // Of its Queue.
  [[nodiscard]] PreemptionPolicy PolicyOf(const Gang& gang) const;
  struct Leaving {
    OpenHolds open;
    absl::Duration longest_grace;
  };
  [[nodiscard]] Leaving WhatIsLeft();
  [[nodiscard]] bool LeavingMakesRoom(Case& c, const GangRequest& request);
  // It left for a gang of another Queue, on terms that hold still.
  [[nodiscard]] bool WasReclaimed(const Case& c) const;
  void NoteEvictable(Case& c);
  // Keeps count of the gangs without a queue that could be evicted, by priority.
  void CountLoose(GangRecord& record, std::optional<int32_t> priority);
  [[nodiscard]] bool HasVictims(const Case& c) const;
  [[nodiscard]] uint64_t TermsBetween(const Gang& victim, const Gang& preemptor) const;
  // The gang that it left for is there still, and so are the terms.
  [[nodiscard]] bool Holds(const LeftFor& left, const Gang& victim) const;
  // It made the gang leave, on terms that hold still.
  [[nodiscard]] bool MadeLeave(const Gang& other, const Gang& gang) const;
  void NoteLeaving(GangId victim, const Gang& preemptor);
  void ForgetLeaving(GangRecord& record);

  // loop_eviction.cc
  void StartClaim(Case& c, const GangRequest& request, const std::vector<RunningGang>& running,
                  const PreemptionPlan& plan, ClaimGround ground);
  void DropClaim(GangRecord& record);
  void GiveUpClaim(Case& c);
  void SeeClaim(Case& c);
  [[nodiscard]] bool VictimsLeave(const Case& c) const;
  [[nodiscard]] bool WaitForClaim(Case& c, QueueItem item);
  [[nodiscard]] Departure::Pod NewLeaver(const Case& c, PodId pod);
  // `departure` says everything but the pods.
  void StartDeparture(GangId gang, const std::vector<PodId>& pods, Departure departure,
                      absl::Time now);
  void SeeDeparture(Case& c);
  void SendAway(PodId pod, Departure::Way way, const std::string& why, absl::Time now);
  void FollowDeparture(Case& c, Departure& departure);
  void WaitForDeparture(Departure& departure, absl::Time until);
  void EndDeparture(Case& c, DepartureEnd end);
  void HurryEvictions(absl::Time now);
  [[nodiscard]] bool CalledOff(const Case& c, const Departure& departure) const;
  void HearEviction(const Errand& errand, const WriteResult& result, absl::Time now);
  [[nodiscard]] static absl::Time NextEviction(const GangRecord& record);
  void DrainQueue(Case& c);

  // loop_reservation.cc
  // Whose time has come gets room held, keeps it, or loses it.
  void KeepReservations(absl::Time now);
  void EndReservation(GangId gang, absl::Time now);
  // False: no start is in sight.
  bool Reserve(GangId gang, absl::Time now);
  void Renew(GangId gang, absl::Time now);
  void Keep(Case& c, const GangRequest& request, const StartPlan& plan);
  void EndReservationsUnder(const Case& c, const GangRequest& request);
  [[nodiscard]] bool SendOverstayersAway(Case& c, const GangRequest& request);
  void DropReservation(GangId gang, GangRecord& record);
  // After a rejection; what never fits waits in no line.
  void WaitInLine(const Case& c, const Answer& answer);
  void LeaveLine(const Case& c);  // nothing is held for it any more
  // `on`: only there; null: anywhere.
  [[nodiscard]] std::vector<Release> Releases(absl::Time now, absl::Time by,
                                              const absl::btree_set<NodeId>* on);
  [[nodiscard]] std::optional<StartPlan> PlanStartOf(const Case& c, const GangRequest& request,
                                                     Beside beside, absl::Time by);
  void GatherHeldQuota(absl::Time now);
  // The holder has no Queue, and the gang asks for what is its own Queue's.
  [[nodiscard]] bool YieldsToNominal(const Case& c, const GangRequest& request, GangId holder,
                                     const QuotaTree& tree);
  [[nodiscard]] bool YieldsTo(const Case& c, const GangRequest& request, GangId holder,
                              const QuotaTree& tree);
  [[nodiscard]] OpenHolds HoldsThatYieldTo(const Case& c, const GangRequest& request);
  void TryHeldRoom(const Case& c, const Supposition& as_is, Answer& answer);
  [[nodiscard]] std::optional<GangId> FirstHarmedBy(const Case& c, const Plan& plan,
                                                    Supposition supposition,
                                                    std::span<const GangId> holders);
  [[nodiscard]] bool StartsBeside(const Case& other, const std::vector<FreedRoom>& taken,
                                  const Supposition& beside);
  void NoteGuest(const Case& c, const Answer& answer);
  void NoteYielded(const Answer& answer);
  [[nodiscard]] WaitingFor HeldBy(GangId holder) const;

  // loop_reservation_due.cc
  [[nodiscard]] absl::Time NextReservation();
  [[nodiscard]] absl::Time NextTurn();  // of a head, to hold room
  [[nodiscard]] absl::Status CheckTurns() const;
  [[nodiscard]] absl::Time ReservationDue(const WaitingLines::Head& head) const;
  [[nodiscard]] Opening OpeningFor(const WaitingLines::Head& head) const;
  [[nodiscard]] bool IsModest(const GangRecord& record) const;
  [[nodiscard]] absl::Time RenewalDue(const Reservation& reservation) const;

  // loop_mig.cc
  void EndMigHold(const std::string& name);
  [[nodiscard]] MigQuestion QuestionForMig(absl::Time now);
  void PlanMigNodes(absl::Time now);
  void MindMig(const GangRequest& request, absl::Time now, Rejection& rejection);
  [[nodiscard]] std::vector<WaitingPods> PodsThatWaitForNodes(absl::Time now);
  void Propose(const MigProposal& proposal, const std::string& why, absl::Time now);
  void HearNodeConfig(const std::string& name, const WriteResult& result, absl::Time now);

  // loop_report.cc
  void Report(absl::Time now);
  void ReportOn(Case& c);
  void WriteStatus(Case& c, const Standing& standing);
  void SendStatus(Case& c, PodGroupStatus status, StatusChange change);
  void OnStatusReply(GangId gang, const WriteResult& result, absl::Time now);
  void TellPods(Case& c, const Standing& standing);
  void TellPod(Case& c, const Member& member, const WaitingFor& waits);
  [[nodiscard]] std::optional<std::string> NominationOf(const Case& c, const Member& member) const;
  void ComplainOnce(Case& c, const Standing& standing);
  void CountInQueue(const Case& c, const std::optional<Standing>& standing);

  // loop_stand_in.cc
  // loop_nodes.cc
  void AskForNodes(Case& c, const Standing& standing);
  void HearNodeRequest(const Errand& errand, const WriteResult& result, absl::Time now);
  [[nodiscard]] bool AwaitsNodes(const Case& c, const WaitingFor& waits) const;

  void KeepStandIn(Case& c, const Standing& standing);
  [[nodiscard]] static bool HasSomethingToSay(const Case& c, const Standing& standing);
  void DropStandIn(Case& c);
  void HearStandIn(GangId gang, const WriteResult& result, absl::Time now);
  void TellProducer(Case& c, const Standing& standing);
  void HearPhase(const Errand& errand, const WriteResult& result, absl::Time now);

  // loop_writes.cc
  void SendEvent(const EventNote& note, absl::Time now);
  void NoteRefusal(const Errand& errand, WriteResult& result, absl::Time now);

  // loop_standing.cc
  // Whoever is charged for it.
  [[nodiscard]] std::optional<Standing> StandingAsSuch(const Case& c) const;
  [[nodiscard]] std::optional<Standing> BehindAnother(const Case& c) const;
  // Why somebody who should leave for it cannot be evicted; "" = nothing is known to forbid it.
  [[nodiscard]] std::string EvictionTrouble(const Case& c) const;
  [[nodiscard]] Standing StandingInFlight(const Case& c) const;

  // loop_help.cc
  // What of it could start with more room or quota, or with fewer members; none: nothing.
  [[nodiscard]] std::optional<ItemKind> HelpableItem(const Case& c);
  // Those that stand, and those for which room is held until they start; by name.
  [[nodiscard]] std::vector<RunningGang> GangsThatMayEnd(const Case& c);

  // loop_usage.cc
  // What its pods on nodes use of GPUs is counted from now on.
  void MeterUse(const Case& c);
  // Of the names of the Queues; "" = none.
  void CountPreempted(const std::string& by, const std::string& victim);
  [[nodiscard]] GpusSince GpusOf(const Case& c, PodId pod);
  // A pod was sent away: what it has run was in vain. The Queue's name; "" = none.
  void CountLost(const std::string& queue, const GpusSince& had, absl::Time now);
  void CountAllLost(const Case& c);  // of all members on nodes

  // `rest` begins with what separates it from the gang.
  void Log(const Case& c, absl::string_view what, std::string rest = "", int64_t steps = 0);
  void LogOf(absl::string_view what, absl::string_view subject, std::string rest, absl::Time now);

  WarmState& warm_;
  // … of which it uses:
  const LoopOptions& options_;
  Random& random_;
  ClusterState& state_;
  QueueDirectory& directory_;
  QuotaLedger& ledger_;
  MigFleet& mig_fleet_;
  Errands& errands_;
  Delta& news_;
  LoopCounters& counters_;

  std::unique_ptr<GangQueue> queue_ = std::make_unique<GangQueue>();
  uint64_t charge_epoch_ = 0;  // rises whenever pods may cost something else, or somebody else
  absl::btree_map<GangId, std::unique_ptr<GangRecord>> records_;
  // Of Volcano's group; false: its status is written with the object itself.
  bool volcano_has_status_ = true;
  bool first_look_ = true;  // what was used since the last leader told is still to be counted

  bool domains_lost_ = false;  // nodes have gone since parked gangs were last woken
  // A gang of a Queue, or one without, or a member of it, can now be made to leave.
  bool more_victims_ = false, more_loose_ = false;
  // The highest priority of any gang that has ever looked for victims without a Queue.
  int32_t boldest_ = std::numeric_limits<int32_t>::min();
  // Something of them is placed, and no Queue that they name admits them: till Queues or
  // namespaces change.
  absl::btree_set<GangId> unadmitted_;
  absl::btree_set<GangId> touched_;    // to be looked at
  absl::btree_set<GangId> to_report_;  // to be reported on at the end of this turn
  std::set<std::pair<absl::Time, GangId>> timetable_;
  SearchShares shares_;
  absl::btree_map<std::string, int64_t> lane_steps_;  // since the lane let others go first
  RoomCache rooms_;
  std::map<int32_t, int64_t> loose_priorities_;
  bool usage_changed_ = false;  // of some Queue, since the statuses were looked at
  absl::btree_map<std::string, std::weak_ptr<const WaitingFor>> last_noted_;  // by Queue
  absl::btree_map<QuotaNodeId, GangId> told_head_;  // of StrictFIFO queues: whom others wait behind
  int64_t bans_ = 0;                                // gangs that remember whom they left for
  absl::btree_set<GangId> departing_;               // those with a departure
  absl::btree_set<GangId> mending_;  // hold room for members they have lost; some may linger
  // Gangs that evict nobody, because others leave anyway, and since when.
  absl::btree_map<GangId, absl::Time> waits_for_leaving_;
  WaitingLines lines_;                 // quorums that were rejected, and may start some day
  absl::btree_set<GangId> holders_;    // of reservations; all of them stand in lines
  bool lines_wait_ = false;            // until some reservation ends: the first needs its room
  DueTimes<std::string> turns_;        // of the heads of Queues, as of the last NextTurn
  bool openings_changed_ = true;       // … what all of these depend on has changed since
  bool reservations_changed_ = false;  // some are to be looked at before the next decision

  absl::Time mig_planned_ = absl::InfinitePast();
  absl::Time mig_due_ = absl::InfinitePast();  // the next plan; past: as soon as may be

  std::vector<WriteCommand> writes_;
  // As kube-scheduler's, by namespace and uid.
  // What is forgotten early may say a little more, and whoever makes so many objects says more
  // anyway.
  WriteBudget<std::string> event_budget_{
      {.burst = 25, .interval = absl::Minutes(5), .most_objects = 8'192}};
  WriteBudget<PodId> pod_budget_{{.interval = absl::Seconds(1)}};        // of conditions
  WriteBudget<Right> complaint_budget_{{.interval = absl::Minutes(1)}};  // of lines in the log
};

}  // namespace maniple
