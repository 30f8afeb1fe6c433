#include "scheduler/loop/room/evictions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/cycle/victims/preemption.h"
#include "scheduler/cycle/victims/victim_surplus.h"
#include "scheduler/report/events.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// The pause after an eviction that is refused.
constexpr BackoffPolicy kTryAgain = {.first = absl::Seconds(1), .most = absl::Seconds(30)};

// An eviction that was granted shows in the watch long before this.
constexpr absl::Duration kShowsIn = absl::Seconds(10);

constexpr size_t kGangsNamed = 4;

bool IsGranted(const Departure::Pod& leaving) { return leaving.shows_by > absl::InfinitePast(); }

std::string NamesOf(const std::vector<std::string>& gangs) {
  std::vector<std::string> named(gangs.begin(),
                                 gangs.begin() + std::min(gangs.size(), kGangsNamed));
  if (gangs.size() > kGangsNamed) {
    named.push_back(absl::StrCat("and ", gangs.size() - kGangsNamed, " more"));
  }
  return absl::StrJoin(named, ", ");
}

}  // namespace

void Evictions::StartClaim(Case& c, const GangRequest& request,
                           const std::vector<RunningGang>& running, const PreemptionPlan& plan,
                           const LeavingPods& awaited, ClaimGround ground, std::string refused) {
  ++desk_.counters.preemptions;
  Claim claim = parts_.claims.Begin(c, awaited);
  std::vector<std::string> names;
  bool several_leave = false;
  for (const Victim& victim : plan.victims) {
    const RunningGang& gang = running[victim.running];
    claim.victims.push_back(gang.gang);
    const bool whole = victim.pods.size() == gang.members.size();
    const bool one_leaves = whole || victim.pods.size() == 1;
    several_leave = several_leave || !names.empty() || !one_leaves;
    names.push_back(whole ? gang.name
                          : absl::StrCat(victim.pods.size(), " surplus ",
                                         one_leaves ? "pod of " : "pods of ", gang.name));
    StartDeparture(gang.gang, victim.pods,
                   {.for_gang = c.gang.id,
                    .why = absl::StrCat("preempted by ", GangText(c.gang.key)),
                    .until = claim.until,
                    .whole = whole,
                    .past_budgets = victim.past_budgets,
                    .makes_way_for = ground == ClaimGround::kPolicy
                                         ? parts_.reversals.LeavesFor(gang.gang, c.gang)
                                         : std::nullopt,
                    .by_initial_share = plan.used_initial_share},
                   c.now);
    if (whole) parts_.uses.CountPreempted(c.record.queue, desk_.records.at(gang.gang)->queue);
  }
  claim.text = absl::StrCat("its room is being freed: ", NamesOf(names),
                            several_leave ? " leave" : " leaves",
                            awaited.pods.empty() ? "" : ", and other pods do so already");
  desk_.Log(c, "preempt", absl::StrCat(": ", absl::StrJoin(names, ", ")),
            {.refused = std::move(refused)});
  desk_.SendEvent(PreemptingEvent(c.gang, NamesOf(names)), c.now);
  parts_.claims.Hold(c, request, plan.plan.placements, std::move(claim));
}

void Evictions::StartDeparture(GangId id, const std::vector<PodId>& pods, Departure departure,
                               absl::Time now) {
  std::optional<Case> c = desk_.Open(id, now);
  if (!c.has_value()) return;
  LeaveToWatch(*c);
  for (const PodId pod : pods) {
    departure.pods.emplace(pod, NewLeaver(*c, pod));
  }
  if (departure.whole) {
    ++desk_.counters.gangs_preempted;
    if (c->record.binding.has_value()) {
      parts_.flights.Step(*c, [&c](BindStep& step) { c->record.binding->Leave(step); });
    }
  }
  desk_.SendEvent(PreemptedEvent(c->gang, departure.why), now);
  c->record.departure = std::move(departure);
  departing_.insert(id);
  desk_.touched.insert(id);
}

