#include "scheduler/loop/room/reservations.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/cycle/start_plan.h"
#include "scheduler/loop/desk/expected_ends.h"

namespace maniple {
namespace {

// The pause after a search that found no start.
constexpr absl::Duration kPlanAgainAfter = absl::Minutes(1);

// A hold lasts until twice the time to its first planned start has passed. Beyond that start it
// lasts at least `patience`, which is timeouts.reservationAfter. Where ends are only estimated, it
// lasts at least so many times `patience` in all.
constexpr int kPatienceForEstimates = 6;
// But no hold lasts longer, for it keeps all others of its tree from one: a user may say that what
// runs ends in ten years.
constexpr absl::Duration kLongestHold = absl::Hours(24);

absl::Time LastMoment(absl::Time made, const StartPlan& plan, absl::Duration patience) {
  const absl::Time known = std::max(plan.at + (plan.at - made), plan.at + patience);
  const absl::Time wished =
      plan.end == EndIs::kKnown ? known : std::max(known, made + kPatienceForEstimates * patience);
  return std::min(wished, made + std::max(kLongestHold, kPatienceForEstimates * patience));
}

bool SameRooms(const std::vector<Reservation::Room>& rooms, const std::vector<FreedRoom>& others) {
  return std::ranges::equal(rooms, others, [](const auto& room, const FreedRoom& other) {
    return room.node.valid() && room.node == other.node && room.shape == other.shape;
  });
}

}  // namespace

// Beside other holders a gang keeps off their nodes:
// room that one holder gets later must not be taken for room that another needs sooner.
// Nodes of holders that yield to the gang at once are open to it.
std::optional<StartPlan> Reservations::PlanStartOf(const Case& c, const GangRequest& request,
                                                   Beside beside, absl::Time by,
                                                   std::optional<GangId> displaced) {
  OpenHolds others, yielding, gone;
  for (const GangId holder : parts_.room_holders.holders()) {
    if (holder == c.gang.id) continue;
    if (holder == displaced) {
      gone.Add(holder, *desk_.records.at(holder), desk_.ledger.book());
      continue;
    }
    OpenHolds& holds = parts_.yielding.YieldsToNominal(c, request, holder, desk_.ledger.tree())
                           ? yielding
                           : others;
    holds.Add(holder, *desk_.records.at(holder), desk_.ledger.book());
  }
  std::vector<Release> releases = Releases(desk_, c.now, by);
  Supposition then = parts_.charges.Suppose(c, request);
  if (!then.queue().valid()) {
    for (Release& release : releases) release.queue = QuotaNodeId();
  }
  then.Free(yielding.rooms);
  then.Free(gone);
  parts_.charges.SupposeClaimsPay(then);  // the pods that pay for them are among the releases
  switch (beside) {
    case Beside::kOthers:
      for (const GangId holder : others.holders) {
        const GangRecord& record = *desk_.records.at(holder);
        const QuotaNodeId queue = desk_.ledger.book().QueueNamed(record.queue);
        if (queue.valid()) then.Charge(queue, Lacking(*record.reservation));
      }
      then.Restrict(NodesIn(others.rooms), Supposition::To::kOthers);
      break;
    case Beside::kNobody:
      then.Free(others);
      break;
  }
  return PlanStart(then.Input(), std::move(releases), desk_.options.profile);
}

void Reservations::WaitInLine(const Case& c, const Answer& answer) {
  if (!MoreRoomMayHelp(answer.decision)) return parts_.charges.LeaveLine(c);
  parts_.room_holders.lines().Join({.queue = c.gang.queue,
                                    .priority = c.gang.priority,
                                    .queued = QueuedAt(c.gang, c.record),
                                    .namespace_name = c.gang.key.namespace_name,
                                    .name = c.gang.key.name,
                                    .gang = c.gang.id,
                                    .was_head = c.record.was_head},
                                   c.now);
  // The head of a Backfill queue is due before the next one is decided.
  const QuotaNodeId queue = desk_.ledger.book().QueueNamed(c.gang.queue);
  if (queue.valid() && desk_.ledger.book().OrderingOf(queue) == QueueOrdering::kBackfill) {
    changed_ = changed_ || parts_.room_holders.lines().IsFirst(c.gang.id);
  }
}

void Reservations::KeepReservations(absl::Time now) {
  if (desk_.warm.draining || parts_.room_holders.lines().empty())
    return;  // nor does any gang hold room
  parts_.room_holders.lines().EndBars(now);
  const absl::btree_set<GangId> holders = parts_.room_holders.holders();
  for (const GangId holder : holders) {
    if (!parts_.room_holders.holders().contains(holder)) continue;  // it made way for another one
    if (RenewalDue(*desk_.records.at(holder)->reservation) <= now) Renew(holder, now);
  }
  if (NextTurn() > now) return;
  const int64_t enough = desk_.counters.search_steps + desk_.options.search.turn;
  std::vector<WaitingLines::Head> heads = parts_.room_holders.lines().Heads();
  // Gangs that have waited longest come first, where only some may hold room.
  std::ranges::stable_sort(heads, {}, &WaitingLines::Head::since);
  for (WaitingLines::Head& head : heads) {
    // Where no start is in sight for a head, there may be one for the next of the line.
    while (head.gang.valid() && ReservationDue(head) <= now && !Reserve(head.gang, now)) {
      if (desk_.counters.search_steps >= enough) return;  // the next turn goes on
      const std::optional<WaitingLines::Head> next = parts_.room_holders.lines().HeadOf(head.queue);
      head.gang = next.has_value() ? next->gang : GangId();
    }
  }
}

bool Reservations::Reserve(GangId gang, absl::Time now) {
  std::optional<Case> c = desk_.Open(gang, now);
  if (parts_.searches.MustWaitToSearch(*c)) {
    parts_.room_holders.lines().Bar(gang, parts_.searches.SearchAgainAt(*c));
    return false;
  }
  const Opening opening = OpeningFor({.queue = c->gang.queue, .gang = gang, .since = now});
  GangRequest request = desk_.RequestOf(*c, ItemKind::kQuorum);
  SearchWork work = parts_.searches.WorkForLater(*c);
  request.work = &work;
  const std::optional<StartPlan> plan =
      PlanStartOf(*c, request, Beside::kOthers, now, opening.displaced);
  if (!plan.has_value()) {
    // No other gang begins to hold room before the one that has waited longest.
    if (!parts_.room_holders.holders().empty() &&
        PlanStartOf(*c, request, Beside::kNobody, now).has_value())
      parts_.room_holders.LetLinesWait();
    parts_.searches.NoteSearch(*c, work, CameTo::kNothing);
    if (parts_.searches.Unfinished(work)) {
      parts_.room_holders.lines().Bar(gang, parts_.searches.SearchAgainAt(*c));
      return false;
    }
    if (!parts_.room_holders.lines_wait())
      parts_.room_holders.lines().Bar(gang, now + kPlanAgainAfter);
    if (parts_.room_holders.lines_wait()) parts_.room_holders.OpeningsChanged();
    return false;
  }
  parts_.searches.NoteSearch(*c, work, CameTo::kAPlan);
  if (opening.displaced.has_value()) EndReservation(*opening.displaced, now);
  ++desk_.counters.reservations;
  c->record.reservation =
      Reservation{.modest = IsModest(c->record),
                  .made = now,
                  .first_start = plan->at,
                  .first_end = plan->end,
                  .until = LastMoment(now, *plan, desk_.options.reservation_after)};
  parts_.room_holders.Add(gang);
  Keep(*c, request, *plan);
  return true;
}

// Holds this plan in place of the earlier one, and has the gang decided anew.
void Reservations::Keep(Case& c, const GangRequest& request, const StartPlan& plan) {
  Reservation& reservation = *c.record.reservation;
  std::vector<FreedRoom> rooms;
  std::vector<PlacedPods> placed;
  for (const Placement& place : plan.plan.placements) {
    const ShapeId shape = std::ranges::find(request.wants, place.pod, &Want::pod)->shape;
    rooms.push_back({place.node, shape});
    placed.push_back({.shape = shape, .node = place.node});
  }
  reservation.demand = desk_.ledger.CostOf(c.gang.queue, placed, *desk_.Picture().tables);
  parts_.room_holders.OpeningsChanged();
  const bool moved = !SameRooms(reservation.rooms, rooms);
  if (moved || plan.at > reservation.start || plan.end != reservation.end) {
    // More guests may end before the new start.
    for (const FreedRoom& room : rooms) desk_.news.room_grew.insert(room.node);
  }
  std::vector<std::string> nodes;
  if (moved) {
    for (const Reservation::Room& room : reservation.rooms) {
      desk_.state.ReleaseHold(room.hold, desk_.news);
    }
    reservation.rooms.clear();
    for (const FreedRoom& room : rooms) {
      reservation.rooms.push_back({desk_.state.Hold(room.node, room.shape), room.node, room.shape});
      nodes.emplace_back(desk_.state.NodeName(room.node));
    }
  }
  EndReservationsUnder(c, request);
  reservation.start = plan.at;
  reservation.end = plan.end;
  if (moved) {
    desk_.Log(c, "reserve",
              absl::StrCat(" at ", StartText(reservation), ": ", absl::StrJoin(nodes, " ")));
  }
  reservation.renewed = c.now;
  reservation.stale = reservation.lost = false;
  GatherHeldQuota(c.now);
  desk_.queue.Offer({c.gang.id, ItemKind::kQuorum}, parts_.charges.OrderOf(c, ItemKind::kQuorum));
  desk_.to_report.insert(c.gang.id);
}

// Holders that yield to the gang plan anew, beside it.
void Reservations::EndReservationsUnder(const Case& c, const GangRequest& request) {
  absl::btree_set<NodeId> nodes;
  for (const Reservation::Room& room : c.record.reservation->rooms) nodes.insert(room.node);
  const absl::btree_set<GangId> holders = parts_.room_holders.holders();
  for (const GangId holder : holders) {
    if (holder == c.gang.id ||
        !parts_.yielding.YieldsToNominal(c, request, holder, desk_.ledger.tree()))
      continue;
    if (std::ranges::any_of(
            desk_.records.at(holder)->reservation->rooms,
            [&nodes](const Reservation::Room& room) { return nodes.contains(room.node); })) {
      EndReservation(holder, c.now);
    }
  }
}

void Reservations::Renew(GangId gang, absl::Time now) {
  std::optional<Case> c = desk_.Open(gang, now);
  GangRequest request = desk_.RequestOf(*c, ItemKind::kQuorum);
  SearchWork work = parts_.searches.WorkForLater(*c);
  request.work = &work;
  if (now < c->record.reservation->until) {
    if (SendOverstayersAway(*c, request)) return;
    for (const absl::Time by : {c->record.reservation->made, now}) {
      if (const auto plan = PlanStartOf(*c, request, Beside::kOthers, by)) {
        parts_.searches.NoteSearch(*c, work, CameTo::kAPlan);
        return Keep(*c, request, *plan);
      }
    }
  }
  parts_.searches.NoteSearch(*c, work, CameTo::kNothing);
  const bool expired = now >= c->record.reservation->until;
  c->record.was_head = absl::ZeroDuration();
  EndReservation(gang, now);
  parts_.room_holders.lines().Bar(
      gang, now + (expired ? desk_.options.reservation_after : kPlanAgainAfter));
}

void Reservations::EndReservation(GangId gang, absl::Time now) {
  std::optional<Case> c = desk_.Open(gang, now);
  desk_.Log(*c, "end the reservation of");
  parts_.room_holders.Drop(gang, c->record);
  parts_.charges.ChargeQuota(*c);
  desk_.queue.Offer({gang, ItemKind::kQuorum}, parts_.charges.OrderOf(*c, ItemKind::kQuorum));
  desk_.to_report.insert(gang);
}

std::vector<HeldStart> Reservations::HeldStarts() const {
  std::vector<HeldStart> starts;
  for (const GangId holder : parts_.room_holders.holders()) {
    const Reservation& reservation = *desk_.records.at(holder)->reservation;
    HeldStart held{.gang = desk_.state.FindGang(holder)->key,
                   .made = reservation.made,
                   .first_start = reservation.first_start,
                   .first_end = reservation.first_end,
                   .nodes = {}};
    for (const Reservation::Room& room : reservation.rooms) {
      if (room.node.valid()) held.nodes.emplace_back(desk_.state.NodeName(room.node));
    }
    starts.push_back(std::move(held));
  }
  return starts;
}

// Takes as much of the holders' demand as is nominal and available, before any other gang asks. The
// holder with the earliest start comes first.
void Reservations::GatherHeldQuota(absl::Time now) {
  if (parts_.room_holders.holders().empty()) return;
  std::vector<std::pair<absl::Time, GangId>> order;
  QuotaTree tree = desk_.ledger.tree().Supposed();  // with what is held, as far as that is gathered
  for (const GangId holder : parts_.room_holders.holders()) {
    const GangRecord& record = *desk_.records.at(holder);
    order.emplace_back(record.reservation->start, holder);
    const QuotaNodeId queue = desk_.ledger.book().QueueNamed(record.queue);
    if (queue.valid()) tree.Remove(queue, record.reservation->held);
  }
  std::ranges::sort(order);
  std::vector<std::pair<GangId, Demand>> changed;
  for (const auto& [start, holder] : order) {
    const GangRecord& record = *desk_.records.at(holder);
    const QuotaNodeId queue = desk_.ledger.book().QueueNamed(record.queue);
    if (!queue.valid()) continue;
    std::map<QuotaCellId, Amount> late;
    std::vector<GangId>& newcomers = desk_.records.at(holder)->reservation->newcomers;
    std::erase_if(newcomers, [&](GangId gang) {
      const Demand charged = desk_.ledger.ChargedTo(queue, gang);
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
    desk_.records.at(holder)->reservation->held = std::move(held);
    parts_.charges.ChargeQuota(*desk_.Open(holder, now));
  }
}

}  // namespace maniple
