// Times of many things. Fears: a time that was replaced still rings; one that is never due does;
// ties come in an order that depends on the run.
#include "api/base/due_times.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/base/random.h"

namespace maniple {
namespace {

absl::Time At(int64_t seconds) { return absl::FromUnixSeconds(seconds); }

TEST(DueTimes, TheLastWordCounts) {
  DueTimes<std::string> due;
  due.Set("a", At(1));
  due.Set("a", At(5));
  EXPECT_EQ(due.PopDue(At(4)), std::nullopt);
  EXPECT_EQ(due.PopDue(At(5)), "a");
  EXPECT_EQ(due.Next(), absl::InfiniteFuture());
  EXPECT_FALSE(due.Has("a"));
}

TEST(DueTimes, TheInfiniteFutureIsNever) {
  DueTimes<std::string> due;
  due.Set("a", At(1));
  due.Set("a", absl::InfiniteFuture());
  EXPECT_EQ(due.PopDue(absl::InfiniteFuture()), std::nullopt);
  EXPECT_EQ(due.size(), 0u);
}

TEST(DueTimes, AreThoseOfAPlainMap) {
  Random random(11);
  DueTimes<int64_t> due;
  std::map<int64_t, absl::Time> model;
  absl::Time now = At(0);
  for (int step = 0; step < 20'000; ++step) {
    const auto key = static_cast<int64_t>(random.Below(40));
    now += absl::Seconds(random.Below(2));
    if (random.OneIn(3)) {
      due.Erase(key);
      model.erase(key);
    } else {
      const absl::Time at = now + absl::Seconds(random.Below(30));
      due.Set(key, at);
      model[key] = at;
    }
    absl::Time next = absl::InfiniteFuture();
    for (const auto& [other, at] : model) next = std::min(next, at);
    ASSERT_EQ(due.Next(), next);
    ASSERT_EQ(due.size(), model.size());
    std::vector<int64_t> until;
    for (const auto& [other, at] : model) {
      if (at <= now) until.push_back(other);
    }
    ASSERT_EQ(due.Until(now), until);
    while (const std::optional<int64_t> first = due.PopDue(now)) {
      for (const auto& [other, at] : model) {
        EXPECT_TRUE(std::pair(model.at(*first), *first) <= std::pair(at, other));
      }
      model.erase(*first);
    }
  }
}

}  // namespace
}  // namespace maniple
