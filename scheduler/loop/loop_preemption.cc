// Making room: who is asked to leave, the requests that ask, and the room kept for who is to come.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "scheduler/cycle/preemption.h"
#include "scheduler/loop/loop_impl.h"
#include "scheduler/report/events.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// Room that is being freed is kept for so long; evictions that are refused are tried until then.
constexpr absl::Duration kClaimFor = absl::Minutes(5);
// After a claim that came to nothing.
constexpr absl::Duration kPauseAfterClaim = absl::Seconds(30);
constexpr absl::Duration kTryAgain = absl::Seconds(1);
// An eviction that was granted shows in the watch long before this.
constexpr absl::Duration kAskAgain = absl::Seconds(10);
constexpr size_t kGangsNamed = 4;
// In status.preemptedBy, when the preemptor's Queue is another: what this gang may do itself then
// depends on it, and a new leader must know.
constexpr char kOfQueue[] = " of queue ";

bool TakesRoom(const PodFacts& pod) { return !pod.terminal && !pod.node_name.empty(); }

// The members that the quorum can do without, the last in rank first.
std::vector<const Member*> SurplusOf(const Gang& gang) {
  std::vector<const Member*> surplus;
  std::vector<bool> kept(gang.members.size(), true);
  const auto at = [&gang](const Member& member) { return &member - gang.members.data(); };
  for (auto member = gang.members.rbegin(); member != gang.members.rend(); ++member) {
    if (member->state != MemberState::kBound) continue;
    kept[at(*member)] = false;
    const QuorumNeed need = NeedWith(gang, [&](const Member& other) {
      const bool stands =
          other.state == MemberState::kBound || other.state == MemberState::kSucceeded;
      return stands && kept[at(other)];
    });
    if (need.Met()) {
      surplus.push_back(&*member);
    } else {
      kept[at(*member)] = true;
      if (gang.spec.sub_groups.empty()) break;  // nor can it do without any other
    }
  }
  return surplus;
}

std::string NamesOf(const std::vector<std::string>& gangs) {
  std::vector<std::string> named(gangs.begin(),
                                 gangs.begin() + std::min(gangs.size(), kGangsNamed));
  if (gangs.size() > kGangsNamed) {
    named.push_back(absl::StrCat("and ", gangs.size() - kGangsNamed, " more"));
  }
  return absl::StrJoin(named, ", ");
}

}  // namespace

bool SchedulingLoop::Impl::MayPreempt(const Case& c, const Rejection& rejection) const {
  if (!c.gang.spec.preempts || c.now < c.record.no_preemption_until) return false;
  switch (rejection.code) {
    case RejectionCode::kQuotaExceeded:
    case RejectionCode::kNoFit:
    case RejectionCode::kTopologyNoFit:
      break;
    case RejectionCode::kExceedsMaxQuota:
    case RejectionCode::kNeverFits:
    case RejectionCode::kSearchLimitReached:
    case RejectionCode::kUnsupported:
    case RejectionCode::kInvalidSpec:
      return false;
  }
  if (c.gang.queue.empty()) return true;
  const Queue* queue = ledger_.book().FindQueue(c.gang.queue);
  return queue != nullptr &&
         (queue->within_queue != WithinQueuePreemption::kNever ||
          queue->reclaim != ReclaimWithinCohort::kNever || queue->borrow_preempts_lower_priority);
}

RunningGang SchedulingLoop::Impl::RunningGangOf(const Gang& gang, const GangRecord& record,
                                                absl::Time now) {
  const Tables& tables = *Picture().tables;
  const absl::Time started = record.quorum_reached_at.value_or(now);
  RunningGang entry{.gang = gang.id,
                    .name = GangText(gang.key),
                    .queue = ledger_.book().QueueNamed(record.queue),
                    .priority = gang.priority,
                    .queued = QueuedAt(gang, record),
                    .started = started,
                    .protected_until = started + gang.spec.protected_runtime};
  const std::vector<const Member*> surplus = SurplusOf(gang);
  const auto pod_of = [&](const Member& member) {
    const PlacedPods placed{.shape = member.shape, .node = member.node};
    return VictimPod{.pod = member.pod,
                     .node = member.node,
                     .shape = member.shape,
                     .charge = ledger_.CostOf(record.queue, {&placed, 1}, tables),
                     .budgets = state_.BudgetsOf(member.pod)};
  };
  for (const Member& member : gang.members) {
    const bool stands = member.state == MemberState::kBound && member.node.valid();
    if (stands && std::ranges::find(surplus, &member) == surplus.end()) {
      entry.quorum.push_back(pod_of(member));
    }
  }
  for (auto it = surplus.rbegin(); it != surplus.rend(); ++it) {
    if ((*it)->node.valid()) entry.surplus.push_back(pod_of(**it));
  }
  return entry;
}

