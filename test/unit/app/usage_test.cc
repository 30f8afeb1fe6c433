// Fears: what is told of the last day is not what was used in it; a Queue that was made anew owes
// hours, or is owed some; the memory of a week is as large as the cluster is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/app/answers/admin_view.h"
#include "scheduler/app/doors/usage_history.h"
#include "scheduler/cli/usage_table.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;
using ::testing::IsNull;

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

QueueView QueueThatUsed(const std::string& name, int64_t seconds, int gangs = 0) {
  QueueView queue{.name = name, .used = {{"research", "h100", "nvidia.com/gpu", seconds, 7}}};
  for (int i = 0; i < gangs; ++i) queue.history.waited.Note(absl::Minutes(2));
  queue.history.left[0] = gangs / 2;
  return queue;
}

ClusterFiguresPtr Views(std::vector<QueueView> queues) {
  return std::make_shared<const ClusterFigures>(ClusterFigures{.queues = std::move(queues)});
}

TEST(UsageHistory, KeepsAPointForEachHourOfAWeek) {
  UsageHistory history({});
  EXPECT_THAT(history.At(kStart), IsNull());
  for (int minute = 0; minute <= 60 * 24 * 9; minute += 5) {
    history.Note(Views({QueueThatUsed("team", minute)}), kStart + absl::Minutes(minute));
  }
  const absl::Time now = kStart + absl::Hours(24 * 9);
  const UsagePointPtr day = history.At(now - absl::Hours(24) + absl::Minutes(30));
  EXPECT_EQ(day->at, now - absl::Hours(24));
  EXPECT_EQ(day->queues.at("team").used.at(0).total, 60 * 24 * 8);
  EXPECT_EQ(history.At(kStart)->at, now - absl::Hours(24 * 7));
  history.Note(nullptr, now);
  EXPECT_THAT(history.At(now), IsNull());
}

TEST(UsageHistory, ForgetsTheOldestBeyondItsRows) {
  UsageHistory history({.most_rows = 20});
  for (int hour = 0; hour < 100; ++hour) {
    history.Note(Views({QueueThatUsed("a", hour), QueueThatUsed("b", hour)}),
                 kStart + absl::Hours(hour));
  }
  EXPECT_EQ(history.At(kStart)->at, kStart + absl::Hours(95));
  // One that is too large by itself is better than none.
  UsageHistory tiny({.most_rows = 1});
  tiny.Note(Views({QueueThatUsed("a", 1), QueueThatUsed("b", 1)}), kStart);
  EXPECT_EQ(tiny.At(kStart)->at, kStart);
}

Json UsageSince(const std::vector<QueueView>& then, std::vector<QueueView> now) {
  UsageHistory history({});
  history.Note(Views(then), kStart);
  ClusterView view;
  view.queues = std::move(now);
  const UsagePointPtr from = history.At(kStart);
  return *Json::Parse(AdminJson(view, {.path = "/usage"}, {.used_by = from.get()}).value());
}

TEST(UsageSince, IsWhatWasUsedMeanwhile) {
  const Json usage = UsageSince({QueueThatUsed("idle", 500), QueueThatUsed("team", 3600, 2)},
                                {QueueThatUsed("idle", 500), QueueThatUsed("team", 10'800, 6)});
  EXPECT_EQ(UsageTable(UsageBy(usage, {"queue"}), {"queue"}),
            "QUEUE  RESOURCE        HOURS  RECENT  STARTED  MEAN WAIT  LEFT\n"
            "team   nvidia.com/gpu  2.0    0.0     4        2m         2 Preempted\n"
            "since 2023-11-14 22:13:20 UTC\n");
  EXPECT_THAT(UsageTable(UsageBy(usage, {"namespace"}), {"namespace"}),
              HasSubstr("research   nvidia.com/gpu  2.0"));
}

TEST(UsageSince, AQueueThatWasMadeAnewCountsAnew) {
  const Json usage =
      UsageSince({QueueThatUsed("team", 36'000, 9)}, {QueueThatUsed("team", 1800, 1)});
  EXPECT_THAT(UsageTable(UsageBy(usage, {"queue"}), {"queue"}),
              HasSubstr("team   nvidia.com/gpu  0.5    0.0     1        2m         -\n"));
}

TEST(UsageSince, WhoUsedNothingButStartedIsTold) {
  QueueView cpu{.name = "cpu"};
  cpu.history.waited.Note(absl::Seconds(4));
  EXPECT_THAT(UsageTable(UsageBy(UsageSince({}, {cpu}), {"queue"}), {"queue"}),
              HasSubstr("cpu    -         -      -       1        4s         -\n"));
}

TEST(UsageSince, IsNotAnsweredByLifetimesWhereNoPointIsKnown) {
  ClusterView view;
  view.queues = {QueueThatUsed("team", 3600)};
  const AdminQuestion ever{.path = "/usage"},
      since{.path = "/usage", .since = "2023-11-14T22:13:20Z"};
  EXPECT_TRUE(AdminJson(view, ever).ok());
  const absl::Status status = AdminJson(view, since).status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("no use is remembered yet"));
}

}  // namespace
}  // namespace maniple
