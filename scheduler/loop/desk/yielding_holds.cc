#include "scheduler/loop/desk/yielding_holds.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/victims/victim_policy.h"
#include "scheduler/loop/desk/preemption_rights.h"
#include "scheduler/report/message.h"

namespace maniple {

OpenHolds YieldingHolds::HoldsThatYieldTo(const Case& c, const Supposition& as_is) {
  OpenHolds open;
  for (const GangId holder : room_holders_.holders()) {
    if (holder == c.gang.id || !YieldsTo(c, as_is, holder)) continue;
    open.Add(holder, *desk_.records.at(holder), desk_.ledger.book());
  }
  return open;
}

bool YieldingHolds::YieldsToNominal(const Case& c, const GangRequest& request, GangId holder,
                                    const QuotaTree& tree) {
  const Gang* other = desk_.state.FindGang(holder);
  return other != nullptr && other->queue.empty() && charges_.AsksWithinNominal(c, request, tree);
}

// May the gang preempt the holder as if that ran already, or use its own Queue's nominal quota
// before a holder without a Queue?
bool YieldingHolds::YieldsTo(const Case& c, const Supposition& as_is, GangId holder) {
  const Gang* other = desk_.state.FindGang(holder);
  if (other == nullptr) return false;
  if (YieldsToNominal(c, as_is.request(), holder, as_is.tree())) return true;
  // A gang that has begun is repaired before anything else begins that is not more important.
  const bool has_begun = c.record.binding.has_value() && !charges_.AsksForMore(c);
  if (has_begun) return other->priority <= c.gang.priority;
  if (!c.gang.preempts) return false;
  const bool lower = other->priority < c.gang.priority;
  // A holder without a Queue yields by priority alone, to every gang.
  if (other->queue.empty()) return lower;
  const PreemptionPolicy policy = PolicyOf(desk_, c.gang);
  if (other->queue != c.gang.queue) {
    return policy.reclaim != ReclaimWithinCohort::kNever && MayReclaimFrom(c, as_is, *other);
  }
  switch (policy.within) {
    case WithinQueuePreemption::kNever:
      return false;
    case WithinQueuePreemption::kLowerPriority:
      return lower;
    case WithinQueuePreemption::kLowerOrNewerEqualPriority:
      return lower || (other->priority == c.gang.priority &&
                       QueuedAt(*other, *desk_.records.at(holder)) > QueuedAt(c.gang, c.record));
  }
  return false;
}

// Would the rules of reclaim let the gang evict the holder, if that ran in its room already?
bool YieldingHolds::MayReclaimFrom(const Case& c, Supposition as_if, const Gang& holder) {
  const QuotaNodeId own = desk_.ledger.book().QueueNamed(c.gang.queue);
  const QuotaNodeId theirs = desk_.ledger.book().QueueNamed(holder.queue);
  if (!own.valid() || !theirs.valid()) return false;
  if (as_if.tree().Root(own) != as_if.tree().Root(theirs)) return false;
  const GangRecord& record = *desk_.records.at(holder.id);
  const Reservation& reservation = *record.reservation;
  as_if.Refund(theirs, reservation.held);
  Demand demand = charges_.DemandOf(as_if.request(), own, as_if.tree());
  as_if.Charge(theirs, reservation.demand);
  const DecideInput input = as_if.Input();
  const PreemptionInput rights{.decide = input,
                               .profile = desk_.options.profile,
                               .priority = c.gang.priority,
                               .queued = QueuedAt(c.gang, c.record),
                               .policy = PolicyOf(desk_, c.gang),
                               .fair_sharing = desk_.options.fair_sharing,
                               .strategies = StrategiesOf(desk_, c)};
  VictimRules rules(rights, ContestForRoom(as_if.tree(), own, std::move(demand)));
  const RunningGang runs{.gang = holder.id,
                         .queue = theirs,
                         .priority = holder.priority,
                         .queued = QueuedAt(holder, record)};
  const std::optional<VictimClaim> claim = rules.ClaimOn(runs);
  if (!claim.has_value() || !rules.WhyNever().empty()) return false;
  return rules.MayTakeAlone({.queue = theirs, .claim = *claim, .charge = reservation.demand});
}

YieldingHolds::Sides YieldingHolds::SidesTowards(const Case& c, const Supposition& as_is) {
  Sides sides;
  const std::optional<absl::Duration> runtime = ExpectedRuntime(c.gang);
  for (const GangId holder : room_holders_.holders()) {
    if (holder == c.gang.id) continue;
    const GangRecord& record = *desk_.records.at(holder);
    const Reservation& reservation = *record.reservation;
    const bool yields = YieldsTo(c, as_is, holder);
    const bool ends_before = !c.record.binding.has_value() && runtime.has_value() &&
                             reservation.end == EndIs::kKnown &&
                             c.now + *runtime <= reservation.start;
    (yields || ends_before ? sides.may_use : sides.kept).Add(holder, record, desk_.ledger.book());
    if (ends_before && !yields) sides.in_time.push_back(holder);
  }
  return sides;
}

// The gang was rejected: would it start with the room held for others, and may it use that room?
void YieldingHolds::TryHeldRoom(const Case& c, const Supposition& as_is, Answer& answer) {
  if (room_holders_.holders().empty()) return;
  Sides sides = SidesTowards(c, as_is);
  Supposition with = as_is;
  with.Free(sides.may_use);
  std::optional<Plan> plan;
  if (!sides.may_use.holders.empty()) plan = FindPlan(with.Input(), desk_.options.profile);
  if (!plan.has_value() && !sides.kept.holders.empty())
    plan = PlanBeside(c, with, sides.kept, answer);
  if (!plan.has_value()) return;
  answer.decision = *std::move(plan);
  answer.guest_of = std::move(sides.in_time);
  answer.used = std::move(sides.may_use.holders);
}

// A plan that lets all holders start as planned.
std::optional<Plan> YieldingHolds::PlanBeside(const Case& c, Supposition with,
                                              const OpenHolds& kept, Answer& answer) {
  const auto harmless = [&]() -> std::optional<Plan> {
    std::optional<Plan> plan = FindPlan(with.Input(), desk_.options.profile);
    if (!plan.has_value()) return std::nullopt;
    PlannedStarts::Met met = planned_starts_.MetBy(c, *plan, with, kept.holders);
    answer.kept_out_by = met.harmed;
    if (met.harmed.has_value()) return std::nullopt;
    answer.beside = std::move(met.holders);
    return plan;
  };
  for (const auto& [queue, held] : kept.quota) with.Refund(queue, held);
  // Where their quota is enough, the gang may find room that none of them waits for.
  if (!kept.quota.empty()) {
    if (std::optional<Plan> plan = harmless()) return plan;
  }
  Supposition open = with;
  with.Free(planned_starts_.FreeUntilThen(kept.holders, c.now));
  if (std::optional<Plan> plan = harmless()) return plan;
  // Would it start if nothing were held?
  open.Free(kept.rooms);
  if (!answer.kept_out_by.has_value() && FindPlan(open.Input(), desk_.options.profile).has_value())
    answer.kept_out_by = kept.holders.front();
  return std::nullopt;
}

WaitingFor YieldingHolds::HeldBy(GangId holder, const Gang& from) const {
  const Reservation& reservation = *desk_.records.at(holder)->reservation;
  const GangKey& key = desk_.state.FindGang(holder)->key;
  const std::string& reader = from.key.namespace_name;
  return {.reason = WaitReason::kHeldByReservation,
          .message =
              absl::StrCat("the room that it would need is held for ", GangTextWithin(key, reader),
                           ", which is to start at ", StartText(reservation)),
          .unnamed = key.namespace_name == reader ? "" : GangText(key)};
}

}  // namespace maniple
