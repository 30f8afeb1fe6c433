// However often an object is edited, little is written about it, and the newest
// is written in the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
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

int64_t EventsThatBegin(const LoopDriver& d, absl::string_view words) {
  return std::ranges::count_if(d.api.events_created(), [words](const std::string& event) {
    return absl::StartsWith(event, words);
  });
}

TEST(LoopWrites, ThatASinglePodCannotStartIsOneEventForAllLeaders) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Put(MakePod("large").Gpu(100));
  d.Put(MakePod("lost").Gpu(1).Label(kQueueLabel, "nowhere"));
  for (int lead = 0; lead < 3; ++lead) {
    d.Settle(absl::Seconds(20));
    EXPECT_EQ(EventsThatBegin(d, "NeverFits on large"), 1) << lead;
    EXPECT_EQ(EventsThatBegin(d, "QueueNotFound on lost"), 1) << lead;
    d.Restart();
  }
}

// The fear: that a pod never fits is not told, as its condition says no more than before.
TEST(LoopWrites, ASinglePodThatCannotStartAnyMoreIsToldSoUnderANewLeaderToo) {
  LoopDriver d;
  Queue queue;
  queue.meta.name = "q";
  queue.ordering = QueueOrdering::kStrictFifo;
  d.Put(ObjectUpserted{queue});
  d.Nodes(1, 4, "small-");
  d.Nodes(1, 8, "large-");
  d.Put(MakePod("other").Gpu(4).Scheduler("another").On("large-1").Phase(PodPhase::kRunning));
  d.Put(MakePod("head").Gpu(8).Label(kQueueLabel, "q"));
  d.Settle(absl::Seconds(20));
  d.Submit({.gang = "next", .gpu = 4, .queue = "q"});
  d.Settle(absl::Seconds(20));
  d.Restart();
  d.Settle(absl::Seconds(20));
  ASSERT_EQ(d.api.FindPod("head")->scheduled_condition->reason, "Unschedulable");
  ASSERT_EQ(EventsThatBegin(d, "NeverFits on head"), 0);
  d.api.Delete(ResourceKind::kNode, "large-1");
  d.Settle(absl::Seconds(20));
  EXPECT_EQ(EventsThatBegin(d, "NeverFits on head"), 1);
}

}  // namespace
}  // namespace maniple
