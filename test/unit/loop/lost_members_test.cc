// Fear: a gang that has lost a member loses the room for its replacement, too.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/report/status.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

TEST(LoopLostMembers, AKubeletRejectionIsRepairedOnAnotherNode) {
  LoopDriver d;
  d.Nodes(3, 8);
  d.api.Break({.on = "POST /api/v1/namespaces/default/pods/a-1/binding", .act = FaultAct::kReject});
  d.Submit({.gang = "a", .pods = 2});
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.Bound("a"), 1);
  EXPECT_EQ(d.loop().counters().kubelet_rejections, 1);
  const std::string rejected_on = d.NodeOf("a-1");
  d.Submit({.gang = "a", .pods = 1});
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.Bound("a"), 2);
  EXPECT_NE(d.NodeOf("a-2"), rejected_on);
  EXPECT_EQ(d.StatusOf("a").phase, "Running");
}

TEST(LoopLostMembers, TheRoomOfALostMemberIsHeldForItsReplacement) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.Settle();
  d.Submit({.gang = "thief", .pods = 1});
  d.Settle();
  d.api.Delete(ResourceKind::kPod, "a-1");
  d.Settle(absl::Seconds(5));
  EXPECT_EQ(d.Bound("thief"), 0);
  EXPECT_EQ(d.StatusOf("a").reason, "QuorumLost");
  const Condition* disrupted = FindCondition(d.StatusOf("a").conditions, kConditionDisrupted);
  ASSERT_NE(disrupted, nullptr);
  EXPECT_EQ(disrupted->status, "True");
  d.Submit({.gang = "a", .pods = 1});
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.Bound("a"), 2);
  EXPECT_EQ(d.StatusOf("a").reason, "Bound");
  EXPECT_EQ(FindCondition(d.StatusOf("a").conditions, kConditionDisrupted)->status, "False");
}

// Its Queue counted it as pending, and its status said that no quota was reserved.
TEST(LoopLostMembers, WhatIsLeftOfAGangIsChargedAndRunsAsTheStatusesSay) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Put(ObjectUpserted{
      Queue{.meta = {.name = "q", .uid = "q-1"},
            .quotas = {{.resources = {{.resource = kGpuResource, .nominal = Amount(16)}}}}}});
  d.Submit({.gang = "a", .pods = 2, .queue = "q"});
  d.Settle(absl::Seconds(2));
  d.api.Delete(ResourceKind::kPod, "a-1");
  d.Settle(absl::Seconds(15));
  ASSERT_EQ(d.StatusOf("a").reason, "QuorumLost");
  const Condition* reserved = FindCondition(d.StatusOf("a").conditions, kConditionQuotaReserved);
  ASSERT_NE(reserved, nullptr);
  EXPECT_EQ(reserved->status, "True");
  EXPECT_EQ(d.api.QueueStatus("q")["running"].AsInt(), 1);
  EXPECT_EQ(d.api.QueueStatus("q")["pending"].AsInt(), 0);
}

// It took a place beside the room that was held, and the replacement could never come.
TEST(LoopLostMembers, APodThatTheReplacementWillShunWaits) {
  constexpr char kHost[] = "kubernetes.io/hostname";
  LoopDriver d;
  for (const char* name : {"n1", "n2"}) d.Put(MakeNode(name).Gpu(8).Label(kHost, name));
  const auto member = [&](const char* name, const char* uid) {
    return MakePod(name).Uid(uid).Group("a").Gpu(8).Apart(kHost, Labelled("app", "noisy"));
  };
  d.Put(MakePodGroup("a").MinMember(2));
  d.Put(member("a-0", "a-0"));
  d.Put(member("a-1", "a-1"));
  d.Settle();
  ASSERT_EQ(d.Bound("a"), 2);
  d.api.Delete(ResourceKind::kPod, "a-1");
  d.Settle();
  d.Put(MakePod("b").Label("app", "noisy"));
  d.Settle(absl::Seconds(5));
  EXPECT_EQ(d.NodeOf("b"), "");
  d.Put(member("a-1", "a-1-again"));
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.Bound("a"), 2);
  EXPECT_EQ(d.NodeOf("b"), "");
}

