#include "scheduler/loop/desk/yielding_holds.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/start_plan.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// The assumed time within which a leaving pod is gone.
constexpr absl::Duration kLeaving = absl::Seconds(30);

using Amounts = absl::btree_map<ResourceId, int64_t>;

void Add(const FreedRoom& room, const Tables& tables, Amounts& sum) {
  for (const auto& [resource, amount] : tables.ShapeOf(room.shape).requests)
    sum[resource] += amount;
}

bool AreWithin(const Amounts& amounts, const Amounts& limits) {
  return absl::c_all_of(amounts, [&limits](const auto& entry) {
    const auto limit = limits.find(entry.first);
    return limit != limits.end() && entry.second <= limit->second;
  });
}

// As much of one node's held room as is given back there: all of it, or such of the latter's pods
// as fit into it together.
std::vector<FreedRoom> InBoth(const std::vector<FreedRoom>& held,
                              const std::vector<FreedRoom>& back, const Tables& tables) {
  Amounts of_held, of_back, sum;
  for (const FreedRoom& room : held) Add(room, tables, of_held);
  for (const FreedRoom& room : back) Add(room, tables, of_back);
  if (AreWithin(of_held, of_back)) return held;
  std::vector<FreedRoom> both;
  for (const FreedRoom& room : back) {
    Amounts more = sum;
    Add(room, tables, more);
    if (!AreWithin(more, of_held)) continue;
    sum = std::move(more);
    both.push_back({room.node, room.shape, Occupant::kHold});
  }
  return both;
}

}  // namespace

RunSpan SpanOf(const Gang& gang, const GangRecord& record, absl::Time now) {
  const absl::Time started = std::min(record.quorum_reached_at.value_or(now), now);
  const std::optional<absl::Duration> runtime = ExpectedRuntime(gang);
  if (runtime.has_value() && now <= started + *runtime + kEndGrace) {
    return {.started = started, .end = started + *runtime, .told = EndIs::kKnown};
  }
  return {.started = started, .end = now + (now - started), .told = EndIs::kEstimated};
}

// The time at which each pod is expected to leave its room. A gang that did not run yet `by` then
// counts only if its end was told, or it is a guest. A holder that follows estimates from room to
// room would otherwise wait for gangs that began after it, again and again.
std::vector<Release> YieldingHolds::Releases(absl::Time now, absl::Time by) {
  const Tables& tables = *desk_.Picture().tables;
  std::vector<Release> releases;
  for (const auto& [id, record] : desk_.records) {
    const Gang* gang = desk_.state.FindGang(id);
    if (gang == nullptr) continue;
    const auto [started, end, told] = SpanOf(*gang, *record, now);
    const QuotaNodeId queue = desk_.ledger.book().QueueNamed(record->queue);
    const bool leaves = record->departure.has_value() && record->departure->whole;
    const bool stays = told == EndIs::kEstimated && started > by && !record->backfill.has_value();
    for (const Member& member : gang->members) {
      const PodFacts* pod = desk_.state.FindPod(member.pod);
      if (pod == nullptr || pod->terminal) continue;
      if (stays && !leaves && !pod->terminating) continue;
      // Whoever was placed a moment ago is not bound yet, and will leave its room all the same.
      const NodeId node = pod->node.valid() ? pod->node : pod->reserved;
      if (!node.valid()) continue;
      const PlacedPods placed{.shape = member.shape, .node = node};
      Release release{.at = end,
                      .end = told,
                      .room = {node, member.shape},
                      .queue = queue,
                      .charge = desk_.ledger.CostOf(record->queue, {&placed, 1}, tables)};
      if (leaves || pod->terminating) {
        release.at = now + std::max(kLeaving, pod->grace);
        release.end = EndIs::kEstimated;
      }
      releases.push_back(std::move(release));
    }
  }
  return releases;
}

// What is given back on the node by then, by ends that are known.
std::vector<FreedRoom> YieldingHolds::GivenBackOn(NodeId node, absl::Time by,
                                                  absl::Time now) const {
  std::vector<FreedRoom> rooms;
  desk_.state.ForEachPodOn(node, [&](const PodFacts& pod) {
    const GangRecord* record = desk_.FindRecord(pod.gang);
    const Gang* gang = desk_.state.FindGang(pod.gang);
    if (record == nullptr || gang == nullptr || pod.terminal || pod.terminating) return;
    if (record->departure.has_value() && record->departure->whole) return;
    const RunSpan span = SpanOf(*gang, *record, now);
    if (span.told == EndIs::kKnown && span.end <= by) rooms.push_back({node, pod.shape});
  });
  return rooms;
}

