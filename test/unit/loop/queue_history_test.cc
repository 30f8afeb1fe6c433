// What the loop remembers of the gangs of a Queue for whoever watches it: how long they waited, why
// they wait, why they had to leave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "test/support/loop_driver.h"

namespace maniple {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Queue PlainQueue(absl::string_view name, int64_t gpus) {
  Queue queue;
  queue.meta.name = std::string(name);
  queue.meta.uid = absl::StrCat("uid-", name);
  queue.within_queue = WithinQueuePreemption::kLowerPriority;
  queue.quotas = {
      {.flavor = "", .resources = {{.resource = kGpuResource, .nominal = Amount(gpus)}}}};
  return queue;
}

class QueueHistoryTest : public ::testing::Test {
 protected:
  QueueHistoryTest() { d_.Put(ObjectUpserted{PlainQueue("q", 64)}); }

  // "" = of the gangs without a Queue.
  QueueView Of(const std::string& queue) {
    const ClusterFiguresPtr figures = d_.Figures();
    const std::vector<QueueView>& queues = figures->queues;
    const auto found = std::ranges::find(queues, queue, &QueueView::name);
    return found == queues.end() ? QueueView{.name = "not there"} : *found;
  }
  // "QuotaExceeded 2, NoFit 1"
  std::string Reasons(const std::string& queue) {
    std::string out;
    for (const auto& [reason, gangs] : Of(queue).pending_by_reason) {
      absl::StrAppend(&out, out.empty() ? "" : ", ", reason, " ", gangs);
    }
    return out;
  }
  int64_t Left(const std::string& queue, LeavingCause cause) {
    return Of(queue).history.left[static_cast<size_t>(cause)];
  }

