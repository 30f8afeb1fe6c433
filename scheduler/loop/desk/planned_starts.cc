#include "scheduler/loop/desk/planned_starts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/loop/desk/expected_ends.h"

namespace maniple {
namespace {

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

// As much of one node's held room as is given back there: all of it, or the amounts of such of the
// latter's pods as fit into it together. These pods are still there, with their ports and volumes.
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
    both.push_back({room.node, room.shape, Occupant::kNobody});
  }
  return both;
}

}  // namespace

std::vector<FreedRoom> PlannedStarts::FreeUntilThen(std::span<const GangId> holders,
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
    absl::c_move(InBoth(held.rooms, GivenBackOn(desk_, node, held.first_start, now),
                        *desk_.Picture().tables),
                 std::back_inserter(free));
  }
  return free;
}

PlannedStarts::Met PlannedStarts::MetBy(const Case& c, const Plan& plan, Supposition supposition,
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
bool PlannedStarts::MeetsIn(GangId holder, const std::vector<FreedRoom>& taken,
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
void PlannedStarts::SupposeQuotaOf(const Case& holder, Supposition& then) const {
  const QuotaBook& book = desk_.ledger.book();
  const QuotaNodeId own = book.QueueNamed(holder.record.queue);
  const absl::Time start = holder.record.reservation->start;
  if (!own.valid()) return;
  charges_.SupposeClaimsPay(then);  // those who pay for them may be among whom that refunds
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

bool PlannedStarts::StartsBeside(const Case& other, const std::vector<FreedRoom>& taken,
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
  for (const NodeId node : rooms) then.Free(GivenBackOn(desk_, node, reservation.start, other.now));
  SupposeQuotaOf(other, then);
  then.Promise(taken);
  return FindPlan(then.Input(), desk_.options.profile).has_value();
}

}  // namespace maniple