TEST(LoopLostMembers, AMemberLostWithItsNodeLeavesRoomHeldElsewhere) {
  LoopDriver d;
  d.Nodes(3, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.Settle();
  ASSERT_EQ(d.Bound("a"), 2);
  d.api.Delete(ResourceKind::kNode, d.NodeOf("a-1"));
  d.Settle();
  d.api.Delete(ResourceKind::kPod, "a-1");  // by the pod garbage collector, later
  d.Settle();
  d.Submit({.gang = "b", .pods = 1});
  d.Settle(absl::Seconds(15));
  EXPECT_EQ(d.Bound("b"), 0) << "the only room left is held";
  d.Put(MakePod("a-1").Uid("a-1-again").Group("a").Gpu(8));
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 2);
  EXPECT_EQ(d.Bound("b"), 0);
}

// It was held for the gang that the process had heard of first.
TEST(LoopLostMembers, TheLastRoomIsHeldForTheMostUrgentOfThoseThatLoseAMember) {
  for (const char* first : {"low", "high"}) {
    LoopDriver d;
    d.Nodes(3, 8);
    for (const std::string gang : {first, first == std::string("low") ? "high" : "low"}) {
      const int32_t priority = gang == "high" ? 10 : 0;
      d.Put(MakePodGroup(gang).MinMember(2));
      for (const int member : {0, 1}) {
        d.Put(MakePod(absl::StrCat(gang, "-", member))
                  .Group(gang)
                  .Gpu(4)
                  .Priority(priority)
                  .On(absl::StrCat("n", member + 1)));
      }
    }
    d.Put(MakePod("full").Gpu(4).On("n3"));
    d.Settle();
    d.api.Delete(ResourceKind::kNode, "n2");
    d.Settle();
    for (const char* gang : {"low", "high"}) {
      d.api.Delete(ResourceKind::kPod, absl::StrCat(gang, "-1"));
    }
    d.Settle();
    d.Put(MakePod("low-1").Uid("again").Group("low").Gpu(4));
    d.Settle(absl::Seconds(2));
    EXPECT_EQ(d.Bound("low"), 1) << first;
    d.Put(MakePod("high-1").Uid("high-again").Group("high").Gpu(4).Priority(10));
    d.Settle(absl::Seconds(2));
    EXPECT_EQ(d.Bound("high"), 2) << first;
  }
}

TEST(LoopLostMembers, ALostQuorumIsEvictedAfterTheGracePeriodAndItsRoomIsFree) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.Settle();
  d.api.SetPhase("a-1", PodPhase::kFailed, "Error");
  d.Settle(absl::Seconds(299));
  EXPECT_EQ(d.Bound("a"), 1);
  d.Submit({.gang = "b", .pods = 2});
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.Bound("a"), 0);
  EXPECT_EQ(d.StatusOf("a").reason, "QuorumLost");
  EXPECT_EQ(d.Bound("b"), 2);
  EXPECT_EQ(d.loop().counters().gangs_evicted, 1);
  // The reason stays until new members exist.
  d.Settle(absl::Minutes(5));
  EXPECT_EQ(d.StatusOf("a").reason, "QuorumLost");
  d.Submit({.gang = "a", .pods = 1});
  d.Settle(absl::Seconds(12));
  EXPECT_EQ(d.StatusOf("a").reason, "WaitingForMembers");
}

// The next leader took whoever was there for the members that had been evicted.
TEST(LoopLostMembers, TheNextLeaderTellsNewMembersFromThoseThatWereEvicted) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.Settle();
  d.api.Delete(ResourceKind::kPod, "a-1");
  d.Settle(absl::Seconds(310));
  ASSERT_EQ(d.loop().counters().gangs_evicted, 1);
  d.Restart();
  d.Settle(absl::Seconds(12));
  EXPECT_EQ(d.StatusOf("a").reason, "QuorumLost") << "nobody has come";
  d.Submit({.gang = "a", .pods = 1});
  d.Restart();
  d.Settle(absl::Seconds(12));
  EXPECT_EQ(d.StatusOf("a").reason, "WaitingForMembers");
}

}  // namespace
}  // namespace maniple
