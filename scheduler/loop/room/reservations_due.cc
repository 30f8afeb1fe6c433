// The turn of each head to hold room for a later start,
// and the time when a hold is looked at again.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "api/base/time_text.h"
#include "scheduler/loop/room/reservations.h"

namespace maniple {
namespace {

// A plan is made anew at most so often for facts that can only improve it.
constexpr absl::Duration kRenewEvery = absl::Seconds(30);

}  // namespace

// The demand, as the queue orders by it, is within nominal quota.
bool Reservations::IsModest(const GangRecord& record) const {
  return record.order_queue.valid() &&
         std::ranges::all_of(record.order_demand, [&](const CellAmount& part) {
           return part.amount <= desk_.ledger.tree().Nominal(record.order_queue, part.cell);
         });
}

// One holder per Queue, and a limited number per tree of Cohorts; there a gang that stays within
// nominal comes before one that would borrow.
Opening Reservations::OpeningFor(const WaitingLines::Head& head) const {
  const QuotaBook& book = desk_.ledger.book();
  const QuotaNodeId queue = book.QueueNamed(head.queue);
  const bool cohort =
      !head.queue.empty() && queue.valid() && desk_.ledger.tree().Parent(queue).valid();
  const bool modest = IsModest(*desk_.records.at(head.gang));
  Opening opening;
  int32_t others = 0;
  for (const GangId holder : parts_.room_holders.holders()) {
    const std::string& theirs = desk_.state.FindGang(holder)->queue;
    if (theirs == head.queue) return {.free = false};
    if (theirs.empty() || !cohort) continue;
    const QuotaNodeId other = book.QueueNamed(theirs);
    if (!other.valid() || desk_.ledger.tree().Root(other) != desk_.ledger.tree().Root(queue))
      continue;
    ++others;
    // As it seemed then: today's answer may depend on the holders, and two gangs could take turns.
    if (modest && !desk_.records.at(holder)->reservation->modest) opening.displaced = holder;
  }
  if (!cohort || others < desk_.options.holds_per_cohort) return {};
  opening.free = opening.displaced.has_value();
  return opening;
}

// When the head is due; never while the limit of holders is reached.
absl::Time Reservations::ReservationDue(const WaitingLines::Head& head) const {
  if (parts_.room_holders.lines_wait() || !OpeningFor(head).free) return absl::InfiniteFuture();
  const QuotaNodeId queue = desk_.ledger.book().QueueNamed(head.queue);
  const bool at_once =
      queue.valid() && desk_.ledger.book().OrderingOf(queue) == QueueOrdering::kBackfill;
  return at_once ? head.since : head.since + desk_.options.reservation_after;
}

absl::Time Reservations::RenewalDue(const Reservation& reservation) const {
  if (reservation.lost) return absl::InfinitePast();
  absl::Time due = std::min(reservation.until, reservation.start + kEndGrace);
  if (reservation.stale) due = std::min(due, reservation.renewed + kRenewEvery);
  for (const GangId guest : reservation.guests) {
    const auto it = desk_.records.find(guest);
    if (it == desk_.records.end() || !it->second->backfill.has_value()) continue;
    const absl::Time overdue = it->second->backfill->end + kEndGrace;
    if (overdue > reservation.renewed) due = std::min(due, overdue);
  }
  return due;
}

// Nothing is walked through while no line, no holder and no quota has changed.
absl::Time Reservations::NextTurn() {
  const std::set<std::string> changed = parts_.room_holders.lines().TakeChanged();
  if (parts_.room_holders.TakeOpeningsChanged()) {
    turns_.Clear();
    for (const WaitingLines::Head& head : parts_.room_holders.lines().Heads()) {
      turns_.Set(head.queue, ReservationDue(head));
    }
    return turns_.Next();
  }
  for (const std::string& queue : changed) {
    const std::optional<WaitingLines::Head> head = parts_.room_holders.lines().HeadOf(queue);
    turns_.Set(queue, head.has_value() ? ReservationDue(*head) : absl::InfiniteFuture());
  }
  return turns_.Next();
}

absl::Status Reservations::CheckTurns() const {
  absl::Time next = absl::InfiniteFuture();
  for (const WaitingLines::Head& head : parts_.room_holders.lines().Heads()) {
    next = std::min(next, ReservationDue(head));
  }
  if (parts_.room_holders.openings_changed() || parts_.room_holders.lines().HasChanged() ||
      next == turns_.Next())
    return absl::OkStatus();
  return absl::InternalError(absl::StrCat("TurnsAreKnown: the next hold is due at ", TimeText(next),
                                          ", not at ", TimeText(turns_.Next())));
}

absl::Time Reservations::NextReservation() {
  absl::Time next = std::min(parts_.room_holders.lines().NextEnd(), NextTurn());
  for (const GangId holder : parts_.room_holders.holders()) {
    next = std::min(next, RenewalDue(*desk_.records.at(holder)->reservation));
  }
  return next;
}

}  // namespace maniple
