#include "scheduler/loop/serve/serving.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/time_text.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/room/search_work.h"
#include "scheduler/loop/desk/preemption_rights.h"
#include "scheduler/loop/desk/waits_for.h"
#include "scheduler/loop/records/whole_units.h"
#include "scheduler/report/quota_report.h"

namespace maniple {
namespace {

// A gang that only a hold keeps out may be let in by its own priority and runtime:
// its class is narrow.
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

void Serving::DecideReady(absl::Time now) {
  if (desk_.warm.draining) return;
  const int64_t enough = desk_.counters.search_steps + desk_.options.search.turn;
  for (int32_t n = 0; n < desk_.options.decisions_per_turn && desk_.counters.search_steps < enough;
       ++n) {
    if (desk_.errands.binds() >= desk_.options.max_binds_under_way) return;
    const std::optional<QueueItem> item = desk_.queue.Pop(now);
    if (!item.has_value()) {
      parts_.searches.AllServed();
      return;
    }
    Serve(*item, now);
    if (parts_.reservations.TakeChanged()) parts_.reservations.KeepReservations(now);
    parts_.wakes.WakeParked(now);  // resources given back may help others
  }
}

void Serving::Serve(QueueItem item, absl::Time now) {
  std::optional<Case> c = desk_.Open(item.gang, now);
  if (!c.has_value() || desk_.ItemOf(*c) != item.kind) {
    desk_.queue.Remove(item);
    if (c.has_value()) c->record.queued.reset();
    return;
  }
  if (parts_.charges.HasOtherFlavorsNow(*c, item.kind)) return DecideAgain(*c, item);
  desk_.to_report.insert(item.gang);
  if (ParkUndecided(*c, item)) return;
  const absl::Time began =
      desk_.options.stopwatch ? desk_.options.stopwatch() : absl::InfinitePast();
  GangRequest request = desk_.RequestOf(*c, item.kind);
  SearchWork work = parts_.searches.WorkFor(*c, request, parts_.claims.HasRoomMade(*c));
  request.work = &work;
  ++desk_.counters.decisions;
  const bool had_claim = c->record.claim.has_value();
  const Answer answer = Ask(*c, request);
  const bool found = std::holds_alternative<Plan>(answer.decision);
  if (found) {
    TakePlan(*c, item, answer, work);
  } else {
    ParkRejected(*c, item, request, answer);
  }
  // Making room is a plan too.
  const bool makes_room = !had_claim && c->record.claim.has_value();
  parts_.searches.NoteSearch(*c, work, found || makes_room ? CameTo::kAPlan : CameTo::kNothing);
  if (!desk_.options.stopwatch) return;
  (found ? desk_.counters.took_to_place : desk_.counters.took_to_reject)
      .Note(desk_.options.stopwatch() - began);
}

// A gang without a Queue holds nothing for lost members against what a Queue asks of its own.
bool Serving::HoldsYieldToNominal(const Case& c, const GangRequest& request) {
  std::vector<GangId> without_queue;
  for (const GangId id : parts_.flights.mending()) {
    const auto found = desk_.records.find(id);
    if (found != desk_.records.end() && found->second->queue.empty()) without_queue.push_back(id);
  }
  return !without_queue.empty() &&
         parts_.charges.AsksWithinNominal(c, request, desk_.ledger.tree()) &&
         parts_.flights.YieldHolds(c, request, without_queue);
}

// It takes its place in the order anew.
void Serving::DecideAgain(Case& c, QueueItem item) {
  desk_.queue.Offer(item, parts_.charges.OrderOf(c, item.kind));
}

// Members whose volumes have failed keep nobody else from a lost member's place.
bool Serving::OthersMayRepair(const Case& c, ItemKind kind) const {
  if (kind != ItemKind::kRepair) return false;
  const GangRequest request = desk_.RequestOf(c, kind);
  return c.record.volumes_are_surplus ||
         std::ranges::none_of(request.wants, [&c](const Want& want) {
           return c.record.refused_until.contains(want.pod);
         });
}

bool Serving::ParkUndecided(Case& c, QueueItem item) {
  // Room that others have left for it is not kept for long.
  if (!c.record.claim.has_value() && parts_.searches.MustWaitToSearch(c)) {
    parts_.searches.PutOffSearch(c, item);
    return true;
  }
  WaitingFor waits;
  ParkFacts facts;
  if (c.record.volumes_again_at.value_or(absl::InfinitePast()) > c.now &&
      !OthersMayRepair(c, item.kind)) {
    waits = {.reason = WaitReason::kVolumesNotReady, .message = *c.record.volume_trouble};
    facts = {.class_key = absl::StrCat("volumes ", c.gang.id.index()),
             .until = *c.record.volumes_again_at};
  } else if (const std::optional<QueueRefusal> refusal = parts_.charges.RefusalOf(c, item.kind)) {
    // It is none of those for whom that Queue may keep room.
    if (refusal->reason == WaitReason::kNamespaceNotAllowed && c.record.claim.has_value()) {
      parts_.claims.GiveUp(c);
    }
    waits = {.reason = refusal->reason, .message = refusal->message};
    // All gangs that say the same are woken as one; each must hear of another reason.
    facts = {.class_key = absl::StrCat("queue ", refusal->message, " ", c.gang.key.namespace_name),
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
  parts_.parking.Note(c, item, std::move(waits));
  parts_.charges.LeaveLine(c);
  parts_.parking.Park(c, item, std::move(facts));
  return true;
}

void Serving::TakePlan(Case& c, QueueItem item, const Answer& answer, const SearchWork& work) {
  const Plan& plan = std::get<Plan>(answer.decision);
  ++desk_.counters.plans;
  if (item.kind == ItemKind::kRepair) ++desk_.counters.repairs;
  desk_.LogPlan(c, item.kind, plan, work.used());
  desk_.queue.Started(item);
  c.record.queued.reset();
  c.record.waiting.reset();
  c.record.surplus_waiting.reset();
  parts_.flights.DropHolds(c.record);
  if (c.record.claim.has_value()) {
    desk_.counters.room_made.Note(c.now - c.record.claim->since);
  }
  parts_.claims.Spend(c, plan.placements);
  c.record.leaving_awaited_since.reset();
  switch (item.kind) {
    case ItemKind::kQuorum:
      parts_.charges.LeaveLine(c);
      parts_.reservations.NoteGuest(c, answer);
      c.record.domains = plan.domains;
      c.record.decided_at = c.now;
      break;
    case ItemKind::kRepair:
    case ItemKind::kSurplus:
      break;
  }
  parts_.reservations.NoteYielded(answer);
  parts_.flights.Start(c, item.kind, plan.placements);
  parts_.claims.SeeStart(c);  // before anybody else is decided: the start may have failed at once
}

void Serving::ParkRejected(Case& c, QueueItem item, const GangRequest& request,
                           const Answer& answer) {
  const auto& rejection = std::get<Rejection>(answer.decision);
  c.record.victims_later = absl::InfiniteFuture();
  if (parts_.claims.Wait(c, item)) return;
  NoPreemption nobody;
  const bool for_quorum = item.kind != ItemKind::kSurplus;
  if (for_quorum && HoldsYieldToNominal(c, request)) return DecideAgain(c, item);
  if (for_quorum) {
    auto made = parts_.preemptions.MakeRoom(c, request, rejection);
    if (const auto* room = std::get_if<Preemptions::RoomMade>(&made)) {
      if (*room == Preemptions::RoomMade::kHoldsYield) return DecideAgain(c, item);
      if (parts_.claims.Wait(c, item)) return;
    }
    if (auto* none = std::get_if<NoPreemption>(&made)) nobody = std::move(*none);
  }
  if (parts_.searches.Unfinished(*request.work)) return parts_.searches.PutOffSearch(c, item);
  if (item.kind == ItemKind::kQuorum) parts_.reservations.WaitInLine(c, answer);
  ++desk_.counters.rejections;
  if (rejection.code == RejectionCode::kSearchLimitReached) ++desk_.counters.searches_given_up;
  WaitingFor waits = WaitsFor(request, rejection, desk_);
  waits.no_preemption = std::move(nobody.message);
  desk_.Log(c, "park",
            absl::StrCat(" ", ItemName(item.kind), ": ", WaitReasonName(waits.reason), ": ",
                         waits.message),
            {.steps = request.work->used()});
  ParkFacts facts = ParkFactsFor(request, rejection, desk_.warm.cool_downs.NextEnd(c.now));
  if (CompetesForVolumes(request, *desk_.Picture().tables)) facts.relief |= kReliefVolumes;
  if (for_quorum && parts_.preemptions.MayPreempt(c, rejection)) {
    facts.relief |= kReliefLoose;
    if (parts_.preemptions.PoliciesLetEvict(c)) facts.relief |= kReliefVictims;
    if (parts_.preemptions.HasVictims(c)) {
      // With victims, room may help that is too little by itself.
      facts.relief |= kReliefRoom | kReliefNodes;
      facts.smallest_shape = ShapeId();
    }
    parts_.preemptions.NoteBold(c.gang.priority);
    // A gang that may evict less must not speak for one that may evict more.
    absl::StrAppend(&facts.class_key, " by eviction");
    if (StrategiesOf(desk_, c).size() < desk_.options.fair_strategies.size()) {
      absl::StrAppend(&facts.class_key, " at final shares");
    }
    if (c.record.left_for.has_value()) {
      absl::StrAppend(&facts.class_key, " ", c.gang.id.index());
    }
    facts.until = std::min(facts.until, c.record.victims_later);
  }
  // The rejection names a pod of the gang.
  if (rejection.code == RejectionCode::kUnsupported) {
    absl::StrAppend(&facts.class_key, " ", c.gang.id.index());
  }
  // After a claim that came to nothing.
  if (c.now < c.record.no_preemption_until) {
    facts.until = std::min(facts.until, c.record.no_preemption_until);
  }
  if (answer.kept_out_by.has_value()) {
    std::string none = std::move(waits.no_preemption);
    waits = parts_.yielding.HeldBy(*answer.kept_out_by, c.gang);
    waits.no_preemption = std::move(none);
    facts.class_key = HeldClassOf(c.gang, facts.class_key);
    facts.relief |= kReliefHolds;  // it may have room elsewhere, and want quota that was held
  }
  // Only quota is in its way, and no gang can be evicted for it now or soon. With one shape and no
  // room of its own, all gangs of its class would charge the same.
  constexpr uint32_t kByOthers = kReliefRoom | kReliefVictims;
  const bool for_demand = item.kind == ItemKind::kQuorum && (facts.relief & kReliefQuota) != 0 &&
                          (facts.relief & kByOthers) == 0 && facts.smallest_shape.valid() &&
                          c.now >= c.record.no_preemption_until;
  // A gang that may use held room may be short of room, of quota, or of both.
  if (for_quorum && !parts_.room_holders.holders().empty() && MoreRoomMayHelp(answer.decision)) {
    facts.relief |= kReliefRoom | kReliefNodes | kReliefQuota | kReliefQueue;
  }
  const bool asks_of_pods = std::ranges::any_of(
      request.wants, [this](const Want& want) { return desk_.state.AsksOfPods(want.shape); });
  if (asks_of_pods && (facts.relief & kReliefRoom) != 0) facts.relief |= kReliefPods;
  if (rejection.code == RejectionCode::kSearchLimitReached || request.work->spent()) {
    parts_.searches.BackOffFromSearch(c, facts);
  } else if (c.record.search.has_value()) {
    c.record.search->backoff.reset();
  }
  parts_.parking.Note(c, item, std::move(waits));
  parts_.parking.Park(c, item, std::move(facts));
  c.record.waits_for_demand =
      for_demand && c.record.order_is_only && !c.record.order_demand.empty();
}

// A leader that starts where its followers find no room would wait there for ever. The wish costs
// half of the work at most, so that enough is left to decide on the leader alone.
std::optional<Plan> Serving::PlanWithFollowers(const Case& c, const GangRequest& request) {
  if (request.followers.empty()) return std::nullopt;
  GangRequest whole = request;
  whole.wants.insert(whole.wants.end(), whole.followers.begin(), whole.followers.end());
  whole.need.total += static_cast<int32_t>(whole.followers.size());
  std::optional<SearchWork> half;
  if (request.work != nullptr) whole.work = &half.emplace(request.work->most() / 2, request.work);
  Supposition as_is = parts_.charges.Suppose(c, whole);
  DecideInput input = as_is.Input();
  input.cache = &rooms_;
  std::optional<Plan> plan = FindPlan(input, desk_.options.profile);
  if (!plan.has_value()) return std::nullopt;
  std::erase_if(plan->placements, [](const Placement& place) { return !place.pod.valid(); });
  if (std::cmp_less(plan->placements.size(), request.need.total)) return std::nullopt;
  return plan;
}

// Where a plan for surplus members has no unit whole, room may still be there for one at a time.
void Serving::KeepUnitsWhole(const Case& c, const GangRequest& request, Decision& decision) {
  auto* plan = std::get_if<Plan>(&decision);
  if (plan == nullptr) return;  // not even one pod finds room
  DropPartOfUnits(request, *plan);
  if (!plan->placements.empty()) return;
  for (const GangRequest& one : RequestsForOneUnit(request)) {
    Supposition as_is = parts_.charges.Suppose(c, one);
    decision = Decide(as_is.Input(), desk_.options.profile);
    if (std::holds_alternative<Plan>(decision)) return;
  }
}

Answer Serving::Ask(const Case& c, const GangRequest& request) {
  if (std::optional<Plan> plan = PlanWithFollowers(c, request); plan.has_value()) {
    return {.decision = *std::move(plan)};
  }
  Supposition as_is = parts_.charges.Suppose(c, request);
  DecideInput input = as_is.Input();
  input.cache = &rooms_;
  Answer answer{.decision = Decide(input, desk_.options.profile)};
  if (request.scope == DecideScope::kSurplus) KeepUnitsWhole(c, request, answer.decision);
  if (auto* rejection = std::get_if<Rejection>(&answer.decision))
    parts_.mig.MindMig(c, request, c.now, *rejection);
  if (request.scope == DecideScope::kQuorum && MoreRoomMayHelp(answer.decision)) {
    parts_.yielding.TryHeldRoom(c, as_is, answer);
  }
  return answer;
}

}  // namespace maniple
