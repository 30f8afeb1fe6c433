// A victim leaves whole, in its own time, and nobody is spared or barred for ever: each test is a
// rule that was found bent.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

class LoopVictimsTest : public ::testing::Test {
 protected:
  void Submit(const std::string& gang, int pods, int32_t priority, const std::string& queue = "") {
    d_.Submit({.gang = gang, .pods = pods, .queue = queue, .priority = priority});
  }
  void PutQueue(const std::string& name, int64_t nominal, const std::string& cohort = "",
                StopPolicy stop = StopPolicy::kNone) {
    Queue queue;
    queue.meta.name = name;
    queue.meta.generation = ++generation_;
    queue.cohort = cohort;
    queue.stop = stop;
    queue.within_queue = WithinQueuePreemption::kLowerPriority;
    queue.reclaim = ReclaimWithinCohort::kAny;
    queue.quotas = {{.flavor = "",
                     .resources = {{.resource = kGpuResource,
                                    .nominal = Amount(nominal),
                                    .borrowing_limit = borrowing_limit_}}}};
    d_.api.Put(queue);
  }
  // Both nodes are taken, one by a pod that takes half an hour to end.
  void SlowAndFirmRun(int32_t priority_of_firm) {
    d_.Nodes(2, 8);
    d_.api.KeepTerminating(absl::Minutes(30));
    Submit("slow", 1, 1);
    d_.Settle();
    Submit("firm", 1, priority_of_firm);
    d_.Settle();
  }
  void HighTakesTheNodeOfSlowOnceItHasEnded() {
    d_.api.Reap();
    d_.Settle();
    EXPECT_EQ(d_.Bound("high"), 1);
    EXPECT_EQ(d_.Bound("firm"), 1);
  }
  int Evictions(const std::string& pod = "") { return d_.api.Count(pod + "/eviction"); }

  LoopDriver d_;
  int64_t generation_ = 0;
  std::optional<Amount> borrowing_limit_;  // of the Queues that are put from now on
};

TEST_F(LoopVictimsTest, AVictimOfWhichOneHasLeftLeavesWholeAlthoughThePreemptorFoundRoomElsewhere) {
  d_.Nodes(2, 8);
  Submit("low", 2, 1);
  d_.Settle();
  d_.api.Break({.on = "low-1/eviction", .times = 3, .code = 429});
  Submit("high", 2, 2);
  d_.Exchange();
  d_.Exchange();
  ASSERT_EQ(d_.Bound("low"), 1);
  d_.Nodes(2, 8, "late");
  d_.Settle(absl::Minutes(2));
  EXPECT_EQ(d_.Bound("high"), 2);
  EXPECT_EQ(d_.Bound("low"), 0);
}

TEST_F(LoopVictimsTest, ABindThatLandsWhenTheOthersHaveLeftLeavesToo) {
  d_.Nodes(2, 8);
  Submit("low", 2, 1);
  d_.Settle();
  d_.Nodes(1, 8, "late");
  d_.api.Break({.on = "low-2/binding", .times = -1, .act = FaultAct::kDrop});
  d_.Submit({.gang = "low", .pods = 1, .priority = 1});
  d_.Settle();
  Submit("high", 2, 2);
  d_.Settle(absl::Seconds(1));
  ASSERT_EQ(d_.Bound("high"), 2);
  d_.api.BindAsSomebodyElse("low-2", "late1");
  d_.Settle(absl::Seconds(30));
  EXPECT_EQ(d_.Bound("low"), 0);
}

TEST_F(LoopVictimsTest, AVictimWhoseBindNeverLandsHasLeftOnceThatIsSure) {
  d_.Nodes(2, 8);
  Submit("low", 2, 1);
  d_.Settle();
  d_.Nodes(1, 8, "late");
  d_.api.Break({.on = "low-2/binding", .times = 1, .act = FaultAct::kDrop});
  d_.Submit({.gang = "low", .pods = 1, .priority = 1});
  d_.Settle();
  Submit("high", 2, 2);
  d_.Settle(absl::Seconds(10));
  d_.Nodes(1, 8, "later");
  d_.Submit({.gang = "low", .pods = 1, .priority = 1});
  d_.Settle(absl::Seconds(30));
  EXPECT_EQ(d_.Bound("low"), 2) << "it starts afresh";
}

TEST_F(LoopVictimsTest, AVictimOfWhichNobodyHasLeftIsSparedWhenThePreemptorFindsRoomElsewhere) {
  d_.Nodes(2, 8);
  Submit("low", 2, 1);
  d_.Settle();
  d_.api.Break({.on = "/eviction", .times = 2, .code = 429});
  Submit("high", 2, 2);
  d_.Settle();
  d_.Nodes(2, 8, "late");
  d_.Settle(absl::Minutes(10));
  EXPECT_EQ(d_.Bound("high"), 2);
  EXPECT_EQ(d_.Bound("low"), 2);
}

