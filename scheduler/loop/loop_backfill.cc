// Backfill: who may use room that is held for others, and what becomes of those who outstay.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/loop/leadership.h"
#include "scheduler/report/message.h"

namespace maniple {

OpenHolds Leadership::HoldsThatYieldTo(const Case& c, const GangRequest& request) {
  OpenHolds open;
  for (const GangId holder : holders_) {
    if (holder == c.gang.id || !YieldsTo(c, request, holder, ledger_.tree())) continue;
    open.Add(holder, *records_.at(holder), ledger_.book());
  }
  return open;
}

bool Leadership::YieldsToNominal(const Case& c, const GangRequest& request, GangId holder,
                                 const QuotaTree& tree) {
  const Gang* other = state_.FindGang(holder);
  return other != nullptr && other->queue.empty() && AsksWithinNominal(c, request, tree);
}

// May the gang preempt the holder, as if that ran already? Or use what is its Queue's own before
// whoever has none?
bool Leadership::YieldsTo(const Case& c, const GangRequest& request, GangId holder,
                          const QuotaTree& tree) {
  const Gang* other = state_.FindGang(holder);
  if (other == nullptr) return false;
  if (YieldsToNominal(c, request, holder, tree)) return true;
  // What has begun is mended before anything else begins that is not more important.
  if (c.record.binding.has_value()) return other->priority <= c.gang.priority;
  if (!c.gang.preempts) return false;
  const bool lower = other->priority < c.gang.priority;
  // Who has no Queue yields by priority alone, to everybody.
  if (other->queue.empty()) return lower;
  const Queue* queue = ledger_.book().FindQueue(c.gang.queue);
  if (queue == nullptr) return false;
  const GangRecord& record = *records_.at(holder);
  if (other->queue == c.gang.queue) {
    switch (queue->within_queue) {
      case WithinQueuePreemption::kNever:
        return false;
      case WithinQueuePreemption::kLowerPriority:
        return lower;
      case WithinQueuePreemption::kLowerOrNewerEqualPriority:
        return lower || (other->priority == c.gang.priority &&
                         QueuedAt(*other, record) > QueuedAt(c.gang, c.record));
    }
    return false;
  }
  const bool allowed = queue->reclaim == ReclaimWithinCohort::kAny ||
                       (queue->reclaim == ReclaimWithinCohort::kLowerPriority && lower);
  const QuotaNodeId own = ledger_.book().QueueNamed(c.gang.queue);
  const QuotaNodeId theirs = ledger_.book().QueueNamed(other->queue);
  if (!allowed || !own.valid() || !theirs.valid()) return false;
  return tree.Root(own) == tree.Root(theirs) &&
         tree.BorrowsWith(theirs, theirs, Lacking(*record.reservation)) &&
         AsksWithinNominal(c, request, tree);
}

// The gang was rejected; would it start with what is held for others, and may it use that?
void Leadership::TryHeldRoom(const Case& c, const Supposition& as_is, Answer& answer) {
  OpenHolds may_use, kept;
  std::vector<GangId> in_time;
  if (holders_.empty()) return;
  const std::optional<absl::Duration> runtime = ExpectedRuntime(c.gang);
  for (const GangId holder : holders_) {
    if (holder == c.gang.id) continue;
    const GangRecord& record = *records_.at(holder);
    const Reservation& reservation = *record.reservation;
    const bool yields = YieldsTo(c, as_is.request(), holder, as_is.tree());
    const bool ends_before = !c.record.binding.has_value() && runtime.has_value() &&
                             reservation.end == EndIs::kKnown &&
                             c.now + *runtime <= reservation.start;
    (yields || ends_before ? may_use : kept).Add(holder, record, ledger_.book());
    if (ends_before && !yields) in_time.push_back(holder);
  }
  if (may_use.holders.empty() && kept.holders.empty()) return;
  Supposition with = as_is;
  with.Free(may_use);
  if (!may_use.holders.empty()) {
    if (std::optional<Plan> plan = FindPlan(with.Input(), options_.profile)) {
      answer.decision = *std::move(plan);
      answer.guest_of = std::move(in_time);
      answer.used = std::move(may_use.holders);
    }
  }
  if (!kept.holders.empty() && std::holds_alternative<Rejection>(answer.decision)) {
    with.Free(kept);
    if (std::optional<Plan> plan = FindPlan(with.Input(), options_.profile)) {
      answer.kept_out_by = FirstHarmedBy(c, *plan, with, kept.holders);
      if (!answer.kept_out_by.has_value()) {
        answer.decision = *std::move(plan);
        answer.guest_of = std::move(in_time);
        answer.used = std::move(may_use.holders);
      }
    }
  }
}

// The holder that could not start as planned beside the plan, as far as the ends of those who stand
// in its room are known; none: they all could. REQUIRES: what they hold is supposed to be free.
std::optional<GangId> Leadership::FirstHarmedBy(const Case& c, const Plan& plan,
                                                Supposition supposition,
                                                std::span<const GangId> holders) {
  const GangRequest& request = supposition.request();
  std::vector<FreedRoom> taken;
  std::vector<PlacedPods> placed;
  for (const Placement& place : plan.placements) {
    const ShapeId shape = std::ranges::find(request.wants, place.pod, &Want::pod)->shape;
    taken.push_back({.node = place.node, .shape = shape});
    placed.push_back({.shape = shape, .node = place.node});
  }
  if (supposition.queue().valid()) {
    supposition.Charge(supposition.queue(),
                       ledger_.CostOf(request.queue, placed, *Picture().tables));
  }
  const auto harmed = std::ranges::find_if(holders, [&](GangId holder) {
    return !StartsBeside(*Open(holder, c.now), taken, supposition);
  });
  return harmed == holders.end() ? std::nullopt : std::optional(*harmed);
}

bool Leadership::StartsBeside(const Case& other, const std::vector<FreedRoom>& taken,
                              const Supposition& beside) {
  const Reservation& reservation = *other.record.reservation;
  GangRequest request = RequestOf(other, ItemKind::kQuorum);
  request.work = beside.request().work;
  Supposition then(
      {.snapshot = Picture(), .request = request, .now = other.now, .seed = options_.seed},
      beside.tree(), AskFor(other, request));
  absl::btree_set<NodeId> rooms;
  for (const Reservation::Room& room : reservation.rooms) rooms.insert(room.node);
  then.Restrict(rooms, Supposition::To::kThese);
  OpenHolds gone;
  for (Release& release : Releases(other.now, other.now, &rooms)) {
    if (release.end != EndIs::kKnown || release.at > reservation.start) continue;
    gone.rooms.push_back(release.room);
    if (release.queue.valid()) gone.quota.emplace_back(release.queue, release.charge);
  }
  then.Free(gone);
  then.Promise(taken);
  return FindPlan(then.Input(), options_.profile).has_value();
}

WaitingFor Leadership::HeldBy(GangId holder) const {
  const Reservation& reservation = *records_.at(holder)->reservation;
  return {.reason = WaitReason::kHeldByReservation,
          .message = absl::StrCat("the room that it would need is held for ",
                                  GangText(state_.FindGang(holder)->key), ", which is to start at ",
                                  StartText(reservation))};
}

void Leadership::NoteGuest(const Case& c, const Answer& answer) {
  c.record.backfill.reset();
  for (const GangId holder : holders_) {
    if (state_.FindGang(holder)->queue != c.gang.queue) continue;
    records_.at(holder)->reservation->newcomers.push_back(c.gang.id);
  }
  for (const GangId holder : answer.used) {
    if (std::ranges::find(answer.guest_of, holder) == answer.guest_of.end()) continue;
    Reservation& reservation = *records_.at(holder)->reservation;
    reservation.guests.push_back(c.gang.id);
    ++counters_.backfills;
    Log(c, "backfill",
        absl::StrCat(" before ", GangText(state_.FindGang(holder)->key), " at ",
                     absl::FormatTime(reservation.start, absl::UTCTimeZone())));
    c.record.backfill = Backfill{.end = c.now + ExpectedRuntime(c.gang).value()};
  }
}

// Those whose held room was taken for good plan anew.
void Leadership::NoteYielded(const Answer& answer) {
  for (const GangId holder : answer.used) {
    if (std::ranges::find(answer.guest_of, holder) != answer.guest_of.end()) continue;
    records_.at(holder)->reservation->lost = reservations_changed_ = true;
  }
}

// Gangs that were let in because they were to end in time, and did not, leave as soon as their room
// is enough for the holder to start.
bool Leadership::SendOverstayersAway(Case& c, const GangRequest& request) {
  std::vector<RunningGang> late;
  for (const GangId guest : c.record.reservation->guests) {
    const auto it = records_.find(guest);
    const Gang* gang = state_.FindGang(guest);
    if (it == records_.end() || gang == nullptr) continue;
    const GangRecord& record = *it->second;
    if (!record.backfill.has_value() || c.now < record.backfill->end + kEndGrace) continue;
    if (!Stands(*gang, record)) continue;
    RunningGang entry = RunningGangOf(*gang, record, c.now);
    if (!entry.members.empty()) late.push_back(std::move(entry));
  }
  if (late.empty()) return false;
  const Supposition as_is = Suppose(c, request);
  // One is enough, or it takes them all.
  std::optional<PreemptionPlan> plan;
  for (size_t i = 0; i <= late.size() && !plan.has_value(); ++i) {
    PreemptionPlan trial;
    OpenHolds gone;
    for (size_t k = 0; k < late.size(); ++k) {
      if (i < late.size() && k != i) continue;
      Victim victim{
          .running = k, .pods = {}, .past_budgets = options_.ignore_pdb == IgnorePdb::kAlways};
      for (const VictimPod& pod : late[k].members) {
        victim.pods.push_back(pod.pod);
        gone.rooms.push_back({pod.node, pod.shape});
        if (late[k].queue.valid()) gone.quota.emplace_back(late[k].queue, pod.charge);
      }
      gone.rooms.insert(gone.rooms.end(), late[k].held.begin(), late[k].held.end());
      if (late[k].queue.valid()) gone.quota.emplace_back(late[k].queue, late[k].held_charge);
      trial.victims.push_back(std::move(victim));
    }
    Supposition without = as_is;
    without.Free(gone);
    if (std::optional<Plan> found = FindPlan(without.Input(), options_.profile)) {
      trial.plan = *std::move(found);
      plan = std::move(trial);
    }
  }
  if (!plan.has_value()) return false;
  StartClaim(c, request, late, *plan, ClaimGround::kOverstay);
  queue_->Offer({c.gang.id, ItemKind::kQuorum}, OrderOf(c, ItemKind::kQuorum));
  to_report_.insert(c.gang.id);
  return true;
}

}  // namespace maniple