  LoopDriver d_;
};

TEST_F(QueueHistoryTest, AGangHasWaitedSinceItsCreation) {
  d_.Submit({.gang = "x", .pods = 2, .queue = "q"});
  d_.Settle(absl::Seconds(90));
  EXPECT_EQ(Of("q").history.waited.count(), 0u);
  d_.Nodes(2, 8);
  d_.Settle(absl::Seconds(5));
  const QueueHistory history = Of("q").history;
  ASSERT_EQ(history.waited.count(), 1u);
  EXPECT_NEAR(history.waited.seconds(), 90, 2);
  ASSERT_EQ(history.bound.count(), 1u);
  EXPECT_LT(history.bound.seconds(), 1);
  EXPECT_EQ(Of("").history.waited.count(), 0u) << "it has a Queue";
}

TEST_F(QueueHistoryTest, AQuorumIsReadyWhenTheLastOfItsMembersHasBeenOnce) {
  d_.Nodes(3, 8);
  d_.Submit({.gang = "x", .pods = 3, .min_member = 2, .queue = "q"});
  d_.Settle(absl::Seconds(5));
  ASSERT_EQ(d_.Bound("x"), 3);
  d_.Settle(absl::Seconds(60));
  d_.api.SetReady("x-0", true);
  d_.Settle(absl::Seconds(30));
  EXPECT_EQ(Of("q").history.ready.count(), 0u) << "one of two";
  d_.api.SetReady("x-0", false);  // a probe fails: it has been Ready all the same
  d_.api.SetReady("x-2", true);
  d_.Settle(absl::Seconds(60));
  d_.api.SetReady("x-1", true);
  d_.Settle();
  ASSERT_EQ(Of("q").history.ready.count(), 1u) << "the quorum, once";
  EXPECT_NEAR(Of("q").history.ready.seconds(), 95, 6);
}

TEST_F(QueueHistoryTest, AMemberThatSucceededHasBeenReady) {
  d_.Nodes(2, 8);
  d_.Submit({.gang = "x", .pods = 2, .queue = "q"});
  d_.Settle(absl::Seconds(5));
  d_.api.SetPhase("x-0", PodPhase::kSucceeded);
  d_.api.SetReady("x-1", true);
  d_.Settle();
  EXPECT_EQ(Of("q").history.ready.count(), 1u);
}

TEST_F(QueueHistoryTest, WhoIsReadyAfterALossOfItsQuorumIsOfTheNextStart) {
  d_.Nodes(2, 8);
  d_.Submit({.gang = "x", .pods = 2, .queue = "q"});
  d_.Settle(absl::Seconds(5));
  ASSERT_EQ(d_.Bound("x"), 2);
  d_.api.Delete(ResourceKind::kPod, "x-0");
  d_.api.SetReady("x-1", true);
  d_.Settle(absl::Minutes(30));
  ASSERT_EQ(Left("q", LeavingCause::kQuorumLost), 1);
  EXPECT_EQ(Of("q").history.ready.count(), 0u);
  d_.Submit({.gang = "x", .pods = 2, .queue = "q"});
  d_.Settle(absl::Minutes(10));
  ASSERT_EQ(d_.Bound("x"), 2);
  for (const char* pod : {"x-0", "x-1"}) d_.api.SetReady(pod, true);
  d_.Settle();
  EXPECT_EQ(Of("q").history.ready.count(), 1u);
}

TEST_F(QueueHistoryTest, AGangThatLeftForAnotherHasWaitedSinceThen) {
  d_.Nodes(1, 8);
  d_.Submit({.gang = "low", .queue = "q"});
  d_.Settle(absl::Minutes(30));
  d_.Submit({.gang = "high", .queue = "q", .priority = 10});
  d_.Settle(absl::Seconds(60));
  ASSERT_EQ(d_.Bound("high"), 1);
  EXPECT_EQ(Left("q", LeavingCause::kPreempted), 1);
  EXPECT_THAT(Of("q").history.preempted, ElementsAre(1, 0, 0));
  const auto lost = Of("q").history.lost;
  ASSERT_THAT(lost, SizeIs(1));
  EXPECT_NEAR(lost.at("nvidia.com/gpu"), 8 * 30 * 60, 8 * 3);
  EXPECT_EQ(d_.loop().counters().room_made.count(), 1u);
  const double before = Of("q").history.waited.seconds();
  d_.Submit({.gang = "low", .queue = "q"});  // its pod is made anew
  d_.Settle(absl::Seconds(60));
  EXPECT_LT(d_.now - Of("q").oldest_pending, absl::Minutes(5)) << "it ran before";
  d_.Nodes(1, 8, "m");
  d_.Settle(absl::Seconds(5));
  ASSERT_EQ(Of("q").history.waited.count(), 3u);
  const double again = Of("q").history.waited.seconds() - before;
  EXPECT_GT(again, 60);
  EXPECT_LT(again, 300) << "the half hour in which it ran is no waiting";
}

TEST_F(QueueHistoryTest, WhatRanInVainIsCountedOnceForEachPodThatIsSentAway) {
  Queue other = PlainQueue("other", 0);
  d_.Put(ObjectUpserted{other});
  d_.Nodes(2, 8);
  d_.Submit({.gang = "loose", .pods = 2});
  d_.Settle(absl::Minutes(10));
  d_.Submit({.gang = "mine", .pods = 2, .queue = "q", .priority = 10});
  d_.Settle(absl::Minutes(5));
  ASSERT_EQ(d_.Bound("mine"), 2);
  EXPECT_THAT(Of("q").history.preempted, ElementsAre(0, 0, 1));
  EXPECT_NEAR(Of("").history.lost.at("nvidia.com/gpu"), 16 * 10 * 60, 16 * 3);
  EXPECT_THAT(Of("q").history.lost, IsEmpty());
  // A quorum that is lost and not found again takes the rest along.
  d_.api.Delete(ResourceKind::kPod, "mine-0");
  d_.Settle(absl::Minutes(30));
  ASSERT_EQ(Left("q", LeavingCause::kQuorumLost), 1);
  EXPECT_GT(Of("q").history.lost.at("nvidia.com/gpu"), 8 * 5 * 60);
}

TEST_F(QueueHistoryTest, FiguresAreMadeInPiecesAndTellEachQueueOnce) {
  for (int i = 0; i < 250; ++i) d_.Put(ObjectUpserted{PlainQueue(absl::StrCat("team-", i), 8)});
  d_.Settle();
  EXPECT_EQ(d_.loop().MoreFigures(d_.now), nullptr);
  d_.api.Delete(ResourceKind::kQueue, "team-0");   // told already
  d_.api.Delete(ResourceKind::kQueue, "team-99");  // not yet
  d_.Settle();
  const ClusterFiguresPtr figures = d_.Figures();
  std::vector<std::string> names;
  for (const QueueView& queue : figures->queues) names.push_back(queue.name);
  ASSERT_THAT(names, SizeIs(251));  // of 251 with "q", one less, and one for those without a Queue
  EXPECT_EQ(names.back(), "");
  names.pop_back();
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_THAT(names, Not(Contains("team-99")));
  // Who loses the lead in the middle of a round begins another one.
  EXPECT_EQ(d_.loop().MoreFigures(d_.now), nullptr);
  d_.loop().SetRole(SchedulingLoop::Role::kStandby);
  EXPECT_THAT(d_.Figures()->queues, SizeIs(250));
}

TEST_F(QueueHistoryTest, WhoWaitsIsCountedByReason) {
  d_.Nodes(1, 8);
  d_.Submit({.gang = "large", .pods = 3, .queue = "q"});
  d_.Submit({.gang = "larger", .pods = 9, .queue = "q"});
  d_.Submit({.gang = "half", .pods = 1, .min_member = 2, .queue = "q"});
  d_.Submit({.gang = "free", .pods = 3});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(Reasons("q"), "ExceedsMaxQuota 1, NeverFits 1, WaitingForMembers 1");
  EXPECT_EQ(Reasons(""), "NeverFits 1");
  EXPECT_EQ(Of("q").pending, 3);
  d_.Nodes(6, 8, "m");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(Reasons("q"), "ExceedsMaxQuota 1, WaitingForMembers 1");
}

TEST_F(QueueHistoryTest, ItEndsWithTheQueueAndWithTheLead) {
  d_.Nodes(1, 8);
  d_.Submit({.gang = "x", .queue = "q"});
  d_.Settle(absl::Seconds(5));
  ASSERT_EQ(Of("q").history.waited.count(), 1u);
  d_.api.Delete(ResourceKind::kQueue, "q");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(Of("q").name, "not there");
  d_.Put(ObjectUpserted{PlainQueue("q", 64)});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(Of("q").history.waited.count(), 0u) << "of another Queue of that name";
  d_.Submit({.gang = "y"});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(Reasons(""), "NoFit 1");
  d_.loop().SetRole(SchedulingLoop::Role::kStandby);
  EXPECT_EQ(Reasons(""), "");
}

}  // namespace
}  // namespace maniple
