#include "scheduler/loop/records/paced_statuses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace maniple::loop_paced_statuses_test {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(1);
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

class PacedStatusesTest : public ::testing::Test {
 protected:
  PacedStatusesTest() {
    statuses_.Touch("q");
    EXPECT_EQ(WritesUntil(now_), 1);
  }
  // How often it is written until then.
  int WritesUntil(absl::Time end) {
    int writes = 0;
    while (std::min(statuses_.NextDeadline(), end) < end || !statuses_.Due(end).empty()) {
      now_ = std::max(now_, statuses_.NextDeadline());
      for (const std::string& name : statuses_.Due(now_)) {
        if (statuses_.Take(name, 7, now_).has_value()) ++writes;
      }
    }
    now_ = std::max(now_, end);
    return writes;
  }
  int WritesLater() { return WritesUntil(now_ + absl::Minutes(1)); }

  PacedStatuses<int> statuses_{kInterval};
  absl::Time now_ = kNow;
};

TEST_F(PacedStatusesTest, AStatusIsWrittenOnceWhileItStaysTheSame) {
  statuses_.Made("q", "11");
  statuses_.Seen("q", "11");
  statuses_.Touch("q");
  EXPECT_EQ(WritesLater(), 0);
}

// A write that the server took only after a later one, or somebody's own.
TEST_F(PacedStatusesTest, WhatALaterVersionHasOverwrittenIsWrittenAgainOnce) {
  statuses_.Made("q", "11");
  statuses_.Seen("q", "12");
  EXPECT_EQ(WritesLater(), 1);
  statuses_.Made("q", "13");
  statuses_.Seen("q", "13");
  EXPECT_EQ(WritesLater(), 0);
}

TEST_F(PacedStatusesTest, AWriteThatTheWatchShowsBeforeItsReplyIsNobodyElses) {
  statuses_.Seen("q", "11");
  EXPECT_EQ(WritesLater(), 0);
  statuses_.Made("q", "11");
  EXPECT_EQ(WritesLater(), 0);
}

TEST_F(PacedStatusesTest, AWatchThatLagsBehindShowsNothingOfOthers) {
  statuses_.Made("q", "11");
  statuses_.Seen("q", "9");
  EXPECT_EQ(WritesLater(), 0);
}

TEST_F(PacedStatusesTest, AfterALostLeadTheFirstWriteIsOfItsOwnTime) {
  statuses_.ForgetAll();  // the reply to the first is never heard
  EXPECT_EQ(WritesLater(), 1);
  statuses_.Made("q", "20");
  statuses_.Seen("q", "21");
  EXPECT_EQ(WritesLater(), 1);
}

// Two releases of ours, each with gangs of its own in one Queue.
TEST_F(PacedStatusesTest, WhoeverAnswersEachWriteWithItsOwnIsAnsweredLessAndLess) {
  int version = 11, writes = 1;
  for (int minute = 0; minute < 24 * 60; ++minute) {
    statuses_.Touch("q");  // something or other changes, and back again
    for (int i = 0; i < 60; ++i) {
      const int now = WritesUntil(now_ + absl::Seconds(1));
      writes += now;
      if (now > 0 || minute + i == 0) {
        statuses_.Made("q", absl::StrCat(version++));
        statuses_.Seen("q", absl::StrCat(version++));
      }
    }
  }
  EXPECT_GT(writes, 24) << "nor does it give in";
  EXPECT_LE(writes, 24 * 6 + 12);
}

}  // namespace
}  // namespace maniple::loop_paced_statuses_test
