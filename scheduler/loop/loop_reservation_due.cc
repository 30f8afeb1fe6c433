// Reservation: whose turn it is to hold room for a later start, and when a hold is looked at again.
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/loop/leadership.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// A plan is made anew at most so often for facts that only may improve it.
constexpr absl::Duration kRenewEvery = absl::Seconds(30);

}  // namespace

// Within what is nominal, as the queue has it.
bool Leadership::IsModest(const GangRecord& record) const {
  return record.order_queue.valid() &&
         std::ranges::all_of(record.order_demand, [&](const CellAmount& part) {
           return part.amount <= ledger_.tree().Nominal(record.order_queue, part.cell);
         });
}

// One a Queue, and some a tree of Cohorts; there who asks for no more than its Queue's own comes
// before who would borrow.
Opening Leadership::OpeningFor(const WaitingLines::Head& head) const {
  const QuotaBook& book = ledger_.book();
  const QuotaNodeId queue = book.QueueNamed(head.queue);
  const bool cohort = !head.queue.empty() && queue.valid() && ledger_.tree().Parent(queue).valid();
  const bool modest = IsModest(*records_.at(head.gang));
  Opening opening;
  int32_t others = 0;
  for (const GangId holder : holders_) {
    const std::string& theirs = state_.FindGang(holder)->queue;
    if (theirs == head.queue) return {.free = false};
    if (theirs.empty() || !cohort) continue;
    const QuotaNodeId other = book.QueueNamed(theirs);
    if (!other.valid() || ledger_.tree().Root(other) != ledger_.tree().Root(queue)) continue;
    ++others;
    // As it seemed then: what it seems now may depend on who holds room, and two could take turns.
    if (modest && !records_.at(holder)->reservation->modest) opening.displaced = holder;
  }
  if (!cohort || others < options_.holds_per_cohort) return {};
  opening.free = opening.displaced.has_value();
  return opening;
}

// When the head is due; never while as many hold room as may.
absl::Time Leadership::ReservationDue(const WaitingLines::Head& head) const {
  if (lines_wait_ || !OpeningFor(head).free) return absl::InfiniteFuture();
  const QuotaNodeId queue = ledger_.book().QueueNamed(head.queue);
  const bool at_once =
      queue.valid() && ledger_.book().OrderingOf(queue) == QueueOrdering::kBackfill;
  return at_once ? head.since : head.since + options_.reservation_after;
}

absl::Time Leadership::RenewalDue(const Reservation& reservation) const {
  if (reservation.lost) return absl::InfinitePast();
  absl::Time due = std::min(reservation.until, reservation.start + kEndGrace);
  if (reservation.stale) due = std::min(due, reservation.renewed + kRenewEvery);
  for (const GangId guest : reservation.guests) {
    const auto it = records_.find(guest);
    if (it == records_.end() || !it->second->backfill.has_value()) continue;
    const absl::Time overdue = it->second->backfill->end + kEndGrace;
    if (overdue > reservation.renewed) due = std::min(due, overdue);
  }
  return due;
}

// Nothing is walked through while no line, no holder and no quota has changed.
absl::Time Leadership::NextTurn() {
  const std::set<std::string> changed = lines_.TakeChanged();
  if (std::exchange(openings_changed_, false)) {
    turns_.Clear();
    for (const WaitingLines::Head& head : lines_.Heads()) {
      turns_.Set(head.queue, ReservationDue(head));
    }
    return turns_.Next();
  }
  for (const std::string& queue : changed) {
    const std::optional<WaitingLines::Head> head = lines_.HeadOf(queue);
    turns_.Set(queue, head.has_value() ? ReservationDue(*head) : absl::InfiniteFuture());
  }
  return turns_.Next();
}

absl::Status Leadership::CheckTurns() const {
  absl::Time next = absl::InfiniteFuture();
  for (const WaitingLines::Head& head : lines_.Heads()) {
    next = std::min(next, ReservationDue(head));
  }
  if (openings_changed_ || lines_.HasChanged() || next == turns_.Next()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("TurnsAreKnown: the next hold is due at ", TimeText(next),
                                          ", not at ", TimeText(turns_.Next())));
}

absl::Time Leadership::NextReservation() {
  absl::Time next = std::min(lines_.NextEnd(), NextTurn());
  for (const GangId holder : holders_) {
    next = std::min(next, RenewalDue(*records_.at(holder)->reservation));
  }
  return next;
}

}  // namespace maniple