// One of the pods leaves or has left, as it was asked to.
void Evictions::Begin(GangRecord& record) {
  Departure& departure = *record.departure;
  if (std::exchange(departure.begun, true)) return;
  if (departure.makes_way_for.has_value()) {
    parts_.reversals.NoteLeft(record, *std::move(departure.makes_way_for));
  }
  if (!departure.by_initial_share) return;
  if (GangRecord* const other = desk_.FindRecord(departure.for_gang)) {
    other->initial_share_used = true;
  }
}

// Surplus that is on its way out already is awaited from now on, and needs no departure.
void Evictions::LeaveToWatch(const Case& c) {
  if (!c.record.departure.has_value()) return;
  std::vector<PodId> pods;
  for (const auto& [pod, leaving] : c.record.departure->pods) {
    if (leaving.asked) parts_.uses.CountLost(c.record.queue, leaving.had, c.now);
    pods.push_back(pod);
  }
  parts_.claims.Await(c.record.departure->for_gang, pods);
}

Departure::Pod Evictions::NewLeaver(const Case& c, PodId pod) {
  return {.next_try = c.now, .backoff = Backoff(kTryAgain), .had = parts_.uses.GpusOf(c, pod)};
}

// No gang waits any more for these members to leave.
bool Evictions::CalledOff(const Case& c, const Departure& departure) const {
  if (!departure.for_gang.valid()) {
    const Queue* queue = desk_.ledger.book().FindQueue(c.record.queue);
    return queue == nullptr || queue->stop != StopPolicy::kHoldAndDrain;
  }
  return !parts_.claims.Needs(departure.for_gang, c.gang.id);
}

// The gang has lost others since: the quorum needs those that were to leave.
bool Evictions::IsSurplusNoMore(const Case& c, const Departure& departure) const {
  if (departure.whole) return false;
  int64_t members = 0;
  std::map<size_t, int64_t> sub_groups;
  for (const Member& member : c.gang.members) {
    if (member.state != MemberState::kBound || !departure.pods.contains(member.pod)) continue;
    ++members;
    ++sub_groups[static_cast<size_t>(member.rank.sub_group)];
  }
  const Surplus surplus = SurplusOf(c.gang);
  return members > surplus.members || std::ranges::any_of(sub_groups, [&](const auto& part) {
           return part.first < surplus.sub_groups.size() &&
                  part.second > surplus.sub_groups[part.first];
         });
}

// A pod that the watch shows gone has left; one on its way out has until the end
// of its grace period.
void Evictions::FollowDeparture(Case& c, Departure& departure) {
  if (departure.whole) {
    // Members bound meanwhile leave too, whether our own request or another writer bound them.
    for (const Member& member : c.gang.members) {
      if (member.state != MemberState::kBound) continue;
      departure.pods.try_emplace(member.pod, NewLeaver(c, member.pod));
    }
  }
  std::erase_if(departure.pods, [&](const auto& leaving) {
    const PodFacts* pod = desk_.state.FindPod(leaving.first);
    const bool left = pod == nullptr || !TakesRoom(*pod);
    if (left && leaving.second.asked) {
      Begin(c.record);
      parts_.uses.CountLost(c.record.queue, leaving.second.had, c.now);
    }
    return left;
  });
  for (auto& [id, leaving] : departure.pods) {
    const PodFacts& pod = *desk_.state.FindPod(id);
    if (!pod.terminating) continue;
    // Once it is on its way out only the watch can tell more.
    leaving.next_try = absl::InfiniteFuture();
    if (std::exchange(leaving.seen_leaving, true)) continue;
    if (!IsGranted(leaving)) Grant(id, leaving, c.now);
    if (leaving.asked) Begin(c.record);
    WaitForDeparture(departure, c.now + std::min(pod.grace, kLongestGrace) + kClaimFor);
  }
}

// The claim is kept as long as the departure, and all its victims are asked to leave for as long.
void Evictions::WaitForDeparture(Departure& departure, absl::Time until) {
  if (until <= departure.until) return;
  departure.until = until;
  const Claim* const claim = parts_.claims.KeepUntil(departure.for_gang, until);
  if (claim == nullptr) return;
  for (const GangId victim : claim->victims) {
    GangRecord* const record = desk_.FindRecord(victim);
    if (record == nullptr || !record->departure.has_value()) continue;
    if (record->departure->for_gang != departure.for_gang) continue;
    record->departure->until = std::max(record->departure->until, claim->until);
    desk_.touched.insert(victim);
  }
}

