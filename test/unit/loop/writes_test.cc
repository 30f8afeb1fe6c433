// However often an object is edited, little is written about it, and the newest
// is written in the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/support/loop_driver.h"

namespace maniple {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kStatusOfA[] = "podgroups/a/status";
constexpr char kConditionOfA0[] = "pods/a-0/status";

// Alternately it lacks a member and can never fit: each edit is a new reason and a new complaint.
void Edit(LoopDriver& d, int times, absl::Duration apart) {
  for (int i = 1; i <= times; ++i) {
    d.Put(MakePodGroup("a").MinMember(i % 2 == 0 ? 2 : 3));
    d.Exchange();
    d.now += apart;
  }
}

void SubmitWhatNeverFits(LoopDriver& d) {
  d.Nodes(1, 8);
  d.Submit({.gang = "a", .pods = 2, .gpu = 100});
  d.Settle(absl::Seconds(3));
}

TEST(LoopWrites, AThousandEditsInThreeSecondsCostAStatusASecondAndABurstOfEvents) {
  LoopDriver d;
  SubmitWhatNeverFits(d);
  const int statuses = d.api.Count(kStatusOfA), conditions = d.api.Count(kConditionOfA0);
  Edit(d, 1000, absl::Milliseconds(3));
  EXPECT_LE(d.api.Count(kStatusOfA) - statuses, 4);
  EXPECT_LE(d.api.Count(kConditionOfA0) - conditions, 4);
  EXPECT_LE(d.api.events_created().size(), 25u);
  EXPECT_GT(d.loop().counters().events_over_budget, 400);
}

TEST(LoopWrites, WhatStandsInTheEndIsWritten) {
  LoopDriver d;
  SubmitWhatNeverFits(d);
  Edit(d, 101, absl::Milliseconds(3));
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.StatusOf("a").reason, "WaitingForMembers");
  Edit(d, 2, absl::Milliseconds(3));
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.StatusOf("a").reason, "NeverFits");
}

TEST(LoopWrites, WhatComesAfterASecondOfSilenceIsWrittenAtOnce) {
  LoopDriver d;
  SubmitWhatNeverFits(d);
  const int before = d.api.Count(kStatusOfA);
  Edit(d, 1, absl::ZeroDuration());
  EXPECT_EQ(d.api.Count(kStatusOfA), before + 1);
}

TEST(LoopWrites, APodThatGoesFromGangToGangIsToldOnceASecond) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Put(MakePodGroup("a").MinMember(2));
  d.Settle();
  for (int i = 0; i < 300; ++i) {
    d.Put(MakePod("p").Group(i % 2 == 0 ? "a" : "b").Gpu(1));
    d.Exchange();
    d.now += absl::Milliseconds(10);
  }
  EXPECT_LE(d.api.Count("pods/p/status"), 4);
}

TEST(LoopWrites, OneObjectMayNotSpendWhatIsAnothersToSay) {
  LoopDriver d;
  SubmitWhatNeverFits(d);
  Edit(d, 200, absl::Milliseconds(3));
  d.Submit({.gang = "b", .pods = 2, .gpu = 100});
  d.Settle(absl::Seconds(3));
  EXPECT_THAT(d.api.events_created(), Contains(StartsWith("NeverFits on b")));
}

TEST(LoopWrites, AfterTheBurstThereIsOneEventInFiveMinutes) {
  LoopDriver d;
  SubmitWhatNeverFits(d);
  Edit(d, 200, absl::Milliseconds(3));
  const size_t burst = d.api.events_created().size();
  d.now += absl::Minutes(5);
  Edit(d, 200, absl::Milliseconds(3));
  EXPECT_EQ(d.api.events_created().size(), burst + 1);
}

}  // namespace
}  // namespace maniple
