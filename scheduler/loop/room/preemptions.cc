#include "scheduler/loop/room/preemptions.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "scheduler/cycle/victims/preemption.h"
#include "scheduler/loop/desk/preemption_rights.h"
#include "scheduler/loop/desk/waits_for.h"
#include "scheduler/loop/records/whole_units.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// Where nobody knows when its quorum was bound (its PodGroup is gone): the first of its members
// that stand runs since then. Never `now`, which would protect it for ever.
absl::Time BeganBy(const Gang& gang) {
  absl::Time began = absl::InfiniteFuture();
  for (const Member& member : gang.members) {
    if (member.state != MemberState::kBound) continue;
    began = std::min(began, std::max(member.started, member.created));
  }
  return began;
}

}  // namespace

bool Preemptions::MayPreempt(const Case& c, const Rejection& rejection) const {
  if (!c.gang.preempts || c.now < c.record.no_preemption_until) return false;
  switch (rejection.code) {
    case RejectionCode::kQuotaExceeded:
    case RejectionCode::kNoFit:
    case RejectionCode::kTopologyNoFit:
      break;
    case RejectionCode::kExceedsMaxQuota:
    case RejectionCode::kNeverFits:
    case RejectionCode::kSearchLimitReached:
    case RejectionCode::kVolumesNotReady:
    case RejectionCode::kUnsupported:
    case RejectionCode::kInvalidSpec:
      return false;
  }
  // Gangs without a Queue stand in the way of room, and never of quota.
  const bool lacks_room =
      rejection.code != RejectionCode::kQuotaExceeded || rejection.nodes_in_the_way;
  if (c.gang.queue.empty() || lacks_room) return true;
  return PoliciesLetEvict(c);
}

// By the policies of the gang's Queue.
bool Preemptions::PoliciesLetEvict(const Case& c) const {
  const Queue* queue = desk_.ledger.book().FindQueue(c.gang.queue);
  return queue != nullptr &&
         (queue->within_queue != WithinQueuePreemption::kNever ||
          queue->reclaim != ReclaimWithinCohort::kNever || queue->borrow_preempts_lower_priority);
}

// A user protects a gang only for as long as the platform team lets the Queue's users do so.
absl::Duration Preemptions::ProtectedRuntimeOf(const Gang& gang, const GangRecord& record) const {
  const Queue* queue = desk_.ledger.book().FindQueue(record.queue);
  if (queue == nullptr) return absl::ZeroDuration();
  return std::max(queue->min_runtime,
                  std::min(gang.spec.protected_runtime, queue->most_protected_runtime));
}

RunningGang Preemptions::RunningGangOf(const Gang& gang, const GangRecord& record, absl::Time now) {
  const Tables& tables = *desk_.Picture().tables;
  // An earlier leader's clock may have been ahead of ours; that protects no gang for longer.
  const absl::Time started = std::min(record.quorum_reached_at.value_or(BeganBy(gang)), now);
  RunningGang entry{.gang = gang.id,
                    .name = GangText(gang.key),
                    .queue = QueueOf(record),
                    .priority = gang.priority,
                    .queued = QueuedAt(gang, record),
                    .started = started,
                    .protected_until = started + ProtectedRuntimeOf(gang, record),
                    .members = {},
                    .surplus = SurplusOf(gang)};
  const bool guarded = desk_.state.AnyBudgetIn(gang.key.namespace_name);
  entry.members.reserve(gang.members.size());
  // Most members cost what the one before them does.
  PlacedPods before;
  Demand charge;
  const std::vector<int32_t> units = UnitsOf(gang);
  for (size_t i = 0; i < gang.members.size(); ++i) {
    const Member& member = gang.members[i];
    if (member.state != MemberState::kBound || !member.node.valid()) continue;
    const PlacedPods placed{
        .shape = member.shape, .node = member.node, .kind = desk_.ledger.KindOf(member.node)};
    if (placed.shape != before.shape || placed.kind != before.kind || !placed.kind.valid()) {
      charge = desk_.ledger.CostOf(record.queue, {&placed, 1}, tables);
      before = placed;
    }
    entry.members.push_back(
        {.pod = member.pod,
         .node = member.node,
         .shape = member.shape,
         .sub_group = member.rank.sub_group,
         .charge = charge,
         .budgets = guarded ? desk_.state.BudgetsOf(member.pod) : std::vector<uint32_t>(),
         .unit = units.empty() ? -1 : units[i]});
  }
  for (const PlacedPods& room : HeldPods(record)) {
    if (room.node.valid()) entry.held.push_back({room.node, room.shape, Occupant::kHold});
  }
  entry.held_charge = charges_.HeldCharge(record);
  return entry;
}

