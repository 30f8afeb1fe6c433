#include "scheduler/loop/desk/searches.h"

#include "absl/strings/str_cat.h"
#include "api/base/time_text.h"

namespace maniple {
namespace {

// The assumed length of a search that was broken off because it was not short.
constexpr int64_t kLikelySteps = 20'000'000;

// The tenant whose gangs share a lane.
std::string SharersOf(const Gang& gang) {
  return gang.queue.empty() ? absl::StrCat("namespace ", gang.key.namespace_name)
                            : absl::StrCat("queue ", gang.queue);
}

}  // namespace

bool Searches::MaySearchForLong(const Case& c) const {
  const std::string lane = SharersOf(c.gang);
  if (shares_.Rests(lane, c.now)) return false;
  const Rare<SearchMemory>& search = c.record.search;
  if (search.has_value() && search->slot.has_value()) return *search->slot <= c.now;
  return !shares_.HasSlots(lane, c.now);
}

SearchWork Searches::WorkFor(const Case& c, const GangRequest& request, bool has_room_made) {
  if (!has_room_made && !MaySearchForLong(c)) return SearchWork(desk_.options.search.brief);
  return SearchWork(desk_.options.search.MostFor(static_cast<int64_t>(request.wants.size()),
                                                 desk_.Picture().node_count()));
}

// A later start takes one search for each end of a running gang.
SearchWork Searches::WorkForLater(const Case& c) const {
  return SearchWork(MaySearchForLong(c) ? desk_.options.search.most : desk_.options.search.brief);
}

bool Searches::Unfinished(const SearchWork& work) const {
  return work.spent() && work.most() <= desk_.options.search.brief;
}

bool Searches::MustWaitToSearch(const Case& c) const {
  const Rare<SearchMemory>& search = c.record.search;
  if (!search.has_value()) return false;
  return c.now < search->again_at || (search->steps > 0 && !MaySearchForLong(c));
}

absl::Time Searches::TakeSearchSlot(Case& c) {
  Rare<SearchMemory>& search = c.record.search;
  if (!search.has_value()) search.emplace();
  if (search->slot.has_value() && *search->slot > c.now) return *search->slot;
  if (search->steps == 0) search->steps = kLikelySteps;
  ++desk_.counters.searches_put_off;
  return search->slot.emplace(shares_.TakeSlot(SharersOf(c.gang), search->steps, c.now));
}

absl::Time Searches::SearchAgainAt(Case& c) {
  const Rare<SearchMemory>& search = c.record.search;
  if (search.has_value() && c.now < search->again_at) return search->again_at;
  return TakeSearchSlot(c);
}

// The gang's last message stays true as far as is known.
void Searches::PutOffSearch(Case& c, QueueItem item) {
  const absl::Time until = SearchAgainAt(c);
  const bool is_surplus = item.kind == ItemKind::kSurplus;
  if ((is_surplus ? c.record.surplus_waiting : c.record.waiting) == nullptr) {
    parking_.Note(c, item,
                  {.reason = WaitReason::kBackingOff,
                   .message = absl::StrCat(
                       "the search for its place takes long, and ", SharersOf(c.gang),
                       " has searched for long just now; looked at again at ", ClockText(until))});
  }
  parking_.Park(c, item, {.class_key = absl::StrCat("search ", c.gang.id.index()), .until = until});
}

void Searches::NoteSearch(Case& c, const SearchWork& work, CameTo what) {
  desk_.counters.search_steps += work.used();
  // A search that found a plan is not charged: binding takes longer than the search did.
  if (what == CameTo::kNothing) ChargeInVain(c, work);
  if (what == CameTo::kNothing && Unfinished(work)) return;  // it is still to be made
  const bool is_long = work.used() > desk_.options.search.brief;
  Rare<SearchMemory>& search = c.record.search;
  if (!search.has_value() && !is_long) return;
  if (!search.has_value()) search.emplace();
  search->slot.reset();
  search->steps = is_long ? work.used() : 0;
}

void Searches::ChargeInVain(const Case& c, const SearchWork& work) {
  const std::string lane = SharersOf(c.gang);
  if (work.used() > desk_.options.search.brief && !Unfinished(work)) {
    shares_.Charge(lane, work.used(), c.now);
  }
  int64_t& steps = lane_steps_[lane];
  steps += work.used();
  if (steps < desk_.options.search.turn) return;
  steps = 0;
  desk_.queue.StandAside(
      {.namespace_name = c.gang.key.namespace_name, .queue = c.record.order_queue});
}

void Searches::BackOffFromSearch(Case& c, ParkFacts& facts) {
  Rare<SearchMemory>& search = c.record.search;
  if (!search.has_value()) search.emplace();
  if (!search->backoff.has_value()) search->backoff = Backoff(desk_.options.search.given_up);
  search->again_at = c.now + search->backoff->Next(desk_.random);
  facts.relief = 0;
  facts.until = search->again_at;
}

void Searches::ForgetSearch(GangRecord& record) {
  if (!record.search.has_value()) return;
  record.search->steps = 0;
  record.search->again_at = absl::InfinitePast();
}

}  // namespace maniple
