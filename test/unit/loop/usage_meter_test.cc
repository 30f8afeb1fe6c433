// The sums of GPU use over time. Fears: use that no integer holds is told as a debt; a gang that
// is taken off is counted on; the meter keeps a Queue in use that no gang uses.
#include "scheduler/loop/quota/usage_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace maniple::loop_usage_meter_test {
namespace {

using ::testing::IsEmpty;

constexpr char kGpu[] = "nvidia.com/gpu";
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

class UsageMeterBounds : public ::testing::Test {
 protected:
  void Use(uint32_t gang, int64_t amount, absl::Time now) {
    std::vector<UsageMeter::Use> uses;
    if (amount > 0) uses.push_back({"", kGpu, amount});
    meter_.Set(GangId(gang), {"team", "a"}, uses, now);
  }
  [[nodiscard]] ResourceSeconds UsedAt(absl::Time now) const {
    return meter_.RecordOf("team", now).rows.at(0);
  }
  UsageMeter meter_;
};

// Shapes count at most so much of a resource.
TEST_F(UsageMeterBounds, UseThatNoIntegerHoldsIsTheMostThatIsTold) {
  constexpr int64_t kMostAmount = int64_t{1} << 50;
  Use(1, kMostAmount, kNow);
  for (const int seconds : {1, 8, 9, 8'191, 8'192, 8'193, 1'000'000'000}) {
    const ResourceSeconds row = UsedAt(kNow + absl::Seconds(seconds));
    EXPECT_EQ(row.total, std::min(kMostResourceSeconds, kMostAmount * std::min(seconds, 8)));
    EXPECT_GT(row.recent, 0) << seconds;
    EXPECT_LE(row.recent, kMostResourceSeconds) << seconds;
  }
}

TEST_F(UsageMeterBounds, TimesThatGoBackCountAsTheLatest) {
  Use(1, 2, kNow);
  Use(1, 4, kNow + absl::Seconds(10));
  Use(1, 8, kNow - absl::Hours(1));
  EXPECT_EQ(UsedAt(kNow).total, 20);
  EXPECT_EQ(UsedAt(kNow + absl::Seconds(11)).total, 28);
  Use(1, 0, kNow + absl::Seconds(11));
  EXPECT_EQ(UsedAt(kNow + absl::Hours(9)).total, 28);
}

TEST_F(UsageMeterBounds, AQueueIsInUseWhileAGangUsesIt) {
  EXPECT_THAT(meter_.QueuesInUse(), IsEmpty());
  Use(1, 2, kNow);
  Use(1, 2, kNow);
  Use(2, 3, kNow);
  EXPECT_EQ(meter_.QueuesInUse().at("team"), 2);
  meter_.Restart("team", kNow);
  EXPECT_EQ(meter_.QueuesInUse().at("team"), 2);
  meter_.Set(GangId(1), {"other", "a"}, {{"", kGpu, 2}}, kNow);
  EXPECT_EQ(meter_.QueuesInUse().at("team"), 1);
  Use(2, 0, kNow);
  Use(2, 0, kNow);
  EXPECT_FALSE(meter_.QueuesInUse().contains("team"));
}

TEST_F(UsageMeterBounds, WhatANameGivesAwayIsUsedWithoutAQueueForGood) {
  const auto none_at = [this](int seconds) {
    const auto is_queue = [](const std::string& name) { return name == "other"; };
    const std::vector<ResourceSeconds> rows =
        meter_.RecordBeside(is_queue, kNow + absl::Seconds(seconds)).rows;
    return rows.empty() ? -1 : rows.at(0).total;
  };
  meter_.Set(GangId(9), {"other", "a"}, {{"", kGpu, 100}}, kNow);
  EXPECT_EQ(none_at(5), -1);
  Use(1, 2, kNow);
  meter_.Set(GangId(2), {"", "a"}, {{"", kGpu, 1}}, kNow);
  EXPECT_EQ(none_at(10), 20 + 10) << "two accounts, one row";
  meter_.GiveToNone("team", kNow + absl::Seconds(10));
  EXPECT_EQ(none_at(10), 20 + 10);
  EXPECT_EQ(UsedAt(kNow + absl::Seconds(15)).total, 10) << "it goes on from nothing";
  meter_.Restart("team", kNow + absl::Seconds(10));
  Use(1, 0, kNow + absl::Seconds(10));
  EXPECT_EQ(none_at(15), 20 + 15);
}

}  // namespace
}  // namespace maniple::loop_usage_meter_test
