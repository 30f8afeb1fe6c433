// One gang makes room for another, in the loop: each test is a symptom that was seen once.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "test/unit/loop/eviction_fixture.h"

namespace maniple {
namespace {

// low has a budget that bears no disruption.
class LoopPastBudgetsTest : public LoopEvictionTest {
 protected:
  LoopPastBudgetsTest() : LoopEvictionTest({.ignore_pdb = IgnorePdb::kAlways}) {
    PodDisruptionBudget budget;
    budget.meta.name = "none";
    budget.meta.namespace_name = "default";
    budget.selector = LabelSelector();
    d_.api.Put(budget);
  }
  int Asked(const std::string& request) {
    return d_.api.Count(absl::StrCat(request, " /api/v1/namespaces/default/pods/low-0"));
  }
};

TEST_F(LoopPastBudgetsTest, WhatABudgetRefusesIsMarkedAndDeletedOnce) {
  d_.api.Break({.on = "/eviction", .times = -1, .code = 429, .cause = "DisruptionBudget"});
  HighAsksLowToLeave();
  EXPECT_EQ(Evictions(), 1);
  EXPECT_EQ(Asked("PATCH"), 1);
  EXPECT_EQ(Asked("DELETE"), 1);
  EXPECT_EQ(d_.Bound("high"), 1);
}

TEST_F(LoopPastBudgetsTest, NothingIsDeletedThatCouldNotBeMarked) {
  d_.api.Break({.on = "/eviction", .times = -1, .code = 429, .cause = "DisruptionBudget"});
  d_.api.Break({.on = "PATCH /api/v1/namespaces/default/pods/low-0", .times = 2, .code = 500});
  HighAsksLowToLeave();
  EXPECT_EQ(Asked("DELETE"), 0);
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(Asked("PATCH"), 3);
  EXPECT_EQ(Asked("DELETE"), 1);
}

TEST_F(LoopPastBudgetsTest, AServerThatIsTooBusyIsAskedAgainAndNothingIsDeleted) {
  d_.api.Break({.on = "/eviction", .times = 3, .code = 429});
  HighAsksLowToLeave();
  d_.Settle(absl::Minutes(2));
  EXPECT_EQ(Evictions(), 4);
  EXPECT_EQ(Asked("DELETE"), 0);
  EXPECT_EQ(d_.Bound("high"), 1);
}

TEST_F(LoopEvictionTest, VictimsThatTakeTheirTimeToEndAreWaitedForWithoutSpinning) {
  d_.Nodes(2, 8);
  d_.api.KeepTerminating();
  Submit("low", 2, 1);
  d_.Settle();
  Submit("high", 2, 2);
  d_.Settle(absl::Seconds(40));
  EXPECT_EQ(Evictions(), 2);
  EXPECT_EQ(d_.Bound("high"), 0);
  d_.api.Reap();
  d_.Settle();
  EXPECT_EQ(d_.Bound("high"), 2);
}

TEST_F(LoopEvictionTest, NobodyIsEvictedForRoomThatOthersAreLeavingAnyway) {
  OneLeavesAndOneStays();
  d_.Settle(absl::Minutes(4));
  EXPECT_EQ(Evictions(), 0);
  d_.api.Reap();
  d_.Settle();
  EXPECT_EQ(d_.Bound("high"), 1);
  EXPECT_EQ(d_.Bound("stays"), 1);
  EXPECT_EQ(Evictions(), 0);
}

TEST_F(LoopEvictionTest, WhoDoesNotEndAfterItsGracePeriodIsNotWaitedForForEver) {
  OneLeavesAndOneStays();
  d_.Settle(absl::Minutes(6));
  EXPECT_EQ(Evictions(), 1);
}

TEST_F(LoopEvictionTest, WhoDoesNotEndIsCountedOnOnceBesideVictims) {
  OneOfFourLeaves();
  Submit("high", 2, 2);
  d_.Settle(absl::Minutes(4));
  EXPECT_EQ(Evictions(), 1);
  d_.Settle(absl::Minutes(3));
  EXPECT_EQ(Evictions(), 3);
}

TEST_F(LoopEvictionTest, RoomThatOneGangWaitsForIsNotCountedOnByTheNext) {
  OneOfFourLeaves();
  Submit("first", 1, 3);
  d_.Settle();
  EXPECT_EQ(Evictions(), 0);
  Submit("next", 2, 2);
  d_.Settle();
  EXPECT_EQ(Evictions(), 2);
  d_.api.Reap();
  d_.Settle();
  EXPECT_EQ(d_.Bound("first") + d_.Bound("next"), 3);
  EXPECT_EQ(Evictions(), 2);
}

TEST_F(LoopEvictionTest, WhoMayEvictHearsOfPodsThatBeginToLeave) {
  d_.Nodes(2, 8);
  d_.api.KeepTerminating();
  Submit("low", 1, 1);
  Submit("firm", 1, 3);
  d_.Settle();
  Submit("high", 2, 2);
  d_.Settle();
  EXPECT_EQ(Evictions(), 0);
  IsOnItsWayOut("firm-0");
  d_.Settle();
  EXPECT_EQ(Evictions(), 1);
}

TEST_F(LoopEvictionTest, ASecondGangMakesRoomBeforeTheVictimsOfTheFirstHaveLeft) {
  d_.Nodes(2, 8);
  d_.api.KeepTerminating();
  PutQueueOfTwoNodes();
  for (const char* name : {"a", "b"}) Submit(name, 1, 1, "q");
  d_.Settle();
  for (const char* name : {"high", "higher"}) Submit(name, 1, 2, "q");
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(Evictions(), 2);
  d_.api.Reap();
  d_.Settle();
  EXPECT_EQ(d_.Bound("high") + d_.Bound("higher"), 2);
}

// A gang of one and a pod more stand on both nodes, and the latter is leaving for "first".
class SurplusLeaves : public LoopEvictionTest {
 protected:
  SurplusLeaves() {
    PutQueueOfTwoNodes();
    d_.Nodes(2, 8);
    d_.api.KeepTerminating();
    Submit("large", 2, 1, "q");
    PodGroup group = *d_.api.FindGroup("large");
    group.spec.min_member = 1;
    d_.api.Put(group);
    d_.Settle();
    Submit("first", 1, 2, "q");
    d_.Settle();
    EXPECT_EQ(Evictions(), 1);
  }
};

TEST_F(SurplusLeaves, TheRestOfItsGangMayBeEvictedMeanwhile) {
  Submit("second", 1, 2, "q");
  d_.Settle();
  EXPECT_EQ(Evictions(), 2);
  d_.api.Reap();
  d_.Settle();
  EXPECT_EQ(d_.Bound("first"), 1);
  EXPECT_EQ(d_.Bound("second"), 1);
}

TEST_F(SurplusLeaves, TheRestOfItsGangLeavesAQueueThatIsDrained) {
  PutQueue(StopPolicy::kHoldAndDrain);
  d_.Settle();
  EXPECT_EQ(Evictions(), 2);
}

TEST_F(LoopEvictionTest, QuotaThatOthersAreLeavingAnywayIsWaitedFor) {
  d_.Nodes(3, 8);
  d_.api.KeepTerminating();
  PutQueueOfTwoNodes();
  Submit("ends", 1, 1, "q");
  Submit("stays", 1, 1, "q");
  d_.Settle();
  IsOnItsWayOut("ends-0");
  Submit("high", 1, 2, "q");
  d_.Settle(absl::Minutes(4));
  EXPECT_EQ(Evictions(), 0);
  d_.api.Reap();
  d_.Settle();
  EXPECT_EQ(d_.Bound("high"), 1);
  EXPECT_EQ(d_.Bound("stays"), 1);
}

TEST_F(LoopEvictionTest, AGangThatIsLetEvictAfterAllDoes) {
  d_.Nodes(1, 8);
  Submit("low", 1, 1);
  d_.Settle();
  PodGroup peaceful = MakePodGroup("high").MinMember(1);
  peaceful.spec.preempts = false;
  peaceful.meta.generation = 1;
  d_.api.Put(peaceful);
  Pod pod = MakePod("high-0").Group("high").Gpu(8).Priority(2);
  pod.meta.uid.clear();
  d_.api.Put(pod);
  d_.Settle();
  EXPECT_EQ(Evictions(), 0);
  peaceful.spec.preempts = true;
  peaceful.meta.generation = 2;
  d_.api.Put(peaceful);
  d_.Settle();
  EXPECT_EQ(Evictions(), 1);
  EXPECT_EQ(d_.Bound("high"), 1);
}

TEST_F(LoopEvictionTest, AGangThatWaitsHearsOfAVictimThatWasStillBeingBound) {
  LowIsStillBeingBound();
  Submit("high", 1, 2);
  d_.Exchange();
  EXPECT_EQ(Evictions(), 0);
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(Evictions(), 1);
  EXPECT_EQ(d_.Bound("high"), 1);
}

TEST_F(LoopEvictionTest, WhomAnEarlierLeaderNominatedIsNominatedNoMoreWhenNobodyMakesRoom) {
  d_.api.KeepTerminating();
  HighAsksLowToLeave();
  ASSERT_EQ(d_.api.FindPod("high-0")->nominated_node_name, "n1");
  d_.Restart();
  d_.Put(MakeNode("n1").Gpu(2));  // it does not fit there any more, whoever leaves
  d_.Settle(absl::Seconds(30));
  EXPECT_EQ(d_.api.FindPod("high-0")->nominated_node_name, "");
}

TEST_F(LoopEvictionTest, NobodyIsEvictedAnyMoreForAGangThatIsGone) {
  EvictionsAreRefused();
  HighAsksLowToLeave();
  EXPECT_EQ(Evictions(), 1);
  d_.api.Delete(ResourceKind::kPod, "high-0");
  d_.api.Delete(ResourceKind::kPodGroup, "high");
  d_.Settle(absl::Minutes(10));
  EXPECT_EQ(Evictions(), 1);
  EXPECT_EQ(d_.Bound("low"), 1);
}

TEST_F(LoopEvictionTest, AQueueThatIsDrainedNoMoreEvictsNobody) {
  d_.Nodes(1, 8);
  PutQueue();
  EvictionsAreRefused();
  d_.Submit({.gang = "low", .queue = "q"});
  d_.Settle();
  PutQueue(StopPolicy::kHoldAndDrain);
  d_.Settle();
  EXPECT_EQ(Evictions(), 1);
  PutQueue();
  d_.Settle(absl::Minutes(10));
  EXPECT_EQ(Evictions(), 1);
  EXPECT_EQ(d_.Bound("low"), 1);
}

// The fear: who is left when a drain ends is asked to leave for ever, and is told of a drain.
TEST_F(LoopEvictionTest, WhoIsLeftWhenADrainEndsStaysAndIsMadeWholeAgain) {
  d_.Nodes(2, 8);
  PutQueue();
  Submit("half", 2, 1, "q");
  d_.Settle();
  d_.api.Break({.on = "half-1/eviction", .times = -1, .code = 500});
  PutQueue(StopPolicy::kHoldAndDrain);
  d_.Settle(absl::Seconds(10));
  EXPECT_EQ(d_.Bound("half"), 1);
  PutQueue();
  d_.Settle(absl::Seconds(1));
  const int asked = Evictions();
  Pod again = MakePod("half-0").Group("half").Gpu(8).Priority(1);
  again.meta.uid.clear();
  again.meta.created = d_.now;
  d_.api.Put(again);
  d_.Settle(absl::Minutes(10));
  EXPECT_EQ(Evictions(), asked);
  EXPECT_EQ(d_.Bound("half"), 2);
}

TEST_F(LoopEvictionTest, SurplusIsNotForgottenBehindTheHeadOfAStrictFifoQueueThatWasStopped) {
  d_.Nodes(1, 8);
  queue_.ordering = QueueOrdering::kStrictFifo;
  PutQueue();
  d_.Submit({.gang = "elastic", .gpu = 2, .queue = "q"});
  d_.Settle();
  PutQueue(StopPolicy::kHold);
  for (const char* gang : {"head", "next", "third"}) {
    d_.Submit({.gang = gang, .queue = "q"});
    d_.Settle(absl::Seconds(1));
  }
  d_.Submit({.gang = "elastic", .gpu = 2, .queue = "q"});
  d_.Settle(absl::Seconds(1));
  PutQueue();
  d_.Settle(absl::Seconds(1));
  ASSERT_EQ(d_.Bound("elastic"), 1);
  for (const char* gang : {"head", "next", "third"}) {
    d_.api.Delete(ResourceKind::kPod, absl::StrCat(gang, "-0"));
  }
  d_.Settle(absl::Seconds(1));
  EXPECT_EQ(d_.Bound("elastic"), 2);
}

TEST_F(LoopEvictionTest, WhoMayEvictNobodyDoesNotSpeakForWhoMay) {
  LowIsStillBeingBound();
  PodGroup timid = MakePodGroup("timid").MinMember(1);
  timid.spec.preempts = false;
  timid.meta.created = d_.now;
  d_.api.Put(timid);
  d_.api.Put(MakePod("timid-0").Group("timid").Gpu(8).Priority(2));
  Submit("bold", 1, 2);
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(Evictions(), 1);
  EXPECT_EQ(d_.Bound("bold"), 1);
}

TEST_F(LoopEvictionTest, AClaimEndsInTimeAlsoWhenAStrictFifoHeadKeepsItsGangFromBeingAsked) {
  d_.Nodes(2, 8);
  d_.api.KeepTerminating();
  queue_.ordering = QueueOrdering::kStrictFifo;
  queue_.within_queue = WithinQueuePreemption::kLowerPriority;
  PutQueue();
  Submit("low", 1, 1, "q");
  Submit("firm", 1, 5, "q");
  d_.Settle();
  Submit("high", 1, 2, "q");
  d_.Settle();
  ASSERT_NE(d_.api.FindPod("high-0")->nominated_node_name, "");
  Submit("head", 2, 3, "q");
  d_.Settle(absl::Minutes(6));
  EXPECT_EQ(d_.api.FindPod("high-0")->nominated_node_name, "");
  EXPECT_EQ(d_.StatusOf("high").reason, "HeldByReservation");
}

TEST_F(LoopEvictionTest, ANominationOfAnEarlierLeaderThatArrivesLateIsTakenBack) {
  d_.Nodes(1, 8);
  Submit("first", 1, 2);
  d_.Settle();
  Submit("second", 1, 2);
  d_.Settle();
  Pod pod = *d_.api.FindPod("second-0");
  ASSERT_TRUE(pod.scheduled_condition.has_value());
  pod.nominated_node_name = "n1";
  pod.scheduled_condition->reason = "WaitingForPreemption";
  d_.api.Put(pod);
  d_.Settle(absl::Seconds(20));
  EXPECT_EQ(d_.api.FindPod("second-0")->nominated_node_name, "");
}

// It was "insufficient" before it was "cooling down", and only eviction needs both to end.
TEST_F(LoopEvictionTest, AGangThatMayEvictHearsOfAFullNodeThatHasCooledDown) {
  d_.Nodes(1, 16);
  Submit("low", 1, 1);
  d_.Settle();
  d_.api.Break(
      {.on = "POST /api/v1/namespaces/default/pods/bad-0/binding", .act = FaultAct::kReject});
  Submit("bad", 1, 2);
  d_.Settle();
  ASSERT_EQ(d_.loop().counters().kubelet_rejections, 1);
  d_.api.Put(MakePodGroup("high").MinMember(1));
  d_.api.Put(MakePod("high-0").Group("high").Gpu(16).Priority(3));
  d_.Settle();
  EXPECT_EQ(Evictions(), 0);
  d_.Settle(absl::Minutes(10));
  EXPECT_EQ(Evictions(), 1);
  EXPECT_EQ(d_.Bound("high"), 1);
}

TEST_F(LoopEvictionTest, AGangHearsThatWhoeverStandsIsOfLaterNow) {
  d_.Nodes(1, 8);
  Queue queue;
  queue.meta.name = "q";
  queue.within_queue = WithinQueuePreemption::kLowerOrNewerEqualPriority;
  d_.api.Put(queue);
  Submit("first", 1, 1, "q");
  d_.Settle();
  Submit("second", 1, 1, "q");
  d_.Settle();
  EXPECT_EQ(Evictions(), 0);
  // Its PodGroup is created anew; the pod stands on.
  d_.api.Delete(ResourceKind::kPodGroup, "first");
  d_.Settle(absl::Seconds(5));
  PodGroup again = MakePodGroup("first").MinMember(1);
  again.spec.queue = "q";
  again.meta.created = d_.now;
  d_.api.Put(again);
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(Evictions(), 1);
  EXPECT_EQ(d_.Bound("second"), 1);
}

TEST_F(LoopEvictionTest, AGangHearsThatWhoeverStandsHasALowerPriorityNow) {
  d_.Nodes(1, 8);
  Submit("first", 1, 3);
  d_.Settle();
  Submit("second", 1, 2);
  d_.Settle();
  EXPECT_EQ(Evictions(), 0);
  PodGroup lowered = *d_.api.FindGroup("first");
  lowered.spec.priority_class_name = "low";
  PriorityClass low;
  low.meta.name = "low";
  low.value = 1;
  d_.api.Put(low);
  d_.api.Put(lowered);
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(Evictions(), 1);
  EXPECT_EQ(d_.Bound("second"), 1);
}

// Two Queues of 8 GPUs and a Cohort that lends 8 more; three nodes of 8.
TEST_F(LoopEvictionTest, NobodyEvictsInTurnWhomItHadToLeaveFor) {
  d_.Nodes(3, 8);
  Cohort cohort;
  cohort.meta.name = "all";
  cohort.quotas = {
      {.flavor = "", .resources = {{.resource = "nvidia.com/gpu", .nominal = Amount(8)}}}};
  d_.api.Put(cohort);
  for (const char* name : {"x", "y"}) {
    Queue queue;
    queue.meta.name = name;
    queue.cohort = "all";
    queue.quotas = cohort.quotas;
    queue.reclaim = ReclaimWithinCohort::kAny;
    d_.api.Put(queue);
  }
  Submit("y-stays", 1, 3, "y");
  Submit("y-ends", 1, 2, "y");
  Submit("y-leaves", 1, 1, "y");
  d_.Settle();
  Submit("x-takes", 1, 1, "x");
  d_.Settle(absl::Minutes(1));
  ASSERT_EQ(d_.Bound("x-takes"), 1);
  ASSERT_EQ(d_.Bound("y-leaves"), 0);
  d_.api.Put(MakePod("y-leaves-0").Group("y-leaves").Gpu(8).Priority(1));  // by its controller
  // x borrows besides; then y has nothing, and a right to what is its own.
  Submit("x-borrows", 1, 9, "x");
  d_.api.SetPhase("y-ends-0", PodPhase::kSucceeded);
  d_.Settle(absl::Minutes(1));
  ASSERT_EQ(d_.Bound("x-borrows"), 1);
  d_.api.Put(MakeNode(d_.NodeOf("y-stays-0")).Gpu(8).Cordoned());
  d_.api.SetPhase("y-stays-0", PodPhase::kSucceeded);
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("y-leaves"), 1);
  EXPECT_EQ(d_.Bound("x-takes"), 1) << "not the one that made it leave, though that costs less";
  EXPECT_EQ(d_.Bound("x-borrows"), 0);
  EXPECT_EQ(d_.loop().counters().preemption_reversals, 0);
}

// A gang of the Queue for which another one leaves.
class ClaimOfAQueue : public LoopEvictionTest {
 protected:
  void SetUp() override {
    d_.Nodes(1, 8);
    d_.api.KeepTerminating();
    queue_.meta.name = "q";
    queue_.within_queue = WithinQueuePreemption::kLowerPriority;
    d_.api.Put(queue_);
    Submit("low", 1, 1, "q");
    d_.Settle();
    Submit("high", 1, 2, "q");
    d_.Settle();
    ASSERT_EQ(d_.api.FindPod("high-0")->nominated_node_name, "n1");
  }

