// Making room: who may be made to leave for whom, and the plan of it.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "scheduler/cycle/preemption.h"
#include "scheduler/loop/loop_impl.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// Pods that are still on their way out after this may never leave.
constexpr absl::Duration kLeavesWithin = absl::Minutes(5);

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
    case RejectionCode::kVolumesNotReady:
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
                    .protected_until = started + gang.spec.protected_runtime,
                    .members = {},
                    .surplus = SurplusOf(gang)};
  for (const Member& member : gang.members) {
    if (member.state != MemberState::kBound || !member.node.valid()) continue;
    const PlacedPods placed{.shape = member.shape, .node = member.node};
    entry.members.push_back({.pod = member.pod,
                             .node = member.node,
                             .shape = member.shape,
                             .sub_group = member.rank.sub_group,
                             .charge = ledger_.CostOf(record.queue, {&placed, 1}, tables),
                             .budgets = state_.BudgetsOf(member.pod)});
  }
  return entry;
}

// Whoever is on the move is left alone: what is in flight may still land.
std::vector<GangId> SchedulingLoop::Impl::GangsThatStand() const {
  const auto bound = [](const Member& member) {
    return member.state == MemberState::kBound && member.node.valid();
  };
  std::vector<GangId> stand;
  for (const auto& [id, record] : records_) {
    if (record->binding.has_value() || record->departure.has_value()) continue;
    const Gang* gang = state_.FindGang(id);
    if (gang == nullptr || !gang->group_exists) continue;
    if (std::ranges::any_of(gang->members, bound)) stand.push_back(id);
  }
  return stand;
}

// Of those that stand the ones that the preemptor's policy could reach at all.
std::vector<RunningGang> SchedulingLoop::Impl::RunningGangs(const Case& c,
                                                            std::span<const GangId> stand) {
  const QuotaNodeId queue = ledger_.book().QueueNamed(c.gang.queue);
  std::vector<RunningGang> running;
  for (const GangId id : stand) {
    const Gang& gang = *state_.FindGang(id);
    const GangRecord& record = *records_.at(id);
    if (id == c.gang.id || MadeLeave(id, c)) continue;
    const QuotaNodeId theirs = ledger_.book().QueueNamed(record.queue);
    if (theirs.valid() != queue.valid()) continue;
    if (queue.valid() ? ledger_.tree().Root(theirs) != ledger_.tree().Root(queue)
                      : gang.priority >= c.gang.priority) {
      continue;
    }
    running.push_back(RunningGangOf(gang, record, c.now));
  }
  std::ranges::sort(running, {}, &RunningGang::name);
  return running;
}

std::optional<NoPreemption> SchedulingLoop::Impl::MakeRoom(Case& c, const GangRequest& request,
                                                           const Rejection& rejection) {
  if (!c.gang.spec.preempts) return NoPreemption{.message = "its own preemption policy is Never"};
  if (!MayPreempt(c, rejection) || !HasVictims(c)) return NoPreemption();
  const std::vector<RunningGang> running = RunningGangs(c, GangsThatStand());
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
  if (LeavingMakesRoom(c, request)) {
    return NoPreemption{.message =
                            "nobody has to leave for it: pods that are on their way out "
                            "already make room"};
  }
  if (running.empty()) {
    return NoPreemption{.message = "no running gang may be evicted"};
  }
  std::vector<int32_t> allowed;
  for (const BudgetFacts& budget : state_.Budgets()) allowed.push_back(budget.allowed);
  std::variant<PreemptionPlan, NoPreemption> answer;
  DecideWithOpen(c, request, HoldsThatYieldTo(c, request), [&](const DecideInput& input) {
    answer = PlanPreemption(PreemptionInputOf(c, input, running, allowed));
  });
  return answer;
}

PreemptionInput SchedulingLoop::Impl::PreemptionInputOf(const Case& c, const DecideInput& input,
                                                        const std::vector<RunningGang>& running,
                                                        const std::vector<int32_t>& allowed) {
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
  return preemption;
}

void SchedulingLoop::Impl::DecideWithOpen(const Case& c, const GangRequest& request, OpenHolds open,
                                          absl::FunctionRef<void(const DecideInput&)> ask) {
  const std::optional<QuotaAsk> quota = AskFor(c, request);
  if (quota.has_value()) open.quota.emplace_back(quota->queue, OwnHeldQuota(c));
  const DecideInput input{.snapshot = Picture(),
                          .request = request,
                          .now = c.now,
                          .seed = options_.seed,
                          .quota = quota.has_value() ? &*quota : nullptr,
                          .freed = open.rooms};
  Lift(open);
  ask(input);
  LowerAgain(open);
}

// Room that others leave anyway is as good as the room of victims, while they do leave.
bool SchedulingLoop::Impl::LeavingMakesRoom(Case& c, const GangRequest& request) {
  const Snapshot& snapshot = Picture();
  OpenHolds open;
  for (const auto& [id, record] : records_) {
    const Gang* gang = state_.FindGang(id);
    if (gang == nullptr) continue;
    const QuotaNodeId queue = ledger_.book().QueueNamed(record->queue);
    for (const Member& member : gang->members) {
      if (member.state != MemberState::kTerminating || !member.node.valid()) continue;
      const PlacedPods placed{.shape = member.shape, .node = member.node};
      open.rooms.push_back({.node = member.node, .shape = member.shape});
      if (!queue.valid()) continue;
      open.quota.emplace_back(queue, ledger_.CostOf(record->queue, {&placed, 1}, *snapshot.tables));
    }
  }
  const auto since = waits_for_leaving_.find(c.gang.id);
  const bool in_vain = since != waits_for_leaving_.end() && c.now >= since->second + kLeavesWithin;
  if (open.rooms.empty() || in_vain) {
    if (open.rooms.empty()) waits_for_leaving_.erase(c.gang.id);
    return false;
  }
  OpenHolds yielding = HoldsThatYieldTo(c, request);
  open.rooms.insert(open.rooms.end(), yielding.rooms.begin(), yielding.rooms.end());
  open.quota.insert(open.quota.end(), yielding.quota.begin(), yielding.quota.end());
  bool makes_room = false;
  DecideWithOpen(c, request, std::move(open), [&](const DecideInput& input) {
    makes_room = FindPlan(input, options_.profile).has_value();
  });
  if (!makes_room) {
    waits_for_leaving_.erase(c.gang.id);
    return false;
  }
  const absl::Time until = waits_for_leaving_.try_emplace(c.gang.id, c.now).first->second;
  c.record.victims_later = std::min(c.record.victims_later, until + kLeavesWithin);
  return true;
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