void Evictions::SeeDeparture(Case& c) {
  GangRecord& record = c.record;
  if (!record.departure.has_value()) return;
  Departure& departure = *record.departure;
  FollowDeparture(c, departure);
  const bool left = departure.pods.empty();
  // Half a gang is of use to nobody: the rest of a gang that has begun to leave follows. In a Queue
  // that is drained no more it may be made whole again.
  const bool follows = departure.whole && departure.begun && departure.for_gang.valid();
  const bool called_off = CalledOff(c, departure) && !follows;
  if (!departure.is_needed && IsSurplusNoMore(c, departure)) {
    departure.is_needed = true;
    parts_.claims.AskAnew(departure.for_gang, c.now);
  }
  if (called_off || departure.is_needed) {
    KeepGranted(c, departure);
  }
  // A bind that is still under way may land after the others have left.
  const bool may_land = left && departure.whole && record.binding.has_value();
  if ((departure.pods.empty() && !may_land) || c.now >= departure.until) {
    EndDeparture(c, left ? DepartureEnd::kLeft : DepartureEnd::kStays);
    return;
  }
  for (auto& [id, leaving] : departure.pods) {
    if (leaving.under_way || leaving.next_try > c.now) continue;
    leaving.under_way = leaving.asked = true;
    SendAway(id, leaving.way, departure.why, c.now);
  }
}

// Nobody is asked any more. Who may have been sent away already is awaited until the watch would
// show it.
void Evictions::KeepGranted(const Case& c, Departure& departure) {
  std::erase_if(departure.pods, [&](const auto& leaving) {
    return !leaving.second.under_way && leaving.second.shows_by <= c.now &&
           !desk_.state.FindPod(leaving.first)->terminating;
  });
  for (auto& [id, leaving] : departure.pods) {
    leaving.next_try = std::max(leaving.next_try, leaving.shows_by);
  }
  GiveBudgetsBack(c.gang);
}

void Evictions::SendAway(PodId pod, Departure::Way way, const std::string& why, absl::Time now) {
  switch (way) {
    case Departure::Way::kEvict:
      ++desk_.counters.evictions_sent;
      return parts_.flights.SendTo(pod, ErrandKind::kEvict, EvictPodRequest);
    case Departure::Way::kMark:
      return parts_.flights.SendTo(pod, ErrandKind::kEvict, [&](const PodReference& target) {
        return PodIsPreemptedRequest(target, why, now);
      });
    case Departure::Way::kDelete:
      return parts_.flights.SendTo(pod, ErrandKind::kEvict, DeletePodRequest);
  }
}

void Evictions::EndDeparture(Case& c, DepartureEnd end) {
  GangRecord& record = c.record;
  const Departure departure = *record.departure;
  switch (end) {
    case DepartureEnd::kLeft:
      desk_.Log(c, "left");
      if (!departure.whole) break;
      record.bound.clear();
      NoteEvicted(record, c.gang, WaitReason::kPreempted, departure.why);
      parts_.flights.CountLeaving(
          c, departure.for_gang.valid() ? LeavingCause::kPreempted : LeavingCause::kDrained);
      break;
    case DepartureEnd::kStays:
      desk_.Log(c, "stays");
      GiveBudgetsBack(c.gang);
      break;
  }
  if (departure.for_gang.valid()) desk_.touched.insert(departure.for_gang);
  record.departure.reset();
  departing_.erase(c.gang.id);
}

