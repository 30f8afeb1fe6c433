#include "scheduler/loop/paced_statuses.h"

#include <gtest/gtest.h>

namespace maniple {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(1);
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

class PacedStatusesTest : public ::testing::Test {
 protected:
  // Looks at all that is due a while later; how many were written.
  int Write(int status) {
    now_ += absl::Minutes(1);
    int written = 0;
    for (const std::string& name : statuses_.Due(now_)) {
      if (statuses_.Take(name, status, now_).has_value()) ++written;
    }
    return written;
  }

  PacedStatuses<int> statuses_{kInterval};
  absl::Time now_ = kNow;
};

TEST_F(PacedStatusesTest, AStatusIsWrittenOnceWhileItStaysTheSame) {
  statuses_.Touch("q");
  EXPECT_EQ(Write(7), 1);
  statuses_.Made("q", "11");
  statuses_.Seen("q", "11");
  statuses_.Touch("q");
  EXPECT_EQ(Write(7), 0);
}

// A write that the server took only after a later one, or somebody's own.
TEST_F(PacedStatusesTest, WhatALaterVersionHasOverwrittenIsWrittenAgainOnce) {
  statuses_.Touch("q");
  EXPECT_EQ(Write(7), 1);
  statuses_.Made("q", "11");
  statuses_.Seen("q", "12");
  EXPECT_EQ(Write(7), 1);
  statuses_.Made("q", "13");
  statuses_.Seen("q", "13");
  EXPECT_EQ(Write(7), 0);
}

TEST_F(PacedStatusesTest, AWriteThatTheWatchShowsBeforeItsReplyIsNobodyElses) {
  statuses_.Touch("q");
  EXPECT_EQ(Write(7), 1);
  statuses_.Seen("q", "11");
  EXPECT_EQ(Write(7), 0);
  statuses_.Made("q", "11");
  EXPECT_EQ(Write(7), 0);
}

TEST_F(PacedStatusesTest, AWatchThatLagsBehindShowsNothingOfOthers) {
  statuses_.Touch("q");
  EXPECT_EQ(Write(7), 1);
  statuses_.Made("q", "11");
  statuses_.Seen("q", "9");
  EXPECT_EQ(Write(7), 0);
}

TEST_F(PacedStatusesTest, AfterALostLeadTheFirstWriteIsOfItsOwnTime) {
  statuses_.Touch("q");
  EXPECT_EQ(Write(7), 1);  // its reply is never heard
  statuses_.ForgetAll();
  EXPECT_EQ(Write(7), 1);
  statuses_.Made("q", "20");
  statuses_.Seen("q", "21");
  EXPECT_EQ(Write(7), 1);
}

}  // namespace
}  // namespace maniple
