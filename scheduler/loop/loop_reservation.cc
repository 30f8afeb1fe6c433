// Reservation: who holds room for a later start, and for how long.
//
// A hold is the whole plan of a gang: its rooms, also where others still are, and of its quota as
// much as is available now. More of the quota is taken as it comes free, before anybody else is
// decided, so what is planned comes true if everything ends when it should.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/start_plan.h"
#include "scheduler/loop/leadership.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// What is leaving is gone after about this.
constexpr absl::Duration kLeaving = absl::Seconds(30);
// Where no plan is in sight.
constexpr absl::Duration kPlanAgainAfter = absl::Minutes(1);
// A hold lasts until twice the time to its first planned start has passed, and at least for as long
// after that start as its holder had to wait for the hold; where ends are only estimated, at least
// so many times that in all.
constexpr int kPatienceForEstimates = 6;

absl::Time LastMoment(absl::Time made, const StartPlan& plan, absl::Duration patience) {
  const absl::Time known = std::max(plan.at + (plan.at - made), plan.at + patience);
  return plan.end == EndIs::kKnown ? known
                                   : std::max(known, made + kPatienceForEstimates * patience);
}

bool SameRooms(const std::vector<Reservation::Room>& rooms, const std::vector<FreedRoom>& others) {
  return std::ranges::equal(rooms, others, [](const auto& room, const FreedRoom& other) {
    return room.node.valid() && room.node == other.node && room.shape == other.shape;
  });
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

// When everything that takes room is expected to leave it. Whoever did not run yet `by` then counts
// only if its end was told, or it is a guest: a holder that follows estimates from room to room
// would wait for others that began after it, again and again.
std::vector<Release> Leadership::Releases(absl::Time now, absl::Time by,
                                          const absl::btree_set<NodeId>* on) {
  const Tables& tables = *Picture().tables;
  std::vector<Release> releases;
  for (const auto& [id, record] : records_) {
    const Gang* gang = state_.FindGang(id);
    if (gang == nullptr) continue;
    const auto [started, end, told] = SpanOf(*gang, *record, now);
    const QuotaNodeId queue = ledger_.book().QueueNamed(record->queue);
    const bool leaves = record->departure.has_value() && record->departure->whole;
    const bool stays = told == EndIs::kEstimated && started > by && !record->backfill.has_value();
    for (const Member& member : gang->members) {
      if (on != nullptr && !on->contains(member.node)) continue;
      const PodFacts* pod = state_.FindPod(member.pod);
      if (pod == nullptr || pod->terminal) continue;
      if (stays && !leaves && !pod->terminating) continue;
      const NodeId node = pod->node.valid() ? pod->node : pod->reserved;
      if (!node.valid()) continue;
      const PlacedPods placed{.shape = member.shape, .node = node};
      Release release{.at = end,
                      .end = told,
                      .room = {node, member.shape},
                      .queue = queue,
                      .charge = ledger_.CostOf(record->queue, {&placed, 1}, tables)};
      if (leaves || pod->terminating) {
        release.at = now + std::max(kLeaving, pod->grace);
        release.end = EndIs::kEstimated;
      }
      releases.push_back(std::move(release));
    }
  }
  return releases;
}

// Beside other holders a gang keeps off their nodes: room that one of them gets later must not be
// taken for room that another needs sooner. Off the nodes of those that yield to it at once it need
// not keep.
std::optional<StartPlan> Leadership::PlanStartOf(const Case& c, const GangRequest& request,
                                                 Beside beside, absl::Time by) {
  OpenHolds others, yielding;
  for (const GangId holder : holders_) {
    if (holder == c.gang.id) continue;
    OpenHolds& holds = YieldsToNominal(c, request, holder, ledger_.tree()) ? yielding : others;
    holds.Add(holder, *records_.at(holder), ledger_.book());
  }
  std::vector<Release> releases = Releases(c.now, by, nullptr);
  Supposition then = Suppose(c, request);
  if (!then.queue().valid()) {
    for (Release& release : releases) release.queue = QuotaNodeId();
  }
  then.Free(yielding.rooms);
  switch (beside) {
    case Beside::kOthers:
      for (const GangId holder : others.holders) {
        const GangRecord& record = *records_.at(holder);
        const QuotaNodeId queue = ledger_.book().QueueNamed(record.queue);
        if (queue.valid()) then.Charge(queue, Lacking(*record.reservation));
      }
      then.Restrict(NodesIn(others.rooms), Supposition::To::kOthers);
      break;
    case Beside::kNobody:
      then.Free(others);
      break;
  }
  return PlanStart(then.Input(), std::move(releases), options_.profile);
}

void Leadership::WaitInLine(const Case& c, const Answer& answer) {
  if (!MoreRoomMayHelp(answer.decision)) return LeaveLine(c);
  lines_.Join({.queue = c.gang.queue,
               .priority = c.gang.priority,
               .queued = QueuedAt(c.gang, c.record),
               .namespace_name = c.gang.key.namespace_name,
               .name = c.gang.key.name,
               .gang = c.gang.id},
              c.now);
  // The head of a Backfill queue is due before the next one is decided.
  const QuotaNodeId queue = ledger_.book().QueueNamed(c.gang.queue);
  if (queue.valid() && ledger_.book().OrderingOf(queue) == QueueOrdering::kBackfill) {
    reservations_changed_ = reservations_changed_ || lines_.IsFirst(c.gang.id);
  }
}

void Leadership::LeaveLine(const Case& c) {
  lines_.Leave(c.gang.id, c.now);
  if (!c.record.reservation.has_value()) return;
  DropReservation(c.gang.id, c.record);
  ChargeQuota(c);
}

void Leadership::DropReservation(GangId gang, GangRecord& record) {
  if (!record.reservation.has_value()) return;
  for (const Reservation::Room& room : record.reservation->rooms) {
    state_.ReleaseHold(room.hold, news_);
  }
  record.reservation.reset();
  holders_.erase(gang);
  lines_wait_ = false;
  openings_changed_ = true;
}

void Leadership::KeepReservations(absl::Time now) {
  if (warm_.draining || lines_.empty()) return;  // nor does anybody hold room
  lines_.EndBars(now);
  const absl::btree_set<GangId> holders = holders_;
  for (const GangId holder : holders) {
    if (!holders_.contains(holder)) continue;  // it made way for another one
    if (RenewalDue(*records_.at(holder)->reservation) <= now) Renew(holder, now);
  }
  if (NextTurn() > now) return;
  const int64_t enough = counters_.search_steps + options_.search.turn;
  std::vector<WaitingLines::Head> heads = lines_.Heads();
  // Whoever has waited longest, where only some may.
  std::ranges::stable_sort(heads, {}, &WaitingLines::Head::since);
  for (WaitingLines::Head& head : heads) {
    // Where no plan is in sight, the next of the line may have one.
    while (head.gang.valid() && ReservationDue(head) <= now && !Reserve(head.gang, now)) {
      if (counters_.search_steps >= enough) return;  // the next turn goes on
      const std::optional<WaitingLines::Head> next = lines_.HeadOf(head.queue);
      head.gang = next.has_value() ? next->gang : GangId();
    }
  }
}

bool Leadership::Reserve(GangId gang, absl::Time now) {
  std::optional<Case> c = Open(gang, now);
  if (MustWaitToSearch(*c)) {
    lines_.Bar(gang, SearchAgainAt(*c));
    return false;
  }
  if (const Opening opening = OpeningFor({.queue = c->gang.queue, .gang = gang, .since = now});
      opening.displaced.has_value()) {
    EndReservation(*opening.displaced, now);
  }
  GangRequest request = RequestOf(*c, ItemKind::kQuorum);
  SearchWork work = WorkForLater(*c);
  request.work = &work;
  const std::optional<StartPlan> plan = PlanStartOf(*c, request, Beside::kOthers, now);
  if (!plan.has_value()) {
    // Nobody else begins to hold room before whoever has waited longest.
    lines_wait_ = !holders_.empty() && PlanStartOf(*c, request, Beside::kNobody, now).has_value();
    NoteSearch(*c, work, CameTo::kNothing);
    if (Unfinished(work)) {
      lines_.Bar(gang, SearchAgainAt(*c));
      return false;
    }
    if (!lines_wait_) lines_.Bar(gang, now + kPlanAgainAfter);
    openings_changed_ = openings_changed_ || lines_wait_;
    return false;
  }
  NoteSearch(*c, work, CameTo::kAPlan);
  ++counters_.reservations;
  c->record.reservation = Reservation{.modest = IsModest(c->record),
                                      .made = now,
                                      .first_start = plan->at,
                                      .first_end = plan->end,
                                      .until = LastMoment(now, *plan, options_.reservation_after)};
  holders_.insert(gang);
  Keep(*c, request, *plan);
  return true;
}

// Holds the plan instead of what was held before, and has the gang decided anew.
void Leadership::Keep(Case& c, const GangRequest& request, const StartPlan& plan) {
  Reservation& reservation = *c.record.reservation;
  std::vector<FreedRoom> rooms;
  std::vector<PlacedPods> placed;
  for (const Placement& place : plan.plan.placements) {
    const ShapeId shape = std::ranges::find(request.wants, place.pod, &Want::pod)->shape;
    rooms.push_back({place.node, shape});
    placed.push_back({.shape = shape, .node = place.node});
  }
  reservation.demand = ledger_.CostOf(c.gang.queue, placed, *Picture().tables);
  openings_changed_ = true;
  const bool moved = !SameRooms(reservation.rooms, rooms);
  if (moved || plan.at > reservation.start || plan.end != reservation.end) {
    // More may end before it starts.
    for (const FreedRoom& room : rooms) news_.room_grew.insert(room.node);
  }
  std::vector<std::string> nodes;
  if (moved) {
    for (const Reservation::Room& room : reservation.rooms) {
      state_.ReleaseHold(room.hold, news_);
    }
    reservation.rooms.clear();
    for (const FreedRoom& room : rooms) {
      reservation.rooms.push_back({state_.Hold(room.node, room.shape), room.node, room.shape});
      nodes.emplace_back(state_.NodeName(room.node));
    }
  }
  EndReservationsUnder(c, request);
  reservation.start = plan.at;
  reservation.end = plan.end;
  if (moved) {
    Log(c, "reserve",
        absl::StrCat(" at ", StartText(reservation), ": ", absl::StrJoin(nodes, " ")));
  }
  reservation.renewed = c.now;
  reservation.stale = reservation.lost = false;
  GatherHeldQuota(c.now);
  queue_->Offer({c.gang.id, ItemKind::kQuorum}, OrderOf(c, ItemKind::kQuorum));
  to_report_.insert(c.gang.id);
}

// They plan anew, beside it.
void Leadership::EndReservationsUnder(const Case& c, const GangRequest& request) {
  absl::btree_set<NodeId> nodes;
  for (const Reservation::Room& room : c.record.reservation->rooms) nodes.insert(room.node);
  const absl::btree_set<GangId> holders = holders_;
  for (const GangId holder : holders) {
    if (holder == c.gang.id || !YieldsToNominal(c, request, holder, ledger_.tree())) continue;
    if (std::ranges::any_of(
            records_.at(holder)->reservation->rooms,
            [&nodes](const Reservation::Room& room) { return nodes.contains(room.node); })) {
      EndReservation(holder, c.now);
    }
  }
}

void Leadership::Renew(GangId gang, absl::Time now) {
  std::optional<Case> c = Open(gang, now);
  GangRequest request = RequestOf(*c, ItemKind::kQuorum);
  SearchWork work = WorkForLater(*c);
  request.work = &work;
  if (now < c->record.reservation->until) {
    if (SendOverstayersAway(*c, request)) return;
    for (const absl::Time by : {c->record.reservation->made, now}) {
      if (const auto plan = PlanStartOf(*c, request, Beside::kOthers, by)) {
        NoteSearch(*c, work, CameTo::kAPlan);
        return Keep(*c, request, *plan);
      }
    }
  }
  NoteSearch(*c, work, CameTo::kNothing);
  const bool expired = now >= c->record.reservation->until;
  EndReservation(gang, now);
  lines_.Bar(gang, now + (expired ? options_.reservation_after : kPlanAgainAfter));
}

void Leadership::EndReservation(GangId gang, absl::Time now) {
  std::optional<Case> c = Open(gang, now);
  Log(*c, "end the reservation of");
  DropReservation(gang, c->record);
  ChargeQuota(*c);
  queue_->Offer({gang, ItemKind::kQuorum}, OrderOf(*c, ItemKind::kQuorum));
  to_report_.insert(gang);
}

std::vector<HeldStart> Leadership::HeldStarts() const {
  std::vector<HeldStart> starts;
  for (const GangId holder : holders_) {
    const Reservation& reservation = *records_.at(holder)->reservation;
    HeldStart held{.gang = state_.FindGang(holder)->key,
                   .made = reservation.made,
                   .first_start = reservation.first_start,
                   .first_end = reservation.first_end,
                   .nodes = {}};
    for (const Reservation::Room& room : reservation.rooms) {
      if (room.node.valid()) held.nodes.emplace_back(state_.NodeName(room.node));
    }
    starts.push_back(std::move(held));
  }
  return starts;
}

// As much of what the holders will need as is theirs and available, before anybody else asks; who
// is to start first comes first.
void Leadership::GatherHeldQuota(absl::Time now) {
  if (holders_.empty()) return;
  std::vector<std::pair<absl::Time, GangId>> order;
  QuotaTree tree = ledger_.tree().Supposed();  // with what is held, as far as that is gathered
  for (const GangId holder : holders_) {
    const GangRecord& record = *records_.at(holder);
    order.emplace_back(record.reservation->start, holder);
    const QuotaNodeId queue = ledger_.book().QueueNamed(record.queue);
    if (queue.valid()) tree.Remove(queue, record.reservation->held);
  }
  std::ranges::sort(order);
  std::vector<std::pair<GangId, Demand>> changed;
  for (const auto& [start, holder] : order) {
    const GangRecord& record = *records_.at(holder);
    const QuotaNodeId queue = ledger_.book().QueueNamed(record.queue);
    if (!queue.valid()) continue;
    std::map<QuotaCellId, Amount> late;
    std::vector<GangId>& newcomers = records_.at(holder)->reservation->newcomers;
    std::erase_if(newcomers, [&](GangId gang) {
      const Demand charged = ledger_.ChargedTo(queue, gang);
      for (const CellAmount& part : charged) late[part.cell] += part.amount;
      return charged.empty();
    });
    Demand held;
    for (const CellAmount& part : record.reservation->demand) {
      const Amount own =
          tree.Nominal(queue, part.cell) - tree.Usage(queue, part.cell) + late[part.cell];
      const Amount most = std::min({part.amount, own, tree.Available(queue, part.cell)});
      if (most > Amount(0)) held.push_back({part.cell, most});
    }
    tree.Add(queue, held);
    if (held != record.reservation->held) changed.emplace_back(holder, std::move(held));
  }
  for (auto& [holder, held] : changed) {
    records_.at(holder)->reservation->held = std::move(held);
    ChargeQuota(*Open(holder, now));
  }
}

}  // namespace maniple