// When it started stands in its status, by the clock of whoever led then.
TEST_F(LoopVictimsTest, AVictimIsNotSparedBecauseAnEarlierLeadersClockWasAhead) {
  d_.Nodes(2, 8);
  Submit("low", 2, 1);
  d_.Settle(absl::Minutes(1));
  d_.now -= absl::Hours(1);
  d_.Restart();
  d_.Settle(absl::Minutes(1));
  Submit("high", 2, 2);
  d_.Settle(absl::Minutes(2));
  EXPECT_EQ(d_.Bound("high"), 2);
  EXPECT_EQ(d_.Bound("low"), 0);
}

TEST_F(LoopVictimsTest, AVictimThatTakesHalfAnHourToEndCostsNoOther) {
  SlowAndFirmRun(2);
  Submit("high", 1, 3);
  d_.Settle(absl::Minutes(29));
  EXPECT_EQ(Evictions(), 1);
  EXPECT_EQ(Evictions("slow-0"), 1);
  HighTakesTheNodeOfSlowOnceItHasEnded();
}

TEST_F(LoopVictimsTest, APodThatTakesHalfAnHourToEndIsWaitedForByWhoComesLater) {
  SlowAndFirmRun(1);
  Pod pod = *d_.api.FindPod("slow-0");
  pod.meta.deleted = d_.now;
  pod.meta.deletion_grace = absl::Minutes(30);
  d_.api.Put(pod);
  Submit("high", 1, 3);
  d_.Settle(absl::Minutes(29));
  EXPECT_EQ(Evictions(), 0);
  HighTakesTheNodeOfSlowOnceItHasEnded();
}

TEST_F(LoopVictimsTest, AHalfEvictedVictimIsCarriedToItsEndByTheNextLeader) {
  d_.Nodes(4, 8);
  Submit("low", 2, 1);
  d_.Settle();
  Submit("other", 2, 1);
  d_.Settle();
  d_.api.Break({.on = "-1/eviction", .times = -1, .code = 429});
  Submit("high", 2, 2);
  d_.Exchange();
  d_.Exchange();
  ASSERT_EQ(d_.Bound("low") + d_.Bound("other"), 3);
  const std::string half = d_.Bound("low") == 1 ? "low" : "other";
  const std::string innocent = half == "low" ? "other" : "low";
  d_.Restart();
  d_.api.Mend();
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("high"), 2);
  EXPECT_EQ(d_.Bound(half), 0);
  EXPECT_EQ(d_.Bound(innocent), 2);
}

TEST_F(LoopVictimsTest, ARefusedEvictionIsAskedForLessAndLess) {
  d_.Nodes(1, 8);
  PutQueue("q", 8);
  d_.api.Break({.on = "/eviction", .times = -1, .code = 429});
  Submit("low", 1, 1, "q");
  d_.Settle();
  PutQueue("q", 8, "", StopPolicy::kHoldAndDrain);
  d_.Settle(absl::Minutes(30));
  EXPECT_GE(Evictions(), 30);
  EXPECT_LE(Evictions(), 75);
}

TEST_F(LoopVictimsTest, ARefusedEvictionIsNotAskedAgainBeforeTheServerWantsToHear) {
  d_.Nodes(1, 8);
  d_.api.Break({.on = "/eviction", .code = 429, .retry_after = absl::Seconds(100)});
  Submit("low", 1, 1);
  d_.Settle();
  Submit("high", 1, 2);
  d_.Settle(absl::Seconds(99));
  EXPECT_EQ(Evictions(), 1);
  d_.Settle(absl::Seconds(2));
  EXPECT_EQ(Evictions(), 2);
  EXPECT_EQ(d_.Bound("high"), 1);
}

TEST_F(LoopVictimsTest, AGroupThatIsDeletedInMidBurstLeavesNoHalfGang) {
  d_.Nodes(2, 8);
  d_.api.Break({.on = "g-1/binding", .times = -1, .code = 500});
  Submit("g", 2, 1);
  d_.Exchange();
  d_.Exchange();
  ASSERT_EQ(d_.Bound("g"), 1);
  d_.api.Delete(ResourceKind::kPodGroup, "g");
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("g"), 0);
}

TEST_F(LoopVictimsTest, WhatRunsStaysWhenItsGroupIsDeleted) {
  d_.Nodes(2, 8);
  Submit("g", 2, 1);
  d_.Settle();
  d_.api.Delete(ResourceKind::kPodGroup, "g");
  d_.Settle(absl::Minutes(20));
  EXPECT_EQ(d_.Bound("g"), 2);
}

TEST_F(LoopVictimsTest, AMemberThatSomebodyBindsOutsideTheRackOfItsSubGroupIsARefusal) {
  for (const char* name : {"a1", "a2", "b1", "b2"}) {
    d_.Put(MakeNode(name).Gpu(8).Label("rack", std::string(1, name[0])));
  }
  PodGroup group = MakePodGroup("g").MinMember(2);
  group.spec.sub_groups = {{.name = "workers", .min_member = 2, .topology = {.required = "rack"}}};
  d_.api.Put(group);
  for (const char* name : {"g-0", "g-1"}) {
    Pod pod = MakePod(name).Group("g").Gpu(8).Label(kSubGroupLabel, "workers");
    pod.meta.uid.clear();
    d_.api.Put(pod);
  }
  d_.api.Break({.on = "g-1/binding", .act = FaultAct::kSteal, .node = "b2"});
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("g"), 0) << "half of the sub-group is in another rack";
}