void Evictions::HearEviction(const Errand& errand, const WriteResult& result, absl::Time now) {
  const auto it = desk_.records.find(errand.gang);
  if (it == desk_.records.end() || !it->second->departure.has_value()) return;
  Departure& departure = *it->second->departure;
  const auto found = departure.pods.find(errand.pod);
  if (found == departure.pods.end()) return;
  Departure::Pod& leaving = found->second;
  leaving.under_way = false;
  desk_.touched.insert(errand.gang);
  leaving.shows_by = absl::InfinitePast();
  if (result.outcome == WriteOutcome::kUnknown) Grant(errand.pod, leaving, now);
  departure.forbidden = result.http_status == 403 ? result.status.message : "";
  if (departure.for_gang.valid()) desk_.to_report.insert(departure.for_gang);
  if (result.outcome == WriteOutcome::kAnswered && result.http_status / 100 == 2) {
    if (leaving.way == Departure::Way::kMark) {
      leaving.way = Departure::Way::kDelete;
      leaving.next_try = now;
      return;
    }
    Grant(errand.pod, leaving, now);
    Begin(*it->second);
    leaving.next_try = leaving.shows_by;
    return;
  }
  ++desk_.counters.evictions_refused;
  if (departure.past_budgets && leaving.way == Departure::Way::kEvict && IsBudgetRefusal(result)) {
    ++desk_.counters.budgets_passed;
    if (const PodFacts* pod = desk_.state.FindPod(errand.pod)) {
      desk_.LogOf("delete", absl::StrCat(pod->namespace_name, "/", pod->name), " past its budgets",
                  now);
    }
    leaving.way = Departure::Way::kMark;
    leaving.next_try = now;
    return;
  }
  leaving.not_before = now + result.status.retry_after.value_or(absl::ZeroDuration());
  leaving.next_try = std::max(leaving.not_before, now + leaving.backoff.Next(desk_.random));
}

// A budget allows more: refused evictions are tried again, but no sooner than the server asked.
void Evictions::HurryEvictions(absl::Time now) {
  for (const GangId id : departing_) {
    for (auto& [pod, leaving] : desk_.records.at(id)->departure->pods) {
      if (leaving.under_way || leaving.seen_leaving) continue;
      // Each label of a pod may be such news: the first pause is kept.
      leaving.next_try =
          std::min(leaving.next_try, std::max(now + kTryAgain.first, leaving.not_before));
    }
    desk_.touched.insert(id);
  }
}

void Evictions::TakePromised(std::vector<int32_t>& allowed) const {
  for (const GangId id : departing_) {
    const Gang* const gang = desk_.state.FindGang(id);
    if (gang == nullptr || !desk_.state.AnyBudgetIn(gang->key.namespace_name)) continue;
    for (const auto& [pod, leaving] : desk_.records.at(id)->departure->pods) {
      if (IsGranted(leaving) || leaving.way != Departure::Way::kEvict) continue;
      for (const uint32_t budget : desk_.state.BudgetsOf(pod)) --allowed[budget];
    }
  }
}

// From now on the server itself counts the pod against its budgets.
void Evictions::Grant(PodId pod, Departure::Pod& leaving, absl::Time now) {
  leaving.shows_by = now + kShowsIn;
  if (!desk_.state.BudgetsOf(pod).empty()) desk_.promises_fell = true;
}

// Others may count on its budgets again.
void Evictions::GiveBudgetsBack(const Gang& gang) {
  if (desk_.state.AnyBudgetIn(gang.key.namespace_name)) desk_.promises_fell = true;
}

// A Queue that is drained starts nothing and lets no gang stay.
void Evictions::DrainQueue(Case& c) {
  if (c.record.departure.has_value() && !c.record.departure->SurplusIsOnItsWayOut()) return;
  if (c.record.binding.has_value() && !c.record.binding->Stands()) return;
  const Queue* queue = desk_.ledger.book().FindQueue(c.record.queue);
  if (queue == nullptr || queue->stop != StopPolicy::kHoldAndDrain) return;
  std::vector<PodId> pods;
  for (const Member& member : c.gang.members) {
    if (member.state == MemberState::kBound) pods.push_back(member.pod);
  }
  if (pods.empty()) return;
  StartDeparture(c.gang.id, pods,
                 {.why = absl::StrCat("queue \"", c.record.queue,
                                      "\" is being drained: spec.stopPolicy is HoldAndDrain"),
                  .until = absl::InfiniteFuture()},
                 c.now);
}

}  // namespace maniple
