// Which points of the past are kept and found, against a list of all. Fears: the point before a
// moment is dropped while it is still needed; rows are counted wrongly, and all is kept, or
// nothing; a former lead's numbers are told.
#include "scheduler/app/doors/usage_history.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::app_usage_points_test {
namespace {

constexpr absl::Duration kInterval = absl::Minutes(10), kSpan = absl::Hours(2);

ClusterFiguresPtr Figures(size_t queues, size_t used) {
  auto figures = std::make_shared<ClusterFigures>();
  for (size_t i = 0; i < queues; ++i) {
    QueueView& queue = figures->queues.emplace_back();
    queue.name = absl::StrCat("q", i);
    queue.used.resize(used);
  }
  return figures;
}

// All that were noted since the lead began.
struct Noted {
  absl::Time at;
  size_t rows = 0;
};

// Of those, the ones that the bounds leave.
std::vector<Noted> Kept(const std::vector<Noted>& all, size_t most_rows) {
  std::vector<Noted> kept;
  for (const Noted& point : all) {
    kept.push_back(point);
    const auto rows = [&kept] {
      size_t sum = 0;
      for (const Noted& each : kept) sum += each.rows;
      return sum;
    };
    while (kept.size() > 1 && (rows() > most_rows || kept[1].at <= point.at - kSpan)) {
      kept.erase(kept.begin());
    }
  }
  return kept;
}

TEST(UsagePoints, TheNewestBeforeAMomentIsFoundAsInAListOfAll) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const size_t most_rows = 5 + random.Below(100);
    UsageHistory history({.interval = kInterval, .span = kSpan, .most_rows = most_rows});
    std::vector<Noted> all;
    absl::Time now = absl::UnixEpoch();
    for (int i = 0; i < 80; ++i) {
      now += absl::Minutes(random.Below(25));
      if (random.OneIn(60)) {
        history.Note(nullptr, now);
        all.clear();
      }
      const size_t queues = random.Below(4), used = random.Below(3);
      history.Note(Figures(queues, used), now);
      if (all.empty() || now >= all.back().at + kInterval) {
        all.push_back({now, queues + queues * used});
      }
      const std::vector<Noted> kept = Kept(all, most_rows);
      const absl::Time then = now - absl::Minutes(random.Below(200));
      absl::Time wanted = kept.front().at;
      for (const Noted& point : kept) {
        if (point.at <= then) wanted = point.at;
      }
      ASSERT_NE(history.At(then), nullptr);
      ASSERT_EQ(history.At(then)->at, wanted) << "seed " << seed << ", step " << i;
    }
  }
}

TEST(UsagePoints, WhoDoesNotLeadKnowsNothing) {
  UsageHistory history({});
  EXPECT_EQ(history.At(absl::InfiniteFuture()), nullptr);
  history.Note(Figures(1, 1), absl::UnixEpoch());
  EXPECT_NE(history.At(absl::InfinitePast()), nullptr);
  history.Note(nullptr, absl::UnixEpoch());
  EXPECT_EQ(history.At(absl::InfiniteFuture()), nullptr);
}

}  // namespace
}  // namespace maniple::app_usage_points_test
