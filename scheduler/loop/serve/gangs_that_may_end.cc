#include "scheduler/loop/serve/gangs_that_may_end.h"

#include <utility>

#include "scheduler/loop/desk/expected_ends.h"

namespace maniple {
namespace {

// Where ids change all the time, the whole is gathered at once in the end.
constexpr int kMostTimesBegun = 4;

}  // namespace

void GangsThatMayEnd::Begin() {
  times_begun_ = 0;
  BeginRound();
}

void GangsThatMayEnd::BeginRound() {
  under_way_ = true;
  stale_ = false;
  ++times_begun_;
  budgets_ = desk_.state.Budgets().size();
  last_ = GangId();
  gathered_.clear();
  gathered_.reserve(desk_.records.size());
  places_.clear();
  places_.reserve(desk_.records.size());
  changed_.clear();
}

bool GangsThatMayEnd::More(absl::Time now) {
  // The news is of what the leader's turn has not come to yet.
  const bool news = desk_.news.budgets_changed || desk_.news.queues_changed;
  if (stale_ || news || budgets_ != desk_.state.Budgets().size()) BeginRound();
  const bool at_once = times_begun_ >= kMostTimesBegun;
  size_t work = 0;
  auto next = last_.valid() ? desk_.records.upper_bound(last_) : desk_.records.begin();
  for (; next != desk_.records.end(); ++next) {
    if (work >= desk_.options.help_work_per_turn && !at_once) return false;
    last_ = next->first;
    work += 1;
    // Holds change without a look at their gangs.
    if (next->second->reservation.has_value()) {
      changed_.insert(last_);
    } else {
      work += Gather(last_, now);
    }
  }
  changed_.insert(desk_.touched.begin(), desk_.touched.end());
  changed_.insert(room_holders_.holders().begin(), room_holders_.holders().end());
  for (const GangId id : std::exchange(changed_, {})) Gather(id, now);
  return true;
}

size_t GangsThatMayEnd::Gather(GangId id, absl::Time now) {
  const Gang* gang = desk_.state.FindGang(id);
  const GangRecord* record = desk_.FindRecord(id);
  const bool stands = gang != nullptr && record != nullptr && Preemptions::Stands(*gang, *record);
  const bool holds = gang != nullptr && record != nullptr && record->reservation.has_value();
  if (!stands && !holds) {
    Drop(id);
    return 0;
  }
  RunningGang entry = preemptions_.RunningGangOf(*gang, *record, now);
  if (!stands) entry.members.clear();
  const RunSpan span = SpanOf(*gang, *record, now);
  if (stands && span.told == EndIs::kKnown) entry.known_end = span.end;
  if (holds) {
    OpenHolds open;
    open.Add(id, *record, desk_.ledger.book());
    entry.held.insert(entry.held.end(), open.rooms.begin(), open.rooms.end());
    entry.held_charge = Sum(entry.held_charge, record->reservation->held);
  }
  const size_t pods = entry.members.size();
  const auto [place, is_new] = places_.try_emplace(id, gathered_.size());
  if (is_new) {
    gathered_.push_back(std::move(entry));
  } else {
    gathered_[place->second] = std::move(entry);
  }
  return pods;
}

void GangsThatMayEnd::Drop(GangId id) {
  const auto place = places_.find(id);
  if (place == places_.end()) return;
  const size_t at = place->second;
  places_.erase(place);
  if (at + 1 < gathered_.size()) {
    gathered_[at] = std::move(gathered_.back());
    places_.at(gathered_[at].gang) = at;
  }
  gathered_.pop_back();
}

std::vector<RunningGang> GangsThatMayEnd::Take(GangId waiting) {
  Drop(waiting);
  return std::exchange(gathered_, {});
}

void GangsThatMayEnd::Stop() {
  under_way_ = false;
  gathered_.clear();
  places_.clear();
  changed_.clear();
}

void GangsThatMayEnd::NoteTurn() {
  if (under_way_) changed_.insert(desk_.to_report.begin(), desk_.to_report.end());
}

}  // namespace maniple