// Gangs that stand, and that the preemptor's policy could reach at all.
std::vector<RunningGang> SchedulingLoop::Impl::RunningGangs(const Case& c) {
  const QuotaNodeId queue = ledger_.book().QueueNamed(c.gang.queue);
  std::vector<RunningGang> running;
  for (const auto& [id, record] : records_) {
    const Gang* gang = state_.FindGang(id);
    if (gang == nullptr || id == c.gang.id || !gang->group_exists) continue;
    if (MadeLeave(id, c)) continue;
    // Whoever is on the move is left alone: what is in flight may still land.
    if (record->binding.has_value() || record->departure.has_value()) continue;
    const QuotaNodeId theirs = ledger_.book().QueueNamed(record->queue);
    if (theirs.valid() != queue.valid()) continue;
    if (queue.valid() ? ledger_.tree().Root(theirs) != ledger_.tree().Root(queue)
                      : gang->priority >= c.gang.priority) {
      continue;
    }
    RunningGang entry = RunningGangOf(*gang, *record, c.now);
    if (!entry.quorum.empty() || !entry.surplus.empty()) running.push_back(std::move(entry));
  }
  std::ranges::sort(running, {}, &RunningGang::name);
  return running;
}

std::optional<NoPreemption> SchedulingLoop::Impl::MakeRoom(Case& c, const GangRequest& request,
                                                           const Rejection& rejection) {
  if (!MayPreempt(c, rejection) || !HasVictims(c)) return NoPreemption();
  const std::vector<RunningGang> running = RunningGangs(c);
  auto answer = PlanRoom(c, request, running);
  if (auto* none = std::get_if<NoPreemption>(&answer)) return std::move(*none);
  StartClaim(c, request, running, std::get<PreemptionPlan>(answer), ClaimGround::kPolicy);
  return std::nullopt;
}

std::variant<PreemptionPlan, NoPreemption> SchedulingLoop::Impl::PlanRoom(
    Case& c, const GangRequest& request, const std::vector<RunningGang>& running) {
  for (const RunningGang& gang : running) {
    if (gang.protected_until > c.now) {
      c.record.victims_later = std::min(c.record.victims_later, gang.protected_until);
    }
  }
  if (running.empty()) {
    return NoPreemption{.message = "no running gang may be evicted"};
  }
  std::vector<int32_t> allowed;
  for (const BudgetFacts& budget : state_.Budgets()) allowed.push_back(budget.allowed);
  const Snapshot& snapshot = Picture();
  const std::optional<QuotaAsk> ask = AskFor(c, request);
  OpenHolds open = HoldsThatYieldTo(c, request);
  if (ask.has_value()) open.quota.emplace_back(ask->queue, OwnHeldQuota(c));
  const DecideInput input{.snapshot = snapshot,
                          .request = request,
                          .now = c.now,
                          .seed = options_.seed,
                          .quota = ask.has_value() ? &*ask : nullptr,
                          .freed = open.rooms};
  PreemptionInput preemption{.decide = input,
                             .profile = options_.profile,
                             .priority = c.gang.priority,
                             .queued = QueuedAt(c.gang, c.record),
                             .policy = {},
                             .fair_sharing = options_.fair_sharing,
                             .strategies = StrategiesOf(c),
                             .running = running,
                             .allowed = allowed};
  // Who was reclaimed once and then hurts its own Queue to come back could go round for ever.
  if (WasReclaimed(c.record)) {
    preemption.own_victims = OwnVictims::kWithinNominal;
  }
  if (const Queue* queue = ledger_.book().FindQueue(c.gang.queue)) {
    preemption.policy = {.within = queue->within_queue,
                         .reclaim = queue->reclaim,
                         .borrowing_preempts_lower = queue->borrow_preempts_lower_priority,
                         .borrow_threshold = queue->borrow_priority_threshold};
  }
  Lift(open);
  auto answer = PlanPreemption(preemption);
  LowerAgain(open);
  return answer;
}

