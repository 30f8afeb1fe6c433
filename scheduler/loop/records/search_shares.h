// Shares of searching: long searches for the gangs of one Queue hardly lengthen
// the waits of others.
//
// A decision is never interrupted. While one takes L, a gang that comes meanwhile waits L/2 more
// in the mean. Where such decisions follow each other every T, the mean wait of all others grows by
// L²/2T. So after a long search that started nothing a lane rests for T = L²/2h, and adds no more
// than h. A lane is a Queue, or a namespace for gangs without one. Short searches go on meanwhile.
//
// A gang that needs a long search gets a slot, first come first served. If the lane rests when the
// slot has come, since other searches took longer than expected, the gang gets the next slot.
//
//   if (!shares.Rests(lane, now) && !shares.HasSlots(lane, now)) Search();
//   slot = shares.TakeSlot(lane, steps, now);
//   … at that time, unless it rests: search …
//   shares.Charge(lane, work.used(), now);
//
// Owned by the scheduling loop. A lane costs memory only while it rests.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "api/base/backoff.h"
#include "api/base/due_times.h"

namespace maniple {

// In steps of search_work.h, of which a millisecond has about half a million.
struct SearchBudget {
  // A turn ends after so many steps, to look at the news. A lane that has spent them on searches
  // that came to nothing lets all others go first; among few and easy gangs order alone decides.
  int64_t turn = 20'000'000;
  // A search of no more steps is short: it never has to wait for a slot.
  int64_t brief = 2'000'000;
  // The steps of all searches of one decision: at least this; more for gangs and clusters so large
  // that one trial takes more; never more than the most.
  int64_t least = 200'000'000, most = 1'000'000'000;
  int64_t for_each_pair = 100;  // of a member and a node
  // The most that long searches of one lane may add to the mean wait of others.
  absl::Duration harm = absl::Microseconds(500);
  // The pause before the next search for a gang for which one gave up.
  BackoffPolicy given_up = {.first = absl::Seconds(1), .most = absl::Minutes(1)};

  [[nodiscard]] int64_t MostFor(int64_t members, int64_t nodes) const;
};

class SearchShares final {
 public:
  explicit SearchShares(absl::Duration harm) : harm_(harm) {}

  // No gang of the lane may search for long.
  [[nodiscard]] bool Rests(const std::string& lane, absl::Time now) const;
  // A gang of the lane has a slot, or had one so lately that the next cannot begin yet.
  [[nodiscard]] bool HasSlots(const std::string& lane, absl::Time now) const;
  // The slot after all others, for about so many steps.
  [[nodiscard]] absl::Time TakeSlot(const std::string& lane, int64_t steps, absl::Time now);
  // A search of so many steps came to nothing.
  void Charge(const std::string& lane, int64_t steps, absl::Time now);

 private:
  using Times = DueTimes<std::string>;  // by lane; past ones are forgotten
  [[nodiscard]] absl::Duration RestAfter(int64_t steps) const;
  [[nodiscard]] static absl::Time At(const Times& times, const std::string& lane, absl::Time now);
  static void Set(Times& times, const std::string& lane, absl::Time at, absl::Time now);

  absl::Duration harm_;
  Times rest_until_, next_slot_;
};

}  // namespace maniple