  Queue queue_;
};

class StoppedClaim : public ClaimOfAQueue {
 protected:
  void SetUp() override {
    ClaimOfAQueue::SetUp();
    queue_.stop = StopPolicy::kHold;
    d_.api.Put(queue_);
    d_.Settle(absl::Seconds(20));
    ASSERT_EQ(d_.api.FindPod("high-0")->scheduled_condition->reason, "QueueStopped");
    ASSERT_EQ(d_.api.FindPod("high-0")->nominated_node_name, "n1") << "the claim stands";
  }
};

TEST_F(StoppedClaim, ItsNominationEndsWithIt) {
  d_.Settle(absl::Minutes(6));
  EXPECT_EQ(d_.api.FindPod("high-0")->nominated_node_name, "");
}

TEST_F(StoppedClaim, ANewLeaderTakesItsNominationBack) {
  d_.Restart();
  d_.Settle(absl::Seconds(30));
  EXPECT_EQ(d_.api.FindPod("high-0")->nominated_node_name, "");
}

TEST_F(StoppedClaim, ItsNominationEndsWithItsPodGroup) {
  d_.api.Delete(ResourceKind::kPodGroup, "high");
  d_.Settle(absl::Seconds(30));
  EXPECT_EQ(d_.api.FindPod("high-0")->nominated_node_name, "");
}

// The fear: a tenant makes another team's Queue pay for room that is being freed for it.
TEST_F(ClaimOfAQueue, EndsWhenTheQueueDoesNotAdmitTheGang) {
  queue_.namespace_selector = LabelSelector{
      .requirements = {{.key = "team", .op = SelectorOperator::kIn, .values = {"blue"}}}};
  d_.api.Put(queue_);
  d_.Settle(absl::Seconds(20));
  EXPECT_EQ(d_.api.FindPod("high-0")->scheduled_condition->reason, "NamespaceNotAllowed");
  EXPECT_EQ(d_.api.FindPod("high-0")->nominated_node_name, "");
}

// The fear: a second gang leaves because a less important one waits for what leaves already.
TEST_F(LoopEvictionTest, WhoIsLessImportantKeepsNothingThatLeavesFromOthers) {
  d_.Nodes(3, 8);
  d_.api.KeepTerminating();
  for (const char* gang : {"first", "mid", "other"}) {
    Submit(gang, 1, *gang == 'f' ? 0 : 3);
    d_.Settle();
  }
  Pod leaves = *d_.api.FindPod("first-0");
  leaves.meta.deleted = d_.now;
  d_.api.Put(leaves);
  Submit("waits", 1, 2);
  d_.Settle(absl::Seconds(5));
  Submit("high", 2, 10);
  d_.Settle(absl::Seconds(30));
  EXPECT_EQ(Evictions(), 1);
}

// The fear: others get the room, or the victim comes back, and somebody is evicted once more.
class FailedStarts : public LoopEvictionTest {
 protected:
  void HighIsRefusedAfterLowHasLeft(int times) {
    HighBindsAreRefused(times);
    HighAsksLowToLeave();
    ASSERT_EQ(d_.Bound("low"), 0);
    ASSERT_EQ(d_.Bound("high"), 0);
    Submit("other", 1, 2);
    d_.Settle(absl::Seconds(1));
    ASSERT_EQ(d_.Bound("other"), 0);
  }
  void HighBindsAreRefused(int times) {
    d_.api.Break(
        {.on = "POST /api/v1/namespaces/default/pods/high-0/binding", .times = times, .code = 403});
  }
};

TEST_F(FailedStarts, OnceTheGangKeepsTheRoomThatWasFreedForIt) {
  HighIsRefusedAfterLowHasLeft(1);
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("high"), 1);
  EXPECT_EQ(d_.Bound("other"), 0);
}

TEST_F(FailedStarts, AgainAndAgainTheGangGivesTheRoomUpInTime) {
  HighIsRefusedAfterLowHasLeft(-1);
  d_.Settle(absl::Minutes(4));
  EXPECT_EQ(d_.Bound("other"), 0);
  d_.Settle(absl::Minutes(2));
  EXPECT_EQ(d_.Bound("other"), 1);
}

TEST_F(FailedStarts, AGangWhoseMemberIsGoneKeepsNoRoom) {
  HighIsRefusedAfterLowHasLeft(-1);
  d_.api.Delete(ResourceKind::kPod, "high-0");
  d_.Settle(absl::Seconds(1));
  EXPECT_EQ(d_.Bound("other"), 1);
}

}  // namespace
}  // namespace maniple