std::vector<FairStrategy> SchedulingLoop::Impl::StrategiesOf(const Case& c) const {
  std::vector<FairStrategy> strategies = options_.fair_strategies;
  // At most once per PodGroup, and never for what has no status to remember it in.
  if (c.gang.key.dialect == GangDialect::kSingleton || c.record.initial_share_used ||
      c.gang.status.initial_share_preemption_used) {
    std::erase(strategies, FairStrategy::kLessThanInitialShare);
  }
  return strategies;
}

void SchedulingLoop::Impl::StartClaim(Case& c, const GangRequest& request,
                                      const std::vector<RunningGang>& running,
                                      const PreemptionPlan& plan, ClaimGround ground) {
  ++counters_.preemptions;
  LeaveLine(c);  // it has room now that is better than a plan
  if (plan.used_initial_share) c.record.initial_share_used = true;
  const std::string name = GangText(c.gang.key);
  const QuotaNodeId queue = ledger_.book().QueueNamed(c.gang.queue);
  const auto victim_of_queue = [&](QuotaNodeId theirs) {
    return theirs == queue ? name : absl::StrCat(name, kOfQueue, c.gang.queue);
  };
  Claim claim{.until = c.now + kClaimFor};
  std::vector<std::string> names;
  for (const Victim& victim : plan.victims) {
    const RunningGang& gang = running[victim.running];
    claim.victims.push_back(gang.gang);
    const bool whole = victim.pods.size() == gang.quorum.size() + gang.surplus.size();
    names.push_back(whole ? gang.name
                          : absl::StrCat(victim.pods.size(), " surplus pods of ", gang.name));
    StartDeparture(gang.gang, victim.pods,
                   {.for_gang = c.gang.id,
                    .by = ground == ClaimGround::kPolicy ? victim_of_queue(gang.queue) : "",
                    .why = absl::StrCat("preempted by ", name),
                    .until = claim.until,
                    .whole = whole},
                   c.now);
    if (ground == ClaimGround::kPolicy) NoteLeaving(gang.gang, c.gang.id);
  }
  for (const Placement& place : plan.plan.placements) {
    const auto want = std::ranges::find(request.wants, place.pod, &Want::pod);
    claim.rooms.push_back(
        {state_.Hold(place.node, want->shape), place.node, want->shape, place.pod});
  }
  claim.text = absl::StrCat("its room is being freed: ", NamesOf(names),
                            names.size() == 1 ? " leaves" : " leave");
  Log(absl::StrCat("preempt ", name, ": ", absl::StrJoin(names, ", ")));
  SendEvent(PreemptingEvent(c.gang, NamesOf(names)), c.now);
  c.record.claim = std::move(claim);
  ChargeQuota(c);
}

bool SchedulingLoop::Impl::WasReclaimed(const GangRecord& record) {
  return record.preempted_by.has_value() && absl::StrContains(*record.preempted_by, kOfQueue);
}

// Those that look for victims are to hear of every one that there was not before.
void SchedulingLoop::Impl::CountLoose(GangRecord& record, std::optional<int32_t> priority) {
  if (record.loose_priority == priority) return;
  if (record.loose_priority.has_value()) {
    const auto it = loose_priorities_.find(*record.loose_priority);
    if (--it->second == 0) loose_priorities_.erase(it);
  }
  if (priority.has_value()) ++loose_priorities_[*priority];
  record.loose_priority = priority;
}

bool SchedulingLoop::Impl::HasVictims(const Case& c) const {
  if (!c.gang.queue.empty()) return true;  // the policies tell
  return !loose_priorities_.empty() && loose_priorities_.begin()->first < c.gang.priority;
}

void SchedulingLoop::Impl::NoteEvictable(Case& c) {
  const auto bound = [](const Member& member) {
    return member.state == MemberState::kBound && member.node.valid();
  };
  const bool stands =
      c.gang.group_exists && !c.record.binding.has_value() && !c.record.departure.has_value();
  const Evictable evictable{.pods = stands ? std::ranges::count_if(c.gang.members, bound) : 0,
                            .priority = c.gang.priority,
                            .generation = c.gang.group_generation,
                            .queued = QueuedAt(c.gang, c.record)};
  const bool helps = !c.record.queue.empty() || c.gang.priority < boldest_;
  CountLoose(c.record, evictable.pods > 0 && c.record.queue.empty()
                           ? std::optional<int32_t>(c.gang.priority)
                           : std::nullopt);
  const Evictable before = c.record.evictable.has_value() ? *c.record.evictable : Evictable();
  if (helps && evictable.MayHelpMoreThan(before)) more_victims_ = true;
  if (evictable.pods > 0) {
    c.record.evictable = evictable;
  } else {
    c.record.evictable.reset();
  }
}