bool Preemptions::Stands(const Gang& gang, const GangRecord& record) {
  if (record.departure.has_value() && !record.departure->SurplusIsOnItsWayOut()) return false;
  if (record.binding.has_value() && !record.binding->Stands()) return false;
  return std::ranges::any_of(gang.members, [](const Member& member) {
    return member.state == MemberState::kBound && member.node.valid();
  });
}

QuotaNodeId Preemptions::QueueOf(const GangRecord& record) const {
  const QuotaBook& book = desk_.ledger.book();
  return book.FindQueue(record.queue) == nullptr ? QuotaNodeId() : book.QueueNamed(record.queue);
}

std::vector<GangId> Preemptions::GangsThatStand() const {
  std::vector<GangId> stand;
  for (const auto& [id, record] : desk_.records) {
    const Gang* gang = desk_.state.FindGang(id);
    if (gang != nullptr && Stands(*gang, *record)) stand.push_back(id);
  }
  return stand;
}

// The standing gangs that the preemptor's policy could reach at all.
std::vector<RunningGang> Preemptions::RunningGangs(const Case& c, std::span<const GangId> stand) {
  const QuotaNodeId queue = desk_.ledger.book().QueueNamed(c.gang.queue);
  const auto in_reach = [&](const Gang& gang, const GangRecord& record) {
    const QuotaNodeId theirs = QueueOf(record);
    if (!theirs.valid()) return gang.priority < c.gang.priority;
    return queue.valid() && desk_.ledger.tree().Root(theirs) == desk_.ledger.tree().Root(queue);
  };
  std::vector<RunningGang> running;
  for (const GangId id : stand) {
    const Gang& gang = *desk_.state.FindGang(id);
    const GangRecord& record = *desk_.records.at(id);
    if (id == c.gang.id || !in_reach(gang, record) || reversals_.MadeLeave(gang, c.gang)) continue;
    running.push_back(RunningGangOf(gang, record, c.now));
  }
  std::ranges::sort(running, {}, &RunningGang::name);
  return running;
}

std::variant<Preemptions::RoomMade, NoPreemption> Preemptions::MakeRoom(
    Case& c, const GangRequest& request, const Rejection& rejection) {
  if (!c.gang.preempts) return NoPreemption{.message = "its own preemption policy is Never"};
  if (!MayPreempt(c, rejection) || !HasVictims(c)) return NoPreemption();
  const std::vector<RunningGang> running = RunningGangs(c, GangsThatStand());
  const LeavingPods leaving = LeavingToAwait(c);
  auto answer = PlanRoom(c, request, running, leaving);
  if (auto* none = std::get_if<NoPreemption>(&answer)) return std::move(*none);
  const auto& plan = std::get<PreemptionPlan>(answer);
  std::vector<GangId> victims;
  for (const Victim& victim : plan.victims) victims.push_back(running[victim.running].gang);
  if (evictions_.HoldsYield(c, request, victims)) return RoomMade::kHoldsYield;
  const WaitingFor otherwise = WaitsFor(request, rejection, desk_);
  evictions_.StartClaim(
      c, request, running, plan, AwaitedFor(c, request, plan, leaving), ClaimGround::kPolicy,
      absl::StrCat("to start beside everybody: ", WaitReasonName(otherwise.reason), ": ",
                   otherwise.message, "; ", running.size(),
                   running.size() == 1 ? " gang" : " gangs", " might have left for it"));
  return RoomMade::kVictimsLeave;
}

