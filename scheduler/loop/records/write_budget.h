// A budget of writes about one object: so many at once, and then one each interval.
//
//   WriteBudget<std::string> events({.burst = 25, .interval = absl::Minutes(5)});
//   if (events.Spend("default/uid-1", now)) Send(…);
//
// Owned by the scheduling thread. An object costs memory only while its budget is not whole again.
//
// Invariant: no more than most_objects are remembered; beyond that the one is forgotten whose
// budget would be whole soonest.
#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/time/time.h"
#include "api/base/due_times.h"

namespace maniple {

struct WriteBudgetOptions {
  int burst = 1;
  absl::Duration interval = absl::Seconds(1);
  size_t most_objects = 65'536;
};

template <typename Key>
class WriteBudget final {
 public:
  explicit WriteBudget(WriteBudgetOptions options) : options_(options) {}

  // False: the budget is spent until MayAt.
  [[nodiscard]] bool Spend(const Key& key, absl::Time now) {
    while (whole_at_.Next() <= now) Forget();
    const absl::Duration whole = options_.burst * options_.interval;
    // A clock that was put back silences no object for longer than an interval.
    const absl::Time before = std::min(whole_at_.At(key).value_or(now), now + whole);
    const bool may = before + options_.interval <= now + whole;
    whole_at_.Set(key, may ? before + options_.interval : before);
    if (!may) return false;
    if (whole_at_.size() > options_.most_objects) Forget();
    return true;
  }
  // InfinitePast: at once.
  [[nodiscard]] absl::Time MayAt(const Key& key) const {
    return whole_at_.At(key).value_or(absl::InfinitePast()) -
           (options_.burst - 1) * options_.interval;
  }
  [[nodiscard]] size_t objects() const { return whole_at_.size(); }

 private:
  void Forget() {
    const Key first = whole_at_.First();
    whole_at_.Set(first, absl::InfiniteFuture());
  }

  WriteBudgetOptions options_;
  DueTimes<Key> whole_at_;
};

}  // namespace maniple