// Nobody takes the room any more but who finds it.
void SchedulingLoop::Impl::DropClaim(GangRecord& record) {
  if (!record.claim.has_value()) return;
  for (const Claim::Room& room : record.claim->rooms) state_.ReleaseHold(room.hold, news_);
  touched_.insert(record.claim->victims.begin(), record.claim->victims.end());
  record.claim.reset();
}

bool SchedulingLoop::Impl::VictimsLeave(const Case& c) const {
  return std::ranges::any_of(c.record.claim->victims, [&](GangId victim) {
    const auto it = records_.find(victim);
    return it != records_.end() && it->second->departure.has_value() &&
           it->second->departure->for_gang == c.gang.id;
  });
}

void SchedulingLoop::Impl::GiveUpClaim(Case& c) {
  Log(absl::StrCat("give up the room of ", GangText(c.gang.key)));
  DropClaim(c.record);
  if (c.record.waiting != nullptr &&
      c.record.waiting->reason == WaitReason::kWaitingForPreemption) {
    c.record.waiting.reset();  // it spoke of the claim
  }
  ChargeQuota(c);
}

// Also of a gang that its queue does not ask any more.
void SchedulingLoop::Impl::SeeClaim(Case& c) {
  if (!c.record.claim.has_value() || c.now < c.record.claim->until) return;
  c.record.no_preemption_until = c.now + kPauseAfterClaim;
  GiveUpClaim(c);
}

// The room that was made is not enough yet. False: it never will be, and the claim is over.
bool SchedulingLoop::Impl::WaitForClaim(Case& c, QueueItem item) {
  GangRecord& record = c.record;
  if (item.kind != ItemKind::kQuorum || !record.claim.has_value()) return false;
  if (!VictimsLeave(c)) {
    GiveUpClaim(c);
    return false;
  }
  Note(c, item, {.reason = WaitReason::kWaitingForPreemption, .message = record.claim->text});
  Park(c, item,
       {.class_key = absl::StrCat("claim ", c.gang.id.index()),
        .relief = kReliefRoom | kReliefNodes | kReliefQuota | kReliefQueue,
        .until = record.claim->until});
  return true;
}

void SchedulingLoop::Impl::StartDeparture(GangId id, const std::vector<PodId>& pods,
                                          Departure departure, absl::Time now) {
  GangRecord& record = *records_.at(id);
  for (const PodId pod : pods) departure.pods[pod] = {.next_try = now};
  if (departure.whole) {
    ++counters_.gangs_preempted;
    if (!departure.by.empty()) record.preempted_by = departure.by;
  }
  if (const Gang* gang = state_.FindGang(id)) SendEvent(PreemptedEvent(*gang, departure.why), now);
  record.departure = std::move(departure);
  touched_.insert(id);
}

// Nobody waits any more for its members to leave.
bool SchedulingLoop::Impl::CalledOff(const Case& c, const Departure& departure) const {
  if (!departure.for_gang.valid()) {
    const Queue* queue = ledger_.book().FindQueue(c.gang.queue);
    return queue == nullptr || queue->stop != StopPolicy::kHoldAndDrain;
  }
  const auto it = records_.find(departure.for_gang);
  return it == records_.end() || !it->second->claim.has_value() ||
         std::ranges::find(it->second->claim->victims, c.gang.id) ==
             it->second->claim->victims.end();
}