TEST_F(LoopVictimsTest, ANodeThatRejectsAgainAndAgainCoolsDownForLongerAndLonger) {
  d_.Nodes(1, 8);
  d_.api.Break({.on = "/binding", .times = -1, .act = FaultAct::kReject});
  for (int i = 0; i < 40; ++i) {
    Submit(absl::StrCat("g", i), 1, 1);
    d_.Settle(absl::Minutes(1));
  }
  EXPECT_GE(d_.loop().counters().kubelet_rejections, 4);
  EXPECT_LE(d_.loop().counters().kubelet_rejections, 8);
}

TEST_F(LoopVictimsTest, ANodeThatRejectsAWholeGangHasRejectedOnce) {
  d_.Nodes(1, 8);
  d_.api.Break({.on = "/binding", .times = 4, .act = FaultAct::kReject});
  d_.Submit({.gang = "g", .pods = 4, .gpu = 1});
  d_.Settle(absl::Seconds(1));
  ASSERT_EQ(d_.loop().counters().kubelet_rejections, 4);
  d_.Submit({.gang = "next", .pods = 4, .gpu = 1});
  d_.Settle(absl::Seconds(35));
  EXPECT_EQ(d_.Bound("next"), 4);
}

// "high" is to have what "low" of its Queue leaves, and there is room for the other Queue besides.
class LoopClaimedQuotaTest : public LoopVictimsTest {
 protected:
  void HighWaitsForLow() {
    d_.Nodes(4, 8);
    d_.api.KeepTerminating();
    borrowing_limit_ = Amount(0);
    PutQueue("q", 8, "all");
    PutQueue("r", 16, "all");
    Submit("low", 1, 1, "q");
    d_.Settle();
    Submit("high", 1, 2, "q");
    d_.Settle();
    ASSERT_EQ(Evictions("low-0"), 1);
    ASSERT_EQ(d_.Bound("high"), 0);
  }
};

TEST_F(LoopClaimedQuotaTest, AQueueThatMakesRoomForItsOwnGangKeepsNobodyFromTheirNominalQuota) {
  HighWaitsForLow();
  Submit("own", 2, 0, "r");
  d_.Settle(absl::Seconds(2));
  EXPECT_EQ(d_.Bound("own"), 2);
  EXPECT_EQ(d_.api.QueueStatus("q")["usage"].items().at(0)["used"].AsString(), "8");
  EXPECT_EQ(Evictions(), 1);
}

TEST_F(LoopClaimedQuotaTest, WhatAVictimGivesBackIsThePreemptorsAtOnce) {
  HighWaitsForLow();
  Submit("next", 1, 2, "q");
  Submit("own", 2, 0, "r");
  d_.Settle();
  d_.api.Reap();
  d_.Settle();
  EXPECT_EQ(d_.Bound("high"), 1);
  EXPECT_EQ(d_.Bound("next"), 0);
  EXPECT_EQ(d_.Bound("own"), 2);
  EXPECT_EQ(d_.api.QueueStatus("q")["usage"].items().at(0)["used"].AsString(), "8");
}

TEST_F(LoopClaimedQuotaTest, WhatAVictimLeavesIsForTheNextOneWhenThePreemptorIsGone) {
  HighWaitsForLow();
  Submit("next", 1, 2, "q");
  d_.Settle();
  d_.api.Delete(ResourceKind::kPod, "high-0");
  d_.api.Delete(ResourceKind::kPodGroup, "high");
  d_.Settle();
  d_.api.Reap();
  d_.Settle();
  EXPECT_EQ(d_.Bound("next"), 1);
}

// "big" is of Queue b and borrows; "mine" takes back what is a's. Without its leave "big" would
// come back over the room of "mine".
class LoopReversalTest : public LoopVictimsTest {
 protected:
  void BigLeftForMine() {
    d_.Nodes(2, 8);
    PutQueue("a", 8, "all");
    PutQueue("b", 8, "all");
    Submit("big", 2, 1, "b");
    d_.Settle();
    ASSERT_EQ(d_.Bound("big"), 2);
    Submit("mine", 1, 1, "a");
    d_.Settle(absl::Minutes(1));
    ASSERT_EQ(d_.Bound("mine"), 1);
    ASSERT_EQ(d_.Bound("big"), 0);
  }
};

TEST_F(LoopReversalTest, WhomAGangLeftForStandsInItsStatusByUid) {
  BigLeftForMine();
  const std::string by = d_.StatusOf("big").preempted_by;
  EXPECT_EQ(by.rfind(absl::StrCat("default/mine of queue a (uid=",
                                  d_.api.FindGroup("mine")->meta.uid, ", terms="),
                     0),
            0U)
      << by;
}

}  // namespace
}  // namespace maniple