OpenHolds YieldingHolds::HoldsThatYieldTo(const Case& c, const GangRequest& request) {
  OpenHolds open;
  for (const GangId holder : room_holders_.holders()) {
    if (holder == c.gang.id || !YieldsTo(c, request, holder, desk_.ledger.tree())) continue;
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
bool YieldingHolds::YieldsTo(const Case& c, const GangRequest& request, GangId holder,
                             const QuotaTree& tree) {
  const Gang* other = desk_.state.FindGang(holder);
  if (other == nullptr) return false;
  if (YieldsToNominal(c, request, holder, tree)) return true;
  // A gang that has begun is repaired before anything else begins that is not more important.
  if (c.record.binding.has_value()) return other->priority <= c.gang.priority;
  if (!c.gang.preempts) return false;
  const bool lower = other->priority < c.gang.priority;
  // A holder without a Queue yields by priority alone, to every gang.
  if (other->queue.empty()) return lower;
  const Queue* queue = desk_.ledger.book().FindQueue(c.gang.queue);
  if (queue == nullptr) return false;
  const GangRecord& record = *desk_.records.at(holder);
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
  const QuotaNodeId own = desk_.ledger.book().QueueNamed(c.gang.queue);
  const QuotaNodeId theirs = desk_.ledger.book().QueueNamed(other->queue);
  if (!allowed || !own.valid() || !theirs.valid()) return false;
  return tree.Root(own) == tree.Root(theirs) &&
         tree.BorrowsWith(theirs, theirs, Lacking(*record.reservation)) &&
         charges_.AsksWithinNominal(c, request, tree);
}

YieldingHolds::Sides YieldingHolds::SidesTowards(const Case& c, const Supposition& as_is) {
  Sides sides;
  const std::optional<absl::Duration> runtime = ExpectedRuntime(c.gang);
  for (const GangId holder : room_holders_.holders()) {
    if (holder == c.gang.id) continue;
    const GangRecord& record = *desk_.records.at(holder);
    const Reservation& reservation = *record.reservation;
    const bool yields = YieldsTo(c, as_is.request(), holder, as_is.tree());
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
    Met met = HoldersMet(c, *plan, with, kept.holders);
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
  with.Free(FreeUntilTheyStart(kept.holders, c.now));
  if (std::optional<Plan> plan = harmless()) return plan;
  // Would it start if nothing were held?
  open.Free(kept.rooms);
  if (!answer.kept_out_by.has_value() && FindPlan(open.Input(), desk_.options.profile).has_value())
    answer.kept_out_by = kept.holders.front();
  return std::nullopt;
}

// Room that is held, and that the holders do not need of what is free now: as much is given back on
// the same node, by known ends, before the first of them starts there.
std::vector<FreedRoom> YieldingHolds::FreeUntilTheyStart(std::span<const GangId> holders,
                                                         absl::Time now) {
  struct Held {
    absl::Time first_start = absl::InfiniteFuture();
    std::vector<FreedRoom> rooms;
  };
  absl::btree_map<NodeId, Held> nodes;
  for (const GangId holder : holders) {
    const Reservation& reservation = *desk_.records.at(holder)->reservation;
    for (const Reservation::Room& room : reservation.rooms) {
      if (!room.node.valid()) continue;
      Held& held = nodes[room.node];
      held.first_start = std::min(held.first_start, reservation.start);
      held.rooms.push_back({room.node, room.shape, Occupant::kHold});
    }
  }
  std::vector<FreedRoom> free;
  for (const auto& [node, held] : nodes) {
    absl::c_move(
        InBoth(held.rooms, GivenBackOn(node, held.first_start, now), *desk_.Picture().tables),
        std::back_inserter(free));
  }
  return free;
}

// The holders whose nodes or quota the plan uses, up to the first that could not start as planned
// beside it, by the known ends in its room and in its tree of Cohorts. REQUIRES: the holders' quota
// is supposed to be free.
YieldingHolds::Met YieldingHolds::HoldersMet(const Case& c, const Plan& plan,
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
                       desk_.ledger.CostOf(request.queue, placed, *desk_.Picture().tables));
  }
  Met met;
  for (const GangId holder : holders) {
    if (!MeetsIn(holder, taken, supposition)) continue;
    met.holders.push_back(holder);
    if (!StartsBeside(*desk_.Open(holder, c.now), taken, supposition)) {
      met.harmed = holder;
      break;
    }
  }
  return met;
}

// Whether they use nodes or quota of the holder.
bool YieldingHolds::MeetsIn(GangId holder, const std::vector<FreedRoom>& taken,
                            const Supposition& beside) const {
  const GangRecord& record = *desk_.records.at(holder);
  const QuotaNodeId queue = desk_.ledger.book().QueueNamed(record.queue);
  const QuotaTree& tree = beside.tree();
  if (queue.valid() && beside.queue().valid() && tree.Root(queue) == tree.Root(beside.queue()))
    return true;
  return std::ranges::any_of(record.reservation->rooms, [&taken](const Reservation::Room& room) {
    return std::ranges::find(taken, room.node, &FreedRoom::node) != taken.end();
  });
}

// What gangs with known ends give back until the holder starts, and what other holders take.
void YieldingHolds::SupposeQuotaOf(const Case& holder, Supposition& then) const {
  const QuotaBook& book = desk_.ledger.book();
  const QuotaNodeId own = book.QueueNamed(holder.record.queue);
  const absl::Time start = holder.record.reservation->start;
  if (!own.valid()) return;
  const auto in_its_tree = [&](const GangRecord& record) {
    const QuotaNodeId queue = book.QueueNamed(record.queue);
    return queue.valid() && then.tree().Root(queue) == then.tree().Root(own);
  };
  for (const auto& [id, record] : desk_.records) {
    if (record->reservation.has_value() || record->claim.has_value()) continue;  // yet to start
    const Gang* gang = desk_.state.FindGang(id);
    if (gang == nullptr) continue;
    const RunSpan span = SpanOf(*gang, *record, holder.now);
    if (span.told != EndIs::kKnown || span.end > start || !in_its_tree(*record)) continue;
    const QuotaNodeId queue = book.QueueNamed(record->queue);
    then.Refund(queue, desk_.ledger.ChargedTo(queue, id));
  }
  for (const GangId id : room_holders_.holders()) {
    const GangRecord& record = *desk_.records.at(id);
    if (id == holder.gang.id || !in_its_tree(record)) continue;
    if (std::pair(record.reservation->start, id) < std::pair(start, holder.gang.id))
      then.Charge(book.QueueNamed(record.queue), record.reservation->demand);
  }
}

bool YieldingHolds::StartsBeside(const Case& other, const std::vector<FreedRoom>& taken,
                                 const Supposition& beside) {
  const Reservation& reservation = *other.record.reservation;
  GangRequest request = desk_.RequestOf(other, ItemKind::kQuorum);
  request.work = beside.request().work;
  Supposition then({.snapshot = desk_.Picture(),
                    .request = request,
                    .now = other.now,
                    .seed = desk_.options.seed},
                   beside.tree(), charges_.AskFor(other, request));
  absl::btree_set<NodeId> rooms;
  for (const Reservation::Room& room : reservation.rooms) {
    if (room.node.valid()) rooms.insert(room.node);
  }
  then.Restrict(rooms, Supposition::To::kThese);
  for (const NodeId node : rooms) then.Free(GivenBackOn(node, reservation.start, other.now));
  SupposeQuotaOf(other, then);
  then.Promise(taken);
  return FindPlan(then.Input(), desk_.options.profile).has_value();
}

WaitingFor YieldingHolds::HeldBy(GangId holder) const {
  const Reservation& reservation = *desk_.records.at(holder)->reservation;
  return {.reason = WaitReason::kHeldByReservation,
          .message = absl::StrCat("the room that it would need is held for ",
                                  GangText(desk_.state.FindGang(holder)->key),
                                  ", which is to start at ", StartText(reservation))};
}

}  // namespace maniple
