// One item of the queue after the other: decided and started, or parked with what could help it.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/loop/leadership.h"
#include "scheduler/report/message.h"
#include "scheduler/report/quota_report.h"

namespace maniple {
namespace {

// Who is kept out by a hold alone may be let in for what it is, which others of its class are not.
std::string HeldClassOf(const Gang& gang, absl::string_view otherwise) {
  const std::optional<absl::Duration> said = ExpectedRuntime(gang);
  const std::string runtime = said.has_value() ? absl::FormatDuration(*said) : "?";
  return absl::StrCat("held from ", gang.queue, " ", gang.priority, " ", runtime, " ", otherwise);
}

// Whether members wait for volumes that others may have now.
bool CompetesForVolumes(const GangRequest& request, const Tables& tables) {
  return std::ranges::any_of(request.wants, [&tables](const Want& want) {
    const VolumeNeeds* needs = tables.ShapeOf(want.shape).constraints.volumes.get();
    return needs != nullptr && (!needs->unbound.empty() || !needs->uses.empty());
  });
}

}  // namespace

void Leadership::DecideReady(absl::Time now) {
  if (warm_.draining) return;
  const int64_t enough = counters_.search_steps + options_.search.turn;
  for (int32_t n = 0; n < options_.decisions_per_turn && counters_.search_steps < enough; ++n) {
    if (errands_.binds() >= options_.max_binds_under_way) return;
    const std::optional<QueueItem> item = queue_->Pop(now);
    if (!item.has_value()) {
      lane_steps_.clear();
      return;
    }
    Serve(*item, now);
    if (std::exchange(reservations_changed_, false)) KeepReservations(now);
    WakeParked(now);  // what was given back meanwhile may help others
  }
}

void Leadership::Serve(QueueItem item, absl::Time now) {
  std::optional<Case> c = Open(item.gang, now);
  if (!c.has_value() || ItemOf(*c) != item.kind) {
    queue_->Remove(item);
    if (c.has_value()) c->record.queued.reset();
    return;
  }
  to_report_.insert(item.gang);
  if (ParkUndecided(*c, item)) return;
  const absl::Time began = options_.stopwatch ? options_.stopwatch() : absl::InfinitePast();
  GangRequest request = RequestOf(*c, item.kind);
  SearchWork work = WorkFor(*c, request);
  request.work = &work;
  ++counters_.decisions;
  const Answer answer = Ask(*c, request);
  const bool found = std::holds_alternative<Plan>(answer.decision);
  if (found) {
    TakePlan(*c, item, answer, work);
  } else {
    ParkRejected(*c, item, request, answer);
  }
  NoteSearch(*c, work, found ? CameTo::kAPlan : CameTo::kNothing);
  if (!options_.stopwatch) return;
  (found ? counters_.took_to_place : counters_.took_to_reject).Note(options_.stopwatch() - began);
}

bool Leadership::ParkUndecided(Case& c, QueueItem item) {
  if (MustWaitToSearch(c)) {
    PutOffSearch(c, item);
    return true;
  }
  WaitingFor waits;
  ParkFacts facts;
  if (c.record.volumes_again_at.value_or(absl::InfinitePast()) > c.now) {
    waits = {.reason = WaitReason::kVolumesNotReady, .message = *c.record.volume_trouble};
    facts = {.class_key = absl::StrCat("volumes ", c.gang.id.index()),
             .until = *c.record.volumes_again_at};
  } else if (const std::optional<QueueRefusal> refusal = RefusalOf(c, item.kind)) {
    waits = {.reason = refusal->reason, .message = refusal->message};
    facts = {.class_key = absl::StrCat("queue ", c.gang.queue, " ", c.gang.key.namespace_name),
             .relief = kReliefQueue,
             .blocks = false};  // it may hold for this gang alone
  } else if (item.kind == ItemKind::kQuorum && c.now < c.record.backoff_until) {
    const std::string because = c.record.undone_because.has_value()
                                    ? absl::StrCat(" (", *c.record.undone_because, ")")
                                    : "";
    waits = {.reason = WaitReason::kBackingOff,
             .message = absl::StrCat("the binding was undone", because, "; tried again at ",
                                     ClockText(c.record.backoff_until))};
    facts = {.class_key = absl::StrCat("backoff ", c.gang.id.index()),
             .until = c.record.backoff_until};
  } else {
    return false;
  }
  Note(c, item, std::move(waits));
  LeaveLine(c);
  Park(c, item, std::move(facts));
  return true;
}

std::optional<QueueRefusal> Leadership::RefusalOf(const Case& c, ItemKind kind) {
  // What is in flight already the Queue that let it in cannot stop.
  const bool admitted = kind == ItemKind::kRepair && c.gang.admitted_queue.has_value();
  return admitted ? RefusalOfMore(c) : directory_.RefusalOf(c.gang, ledger_.book());
}

void Leadership::TakePlan(Case& c, QueueItem item, const Answer& answer, const SearchWork& work) {
  const Plan& plan = std::get<Plan>(answer.decision);
  ++counters_.plans;
  if (item.kind == ItemKind::kRepair) ++counters_.repairs;
  Log(c, "place", absl::StrCat(" ", ItemName(item.kind), ": ", PlacesText(plan.placements)),
      work.used());
  queue_->Started(item);
  c.record.queued.reset();
  c.record.waiting.reset();
  c.record.surplus_waiting.reset();
  DropHolds(c.record);
  if (c.record.claim.has_value()) {
    counters_.room_made.Note(c.now - c.record.claim->since);
  }
  DropClaim(c.record);
  waits_for_leaving_.erase(item.gang);
  switch (item.kind) {
    case ItemKind::kQuorum:
      LeaveLine(c);
      NoteGuest(c, answer);
      c.record.domains = plan.domains;
      c.record.decided_at = c.now;
      break;
    case ItemKind::kRepair:
    case ItemKind::kSurplus:
      break;
  }
  NoteYielded(answer);
  if (!StartVolumes(c, plan.placements)) StartBinding(c, plan.placements);
}

std::string Leadership::PlacesText(const std::vector<Placement>& placements) const {
  std::vector<std::string> places;
  for (const Placement& placement : placements) {
    places.push_back(
        absl::StrCat(state_.FindPod(placement.pod)->name, "=", state_.NodeName(placement.node)));
  }
  return absl::StrJoin(places, " ");
}

void Leadership::ParkRejected(Case& c, QueueItem item, const GangRequest& request,
                              const Answer& answer) {
  const auto& rejection = std::get<Rejection>(answer.decision);
  c.record.victims_later = absl::InfiniteFuture();
  if (WaitForClaim(c, item)) return;
  NoPreemption nobody;
  const bool for_quorum = item.kind != ItemKind::kSurplus;
  if (for_quorum) {
    std::optional<NoPreemption> none = MakeRoom(c, request, rejection);
    if (!none.has_value() && WaitForClaim(c, item)) return;
    nobody = std::move(none).value_or(NoPreemption());
  }
  if (Unfinished(*request.work)) return PutOffSearch(c, item);
  if (item.kind == ItemKind::kQuorum) WaitInLine(c, answer);
  ++counters_.rejections;
  if (rejection.code == RejectionCode::kSearchLimitReached) ++counters_.searches_given_up;
  const Tables& tables = *Picture().tables;
  WaitingFor waits{.reason = ReasonOf(rejection.code),
                   .message = RejectionText(rejection, tables),
                   .nodes = NodeReasonLines(rejection, tables),
                   .no_preemption = std::move(nobody.message)};
  if (rejection.quota.has_value() && rejection.quota->cell.valid()) {
    waits.quota = QuotaLineOf(*rejection.quota, ledger_.book());
    waits.message = QuotaText(*waits.quota);
    waits.quota->borrowers = {};
  }
  if (rejection.code == RejectionCode::kVolumesNotReady) {
    waits.message = VolumeTroubleText(request, rejection.shape);
  }
  if (rejection.code == RejectionCode::kUnsupported) {
    const auto refused = std::ranges::find_if(request.wants, [&tables](const Want& want) {
      return !tables.ShapeOf(want.shape).constraints.unsupported.empty();
    });
    if (refused != request.wants.end()) {
      waits.message = absl::StrCat("pod ", state_.FindPod(refused->pod)->name, ": ", waits.message);
    }
  }
  Log(c, "park",
      absl::StrCat(" ", ItemName(item.kind), ": ", WaitReasonName(waits.reason), ": ",
                   waits.message),
      request.work->used());
  ParkFacts facts = ParkFactsFor(request, rejection, warm_.cool_downs.NextEnd(c.now));
  if (CompetesForVolumes(request, tables)) facts.relief |= kReliefVolumes;
  if (for_quorum && MayPreempt(c, rejection)) {
    facts.relief |= kReliefLoose;
    if (PoliciesLetEvict(c)) facts.relief |= kReliefVictims;
    if (HasVictims(c)) {
      // With victims, room may help that is too little by itself.
      facts.relief |= kReliefRoom | kReliefNodes;
      facts.smallest_shape = ShapeId();
    }
    boldest_ = std::max(boldest_, c.gang.priority);
    // Who may do less must not speak for who may do more.
    absl::StrAppend(&facts.class_key, " by eviction");
    if (StrategiesOf(c).size() < options_.fair_strategies.size()) {
      absl::StrAppend(&facts.class_key, " at final shares");
    }
    if (c.record.left_for.has_value()) {
      absl::StrAppend(&facts.class_key, " ", c.gang.id.index());
    }
    facts.until = std::min(facts.until, c.record.victims_later);
  }
  // It names a pod of its own.
  if (rejection.code == RejectionCode::kUnsupported) {
    absl::StrAppend(&facts.class_key, " ", c.gang.id.index());
  }
  // After a claim that came to nothing.
  if (c.now < c.record.no_preemption_until) {
    facts.until = std::min(facts.until, c.record.no_preemption_until);
  }
  if (answer.kept_out_by.has_value()) {
    std::string none = std::move(waits.no_preemption);
    waits = HeldBy(*answer.kept_out_by);
    waits.no_preemption = std::move(none);
    facts.class_key = HeldClassOf(c.gang, facts.class_key);
  }
  // Quota alone is in its way, and nobody can be made to leave for it now or soon; with one shape
  // and no room of its own, all of its class would charge the same.
  constexpr uint32_t kByOthers = kReliefRoom | kReliefVictims;
  const bool for_demand = item.kind == ItemKind::kQuorum && (facts.relief & kReliefQuota) != 0 &&
                          (facts.relief & kByOthers) == 0 && facts.smallest_shape.valid() &&
                          c.now >= c.record.no_preemption_until;
  // Who may use what is held is short of both, or of the other one.
  if (for_quorum && !holders_.empty() && MoreRoomMayHelp(answer.decision)) {
    facts.relief |= kReliefRoom | kReliefNodes | kReliefQuota | kReliefQueue;
  }
  const bool asks_of_pods = std::ranges::any_of(
      request.wants, [this](const Want& want) { return state_.AsksOfPods(want.shape); });
  if (asks_of_pods && (facts.relief & kReliefRoom) != 0) facts.relief |= kReliefPods;
  if (rejection.code == RejectionCode::kSearchLimitReached || request.work->spent()) {
    BackOffFromSearch(c, facts);
  } else if (c.record.search.has_value()) {
    c.record.search->backoff.reset();
  }
  Note(c, item, std::move(waits));
  Park(c, item, std::move(facts));
  c.record.waits_for_demand =
      for_demand && c.record.order_is_only && !c.record.order_demand.empty();
}

// Of the first member of the shape.
std::string Leadership::VolumeTroubleText(const GangRequest& request, ShapeId shape) const {
  const auto want = std::ranges::find(request.wants, shape, &Want::shape);
  if (want == request.wants.end()) return "a volume is not ready";
  return absl::StrCat("pod ", state_.FindPod(want->pod)->name, ": ",
                      state_.VolumeTroubleOf(want->pod));
}

void Leadership::Note(Case& c, QueueItem item, WaitingFor waits) {
  std::weak_ptr<const WaitingFor>& last = last_noted_[c.gang.queue];
  WaitingForPtr noted = last.lock();
  if (noted == nullptr || *noted != waits) {
    noted = std::make_shared<const WaitingFor>(std::move(waits));
    last = noted;
  }
  (item.kind == ItemKind::kSurplus ? c.record.surplus_waiting : c.record.waiting) =
      std::move(noted);
}

void Leadership::Park(Case& c, QueueItem item, ParkFacts facts) {
  const OrderKey order = OrderOf(c, item.kind);
  // A quorum that is held up in a StrictFIFO Queue must not speak for surplus, which never is.
  absl::StrAppend(&facts.class_key, " ", ItemName(item.kind));
  queue_->Park(item, order, std::move(facts));
  // Those behind it will not be asked before it, and should say so; once is enough.
  const std::vector<QueueItem> held = queue_->HeldUp(order.queue);
  if (held.empty() || std::exchange(told_head_[order.queue], c.gang.id) == c.gang.id) return;
  for (const QueueItem& behind : held) to_report_.insert(behind.gang);
}

GangRequest Leadership::RequestOf(const Case& c, ItemKind kind) const {
  RequestInput input{.gang = c.gang, .kind = kind};
  if (c.record.binding.has_value()) input.binding = &*c.record.binding;
  for (const HeldVacancy& held : c.record.holds) {
    if (held.hold.valid()) input.holds.push_back(held.hold);
  }
  if (c.record.claim.has_value()) {
    for (const Claim::Room& room : c.record.claim->rooms) input.holds.push_back(room.hold);
  }
  if (c.record.reservation.has_value()) {
    for (const Reservation::Room& room : c.record.reservation->rooms) {
      input.holds.push_back(room.hold);
    }
  }
  input.outranked = state_.PromisedBelow(c.gang.priority);
  GangRequest request = RequestFor(input, [this, &c, kind](PodId pod) {
    // It has a node, as the server says; a watch that lags, or repeats itself, calls it pending.
    const PodFacts* facts = state_.FindPod(pod);
    if (facts != nullptr && facts->is_awaited) return false;
    const auto refused = c.record.refused_until.find(pod);
    return kind != ItemKind::kSurplus || refused == c.record.refused_until.end() ||
           refused->second <= c.now;
  });
  // Gangs that differ in their images alone are equally hard to place.
  for (Want& want : request.wants) {
    const ShapeId room_shape = state_.RoomShapeOf(want.shape);
    if (room_shape != want.shape) want.scored_as = std::exchange(want.shape, room_shape);
  }
  return request;
}

}  // namespace maniple