// Whom the watch shows gone has left; the rest is asked, again if need be.
void SchedulingLoop::Impl::SeeDeparture(Case& c) {
  GangRecord& record = c.record;
  if (!record.departure.has_value()) return;
  Departure& departure = *record.departure;
  std::erase_if(departure.pods, [this](const auto& leaving) {
    const PodFacts* pod = state_.FindPod(leaving.first);
    return pod == nullptr || !TakesRoom(*pod);
  });
  const bool left = departure.pods.empty();
  if (CalledOff(c, departure)) {
    std::erase_if(departure.pods, [this](const auto& leaving) {
      return !leaving.second.under_way && !state_.FindPod(leaving.first)->terminating;
    });
  }
  if (departure.pods.empty() || c.now >= departure.until) {
    Log(absl::StrCat(left ? "left " : "stays ", GangText(c.gang.key)));
    if (left && departure.whole) {
      record.bound.clear();
      NoteEvicted(record, c.gang, departure.why);
    }
    if (departure.for_gang.valid()) touched_.insert(departure.for_gang);
    record.departure.reset();
    return;
  }
  for (auto& [id, leaving] : departure.pods) {
    // Once it is on its way out only the watch can tell more.
    if (state_.FindPod(id)->terminating) leaving.next_try = absl::InfiniteFuture();
    if (leaving.under_way || leaving.next_try > c.now) continue;
    ++counters_.evictions_sent;
    leaving.under_way = true;
    SendTo(id, ErrandKind::kEvict, EvictPodRequest);
  }
}

void SchedulingLoop::Impl::HearEviction(const Errand& errand, const WriteResult& result,
                                        absl::Time now) {
  const auto it = records_.find(errand.gang);
  if (it == records_.end() || !it->second->departure.has_value()) return;
  const auto leaving = it->second->departure->pods.find(errand.pod);
  if (leaving == it->second->departure->pods.end()) return;
  const bool granted = result.outcome == WriteOutcome::kAnswered && result.http_status / 100 == 2;
  if (!granted) ++counters_.evictions_refused;
  leaving->second = {.next_try = now + (granted ? kAskAgain : kTryAgain)};
  touched_.insert(errand.gang);
}

absl::Time SchedulingLoop::Impl::NextEviction(const GangRecord& record) {
  absl::Time next = absl::InfiniteFuture();
  if (!record.departure.has_value()) return next;
  next = record.departure->until;
  for (const auto& [pod, leaving] : record.departure->pods) {
    if (!leaving.under_way) next = std::min(next, leaving.next_try);
  }
  return next;
}

// A queue that is drained starts nothing and lets nobody stay.
void SchedulingLoop::Impl::DrainQueue(Case& c) {
  if (c.record.departure.has_value() || c.record.binding.has_value() || !c.gang.group_exists) {
    return;
  }
  const Queue* queue = ledger_.book().FindQueue(c.gang.queue);
  if (queue == nullptr || queue->stop != StopPolicy::kHoldAndDrain) return;
  std::vector<PodId> pods;
  for (const Member& member : c.gang.members) {
    if (member.state == MemberState::kBound) pods.push_back(member.pod);
  }
  if (pods.empty()) return;
  StartDeparture(c.gang.id, pods,
                 {.why = absl::StrCat("queue ", c.gang.queue, " is being drained"),
                  .until = absl::InfiniteFuture()},
                 c.now);
}

LeavingTerms SchedulingLoop::Impl::TermsOf(GangId victim, GangId preemptor) const {
  const Gang& leaves = *state_.FindGang(victim);
  const Gang& comes = *state_.FindGang(preemptor);
  return {.quotas = quota_epoch_,
          .priority = leaves.priority,
          .preemptor_priority = comes.priority,
          .queued = QueuedAt(leaves, *records_.at(victim)),
          .preemptor_queued = QueuedAt(comes, *records_.at(preemptor))};
}

bool SchedulingLoop::Impl::MadeLeave(GangId other, const Case& c) const {
  const auto left = departures_.find({c.gang.id, other});
  if (left != departures_.end()) return left->second == TermsOf(c.gang.id, other);
  // Under an earlier leader, on terms that nobody knows any more. Within one Queue they must be
  // others now, or it could not think of making that one leave.
  if (!c.record.preempted_by.has_value()) return false;
  absl::string_view by = *c.record.preempted_by;
  return absl::ConsumePrefix(&by, GangText(state_.FindGang(other)->key)) &&
         absl::StartsWith(by, kOfQueue);
}

void SchedulingLoop::Impl::NoteLeaving(GangId victim, GangId preemptor) {
  constexpr size_t kMostRemembered = 10'000;
  const auto back = departures_.find({preemptor, victim});
  if (back != departures_.end() && back->second == TermsOf(preemptor, victim)) {
    ++counters_.preemption_reversals;
  }
  if (departures_.size() >= kMostRemembered) departures_.clear();
  departures_[{victim, preemptor}] = TermsOf(victim, preemptor);
}

}  // namespace maniple