std::variant<PreemptionPlan, NoPreemption> Preemptions::PlanRoom(
    Case& c, const GangRequest& request, const std::vector<RunningGang>& running,
    const LeavingPods& leaving) {
  for (const RunningGang& gang : running) {
    if (gang.protected_until > c.now) {
      c.record.victims_later = std::min(c.record.victims_later, gang.protected_until);
    }
  }
  if (LeavingMakesRoom(c, request, leaving)) {
    return NoPreemption{.message =
                            "nobody has to leave for it: pods that are on their way out "
                            "already make room"};
  }
  if (running.empty()) {
    c.record.leaving_awaited_since.reset();
    return NoPreemption{.message = "no running gang may be evicted"};
  }
  std::vector<int32_t> allowed;
  for (const BudgetFacts& budget : desk_.state.Budgets()) allowed.push_back(budget.allowed);
  evictions_.TakePromised(allowed);
  Supposition supposition = charges_.Suppose(c, request);
  const OpenHolds yielding = yielding_.HoldsThatYieldTo(c, supposition);
  if (!leaving.others_wait) supposition.Free(leaving.open);
  supposition.Free(yielding);
  const DecideInput input = supposition.Input();
  auto answer = PlanPreemption(PreemptionInputOf(c, input, running, allowed));
  if (std::holds_alternative<NoPreemption>(answer)) c.record.leaving_awaited_since.reset();
  return answer;
}

PreemptionInput Preemptions::PreemptionInputOf(const Case& c, const DecideInput& input,
                                               const std::vector<RunningGang>& running,
                                               const std::vector<int32_t>& allowed) {
  PreemptionInput preemption{.decide = input,
                             .profile = desk_.options.profile,
                             .priority = c.gang.priority,
                             .queued = QueuedAt(c.gang, c.record),
                             .policy = PolicyOf(desk_, c.gang),
                             .fair_sharing = desk_.options.fair_sharing,
                             .strategies = StrategiesOf(desk_, c),
                             .ignore_pdb = desk_.options.ignore_pdb,
                             .running = running,
                             .allowed = allowed};
  // A gang that was reclaimed, and evicts gangs of its own Queue to come back,
  // could go round for ever.
  if (reversals_.WasReclaimed(c)) {
    preemption.own_victims = OwnVictims::kWithinNominal;
  }
  return preemption;
}

// It is on its way out, or its gang was asked to leave.
bool Preemptions::Leaves(const Member& member, const GangRecord& record) {
  const bool whole = record.departure.has_value() && record.departure->whole;
  const bool leaves =
      member.state == MemberState::kTerminating || (whole && member.state == MemberState::kBound);
  return leaves && member.node.valid();
}

LeavingPods Preemptions::WhatIsLeft(GangId to) {
  const Tables& tables = *desk_.Picture().tables;
  LeavingPods leaving;
  const int32_t priority = desk_.state.FindGang(to)->priority;
  for (const auto& [id, record] : desk_.records) {
    const Gang* gang = desk_.state.FindGang(id);
    if (gang == nullptr) continue;
    const bool waits = id != to && gang->priority >= priority && !record->claim.has_value() &&
                       record->leaving_awaited_since.has_value();
    leaving.others_wait = leaving.others_wait || waits;
    const QuotaNodeId queue = QueueOf(*record);
    for (const Member& member : gang->members) {
      if (!Leaves(member, *record)) continue;
      const absl::Duration grace = desk_.state.FindPod(member.pod)->grace;
      if (grace > kLongestGrace) continue;
      const PlacedPods placed{.shape = member.shape, .node = member.node};
      leaving.open.rooms.push_back({.node = member.node, .shape = member.shape});
      leaving.pods.push_back(
          {.pod = member.pod, .node = member.node, .queue = queue, .grace = grace});
      if (!queue.valid()) continue;
      leaving.open.quota.emplace_back(queue,
                                      desk_.ledger.CostOf(record->queue, {&placed, 1}, tables));
    }
  }
  absl::btree_set<PodId> gone;
  for (const LeavingPods::Pod& pod : leaving.pods) gone.insert(pod.pod);
  leaving.open.taken = charges_.TakenOver(gone, to);
  return leaving;
}

// Room that others leave anyway is as good as the room of victims, as long as they do leave: none,
// if the gang has waited for that in vain.
LeavingPods Preemptions::LeavingToAwait(Case& c) {
  LeavingPods leaving = WhatIsLeft(c.gang.id);
  std::optional<absl::Time>& since = c.record.leaving_awaited_since;
  if (leaving.pods.empty()) since.reset();
  const bool in_vain = since.has_value() && c.now >= *since + leaving.Patience();
  return in_vain ? LeavingPods() : leaving;
}

