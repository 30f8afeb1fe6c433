#include "scheduler/loop/records/search_shares.h"

#include <algorithm>

namespace maniple {
namespace {

constexpr absl::Duration kStep = absl::Nanoseconds(2);
// A lane is never given up, however long its searches are and however many gangs wait.
constexpr absl::Duration kLongestRest = absl::Hours(1);

}  // namespace

int64_t SearchBudget::MostFor(int64_t members, int64_t nodes) const {
  const int64_t pairs = members > most / std::max<int64_t>(1, nodes) ? most : members * nodes;
  return std::clamp(pairs > most / for_each_pair ? most : pairs * for_each_pair, least, most);
}

absl::Duration SearchShares::RestAfter(int64_t steps) const {
  const absl::Duration length = steps * kStep;
  return std::min(kLongestRest, length * absl::FDivDuration(length, 2 * harm_));
}

absl::Time SearchShares::At(const Times& times, const std::string& lane, absl::Time now) {
  // A clock that was put back makes no gang wait for longer.
  return std::min(times.At(lane).value_or(now), now + kLongestRest);
}

void SearchShares::Set(Times& times, const std::string& lane, absl::Time at, absl::Time now) {
  while (times.Next() <= now) {
    const std::string past = times.First();
    times.Set(past, absl::InfiniteFuture());
  }
  at = std::min(at, now + kLongestRest);
  times.Set(lane, at > now ? at : absl::InfiniteFuture());
}

bool SearchShares::Rests(const std::string& lane, absl::Time now) const {
  return At(rest_until_, lane, now) > now;
}

bool SearchShares::HasSlots(const std::string& lane, absl::Time now) const {
  return At(next_slot_, lane, now) > now;
}

absl::Time SearchShares::TakeSlot(const std::string& lane, int64_t steps, absl::Time now) {
  const absl::Time slot = std::max(At(rest_until_, lane, now), At(next_slot_, lane, now));
  Set(next_slot_, lane, slot + RestAfter(steps), now);
  return slot;
}

void SearchShares::Charge(const std::string& lane, int64_t steps, absl::Time now) {
  Set(rest_until_, lane, At(rest_until_, lane, now) + RestAfter(steps), now);
}

}  // namespace maniple