// Nobody has to leave for it.
bool Preemptions::LeavingMakesRoom(Case& c, const GangRequest& request,
                                   const LeavingPods& leaving) {
  if (leaving.pods.empty()) return false;
  Supposition supposition = charges_.Suppose(c, request);
  const OpenHolds yielding = yielding_.HoldsThatYieldTo(c, supposition);
  supposition.Free(leaving.open);
  supposition.Free(yielding);
  if (!FindPlan(supposition.Input(), desk_.options.profile).has_value()) return false;
  std::optional<absl::Time>& since = c.record.leaving_awaited_since;
  const absl::Time until = since.has_value() ? *since : since.emplace(c.now);
  c.record.victims_later = std::min(c.record.victims_later, until + leaving.Patience());
  return true;
}

// The part of `leaving` that the plan may count on: whoever leaves its nodes, or gives quota back
// in its tree of Cohorts. All of them, where it looks at pods of other nodes, or uses claims that
// only one pod may use.
LeavingPods Preemptions::AwaitedFor(const Case& c, const GangRequest& request,
                                    const PreemptionPlan& plan, const LeavingPods& leaving) const {
  const QuotaTree& tree = desk_.ledger.tree();
  const QuotaNodeId queue = desk_.ledger.book().QueueNamed(c.gang.queue);
  LeavingPods awaited;
  if (leaving.others_wait) return awaited;
  const Tables& tables = *desk_.Picture().tables;
  const bool looks_everywhere = absl::c_any_of(request.wants, [&](const Want& want) {
    const VolumeNeeds* needs = tables.ShapeOf(want.shape).constraints.volumes.get();
    return desk_.state.AsksOfPods(want.shape) ||
           (needs != nullptr && absl::c_any_of(needs->uses, [](const VolumeUse& use) {
              return use.kind == VolumeUseKind::kExclusive;
            }));
  });
  for (const LeavingPods::Pod& pod : leaving.pods) {
    const bool in_tree =
        queue.valid() && pod.queue.valid() && tree.Root(pod.queue) == tree.Root(queue);
    if (in_tree || looks_everywhere ||
        absl::c_any_of(plan.plan.placements,
                       [&pod](const Placement& place) { return place.node == pod.node; })) {
      awaited.pods.push_back(pod);
    }
  }
  return awaited;
}

// Gangs that look for victims must hear of each new one.
void Preemptions::CountLoose(GangRecord& record, std::optional<int32_t> priority) {
  if (record.loose_priority == priority) return;
  if (record.loose_priority.has_value()) {
    const auto it = loose_priorities_.find(*record.loose_priority);
    if (--it->second == 0) loose_priorities_.erase(it);
  }
  if (priority.has_value()) ++loose_priorities_[*priority];
  record.loose_priority = priority;
}

bool Preemptions::HasVictims(const Case& c) const {
  if (PoliciesLetEvict(c)) return true;
  return !loose_priorities_.empty() && loose_priorities_.begin()->first < c.gang.priority;
}

void Preemptions::NoteEvictable(Case& c) {
  const auto bound = [](const Member& member) {
    return member.state == MemberState::kBound && member.node.valid();
  };
  const bool stands = Stands(c.gang, c.record);
  const bool loose = !QueueOf(c.record).valid();
  const auto leaves = [&c](const Member& member) { return Leaves(member, c.record); };
  const Evictable evictable{.pods = stands ? std::ranges::count_if(c.gang.members, bound) : 0,
                            .leaving = std::ranges::count_if(c.gang.members, leaves),
                            .priority = c.gang.priority,
                            .generation = c.gang.group_generation,
                            .queued = QueuedAt(c.gang, c.record)};
  CountLoose(c.record,
             evictable.pods > 0 && loose ? std::optional<int32_t>(c.gang.priority) : std::nullopt);
  const Evictable before = c.record.evictable.has_value() ? *c.record.evictable : Evictable();
  if (evictable.leaving > before.leaving) {
    more_victims_ = more_loose_ = true;  // somebody may need fewer victims beside it
  } else if (evictable.MayHelpMoreThan(before)) {
    if (!loose) more_victims_ = true;
    if (loose && c.gang.priority < boldest_) more_loose_ = true;
  }
  if (evictable.pods > 0 || evictable.leaving > 0) {
    c.record.evictable = evictable;
  } else {
    c.record.evictable.reset();
  }
}

}  // namespace maniple
