// What a user sees of gangs that meet no misfortune: the loop with a well-behaved API server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/loop/records/gang_request.h"
#include "scheduler/report/status.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const Condition& ConditionOf(const PodGroupStatus& status, absl::string_view type) {
  static const Condition kNone;
  const Condition* condition = FindCondition(status.conditions, type);
  return condition == nullptr ? kNone : *condition;
}

TEST(LoopGang, AGangThatFitsIsBoundWhole) {
  LoopDriver d;
  d.Nodes(4, 8);
  d.Submit({.gang = "a", .pods = 4});
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 4);
  const PodGroupStatus& status = d.StatusOf("a");
  EXPECT_EQ(status.phase, "Running");
  EXPECT_EQ(status.reason, "Bound");
  EXPECT_EQ(status.members.bound, 4);
  EXPECT_THAT(status.placement_nodes, ElementsAre("n1", "n2", "n3", "n4"));
  EXPECT_EQ(status.quorum_reached_at, d.now);
  for (const char* type : {"MembersReady", "QuotaReserved", "Scheduled"}) {
    EXPECT_EQ(ConditionOf(status, type).status, "True") << type;
  }
}

// The fear: room that somebody's preemption has freed is stolen from whom it was freed for.
TEST(LoopGang, RoomThatAnotherSchedulerPromisedIsTakenOnlyByWhoOutranksItsPod) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.api.Put(MakePod("theirs").Scheduler("other").Gpu(8).Nominated("n1").Priority(5));
  d.Submit({.gang = "equal", .pods = 1, .gpu = 8, .priority = 5});
  d.Settle();
  EXPECT_EQ(d.Bound("equal"), 0);
  d.Submit({.gang = "higher", .pods = 1, .gpu = 8, .priority = 6});
  d.Settle();
  EXPECT_EQ(d.Bound("higher"), 1);
  EXPECT_EQ(d.Bound("equal"), 0);
}

// The fear: where a gang stands is known, and told nobody.
TEST(LoopGang, TheStatusShowsTheDomainOfARequiredLevelUntilTheGangIsGone) {
  LoopDriver d;
  Topology topology;
  topology.meta.name = "default";
  topology.levels = {{.name = "rack", .node_label = "example.com/rack"}};
  d.api.Put(topology);
  for (const char* node : {"n1", "n2"}) {
    d.api.Put(MakeNode(node).Gpu(8).Label("example.com/rack", "r7"));
  }
  d.Submit({.gang = "a", .pods = 2, .gpu = 8});
  d.api.Put(MakePodGroup("a").MinMember(2).Required("rack"));
  d.Settle();
  EXPECT_THAT(d.StatusOf("a").placement_domains, ElementsAre("r7"));
  for (const char* pod : {"a-0", "a-1"}) d.api.Delete(ResourceKind::kPod, pod);
  d.Settle(absl::Seconds(1));
  EXPECT_THAT(d.StatusOf("a").placement_domains, ElementsAre());
}

TEST(LoopGang, ABindingCostsOneBindPerPodOneStatusAndOneEvent) {
  LoopDriver d;
  d.Nodes(4, 8);
  d.Submit({.gang = "a", .pods = 4});
  d.Settle();
  EXPECT_EQ(d.api.Count("/binding"), 4);
  EXPECT_EQ(d.api.Count("/podgroups/a/status"), 1);
  EXPECT_EQ(d.api.Count("PATCH /api/v1/namespaces/default/pods"), 0);
  EXPECT_THAT(d.api.events_created(), ElementsAre("Bound on a: bound 4 pods to 4 nodes"));
}

TEST(LoopGang, OnePodTooManyBindsNothing) {
  LoopDriver d;
  d.Nodes(4, 8);
  d.Submit({.gang = "a", .pods = 5});
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 0);
  EXPECT_EQ(d.StatusOf("a").phase, "Pending");
  EXPECT_EQ(d.StatusOf("a").reason, "NeverFits");
  EXPECT_THAT(d.StatusOf("a").message, HasSubstr("4 of 5 pods fit"));
  EXPECT_EQ(d.api.FindPod("a-0")->scheduled_condition->reason, "Unschedulable");
}

TEST(LoopGang, TwoGangsThatFitOnlyOneAtATimeDoNotDeadlock) {
  LoopDriver d;
  d.Nodes(4, 8);
  d.Submit({.gang = "a", .pods = 3});
  d.Submit({.gang = "b", .pods = 3});
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 3);
  EXPECT_EQ(d.Bound("b"), 0);
  EXPECT_EQ(d.StatusOf("b").reason, "NoFit");
  for (const char* pod : {"a-0", "a-1", "a-2"}) d.api.SetPhase(pod, PodPhase::kSucceeded);
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.Bound("b"), 3);
  EXPECT_EQ(d.StatusOf("a").phase, "Completed");
}

TEST(LoopGang, WaitsForItsMembersAndSaysHowManyExist) {
  LoopDriver d;
  d.Nodes(4, 8);
  d.Submit({.gang = "a", .pods = 3, .min_member = 4});
  d.Settle(absl::Seconds(12));
  EXPECT_EQ(d.StatusOf("a").phase, "Waiting");
  EXPECT_EQ(d.StatusOf("a").reason, "WaitingForMembers");
  EXPECT_EQ(d.StatusOf("a").message, "3 of 4 pods exist");
  EXPECT_EQ(ConditionOf(d.StatusOf("a"), "MembersReady").status, "False");
  EXPECT_EQ(d.api.FindPod("a-0")->scheduled_condition->reason, "WaitingForMembers");
  d.Submit({.gang = "a", .pods = 1});
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 4);
}

TEST(LoopGang, AWaitingGangHoldsNothing) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Submit({.gang = "big", .pods = 3});
  d.Submit({.gang = "small", .pods = 2});
  d.Settle();
  EXPECT_EQ(d.Bound("small"), 2);
  EXPECT_EQ(d.Bound("big"), 0);
}

TEST(LoopGang, SurplusFollowsTheQuorumAsFarAsThereIsRoom) {
  LoopDriver d;
  d.Nodes(3, 8);
  d.Submit({.gang = "a", .pods = 4, .min_member = 2});
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 3);
  EXPECT_EQ(d.StatusOf("a").phase, "Running");
  EXPECT_EQ(d.api.FindPod("a-3")->scheduled_condition->reason, "Unschedulable");
  d.Put(MakeNode("n4").Gpu(8));
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 4);
}

TEST(LoopGang, SurplusNeverTakesTheRoomOfAnotherGangsQuorum) {
  LoopDriver d;
  d.Nodes(3, 8);
  d.Submit({.gang = "a", .pods = 3, .min_member = 1});
  d.Submit({.gang = "b", .pods = 2});
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 1);
  EXPECT_EQ(d.Bound("b"), 2);
}

TEST(LoopGang, AGatedMemberDoesNotCount) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Submit({.gang = "a", .pods = 1, .min_member = 2});
  d.Put(MakePod("a-1").Group("a").Gpu(8).Gated());
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.StatusOf("a").reason, "SchedulingGated");
  EXPECT_EQ(d.Bound("a"), 0);
  Pod freed = *d.api.FindPod("a-1");
  freed.scheduling_gates.clear();
  d.api.Put(freed);
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 2);
}

TEST(LoopGang, EverySubGroupNeedsItsOwnMinimum) {
  LoopDriver d;
  d.Nodes(2, 8, "g");
  d.Put(MakePodGroup("a").MinMember(3).SubGroup("worker", 2).SubGroup("leader", 1));
  for (const char* name : {"a-0", "a-1"}) {
    d.Put(MakePod(name).Group("a").SubGroup("worker").Gpu(8));
  }
  d.Put(MakePod("a-2").Group("a").Gpu(0));
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.StatusOf("a").reason, "WaitingForMembers");
  EXPECT_THAT(d.StatusOf("a").message, HasSubstr("sub-group leader: 0 of 1"));
  d.Put(MakePod("a-3").Group("a").SubGroup("leader").Cpu(1000));
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 4);
}

TEST(LoopGang, ANewNodeWakesTheGangItHelps) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 0);
  d.Put(MakeNode("n2").Gpu(8));
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 2);
}

TEST(LoopGang, APodWithoutAGroupIsAGangOfOne) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Put(MakePod("solo").Gpu(8));
  d.Settle();
  EXPECT_EQ(d.NodeOf("solo"), "n1");
  EXPECT_THAT(d.api.events_created(), ElementsAre(StartsWith("Scheduled on solo")));
  d.Put(MakePod("other").Gpu(8));
  d.Settle();
  EXPECT_EQ(d.api.FindPod("other")->scheduled_condition->reason, "Unschedulable");
  EXPECT_THAT(d.api.FindPod("other")->scheduled_condition->message, HasSubstr("0 of 1 pods fit"));
}

TEST(LoopGang, APodOfAMissingGroupWaitsAndIsToldSo) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Put(MakePod("lost").Group("nowhere").Gpu(8));
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.NodeOf("lost"), "");
  EXPECT_THAT(d.api.FindPod("lost")->scheduled_condition->message, HasSubstr("nowhere"));
  EXPECT_THAT(d.api.events_created(), Contains(StartsWith("PodGroupNotFound on lost")));
  d.Put(MakePodGroup("nowhere").MinMember(1));
  d.Settle();
  EXPECT_EQ(d.NodeOf("lost"), "n1");
}

TEST(LoopGang, AFinishedMemberCountsTowardsTheQuorum) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.Settle();
  d.api.SetPhase("a-0", PodPhase::kSucceeded);
  d.Settle(absl::Minutes(10));
  EXPECT_EQ(d.Bound("a"), 2) << "the other one is left alone";
  EXPECT_EQ(d.StatusOf("a").phase, "Running");
}

TEST(LoopGang, PriorityGoesFirst) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Put(MakePodGroup("low"));
  d.Put(MakePod("low-0").Group("low").Gpu(8).Priority(1));
  d.Put(MakePodGroup("high"));
  d.Put(MakePod("high-0").Group("high").Gpu(8).Priority(9));
  d.Settle();
  EXPECT_EQ(d.Bound("high"), 1);
  EXPECT_EQ(d.Bound("low"), 0);
}

TEST(LoopGang, NothingIsDecidedBeforeEverythingIsListed) {
  SchedulingLoop loop{LoopOptions{}};
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  loop.SetRole(SchedulingLoop::Role::kLeader);
  loop.Accept(ObjectEvent(MakeNode("n1").Gpu(8)));
  loop.Accept(ObjectEvent(MakePod("solo").Gpu(8)));
  loop.Accept(KindSynced{ResourceKind::kPod});
  EXPECT_TRUE(loop.Turn(now).writes.empty());
  EXPECT_FALSE(loop.Synced());
}

TEST(LoopGang, AStandbyWritesNothing) {
  LoopDriver d;
  d.Settle();
  d.loop().SetRole(SchedulingLoop::Role::kStandby);
  d.Nodes(1, 8);
  d.Submit({.gang = "a", .pods = 1});
  d.Settle(absl::Seconds(30));
  EXPECT_EQ(d.api.Count(""), 0);
  d.loop().SetRole(SchedulingLoop::Role::kLeader);
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 1);
}

TEST(LoopGang, ADrainStartsNothingNewAndEndsIdle) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Submit({.gang = "a", .pods = 1});
  d.Exchange();
  EXPECT_FALSE(d.loop().Idle());
  d.loop().Drain();
  d.Submit({.gang = "b", .pods = 1});
  d.Exchange();
  d.Exchange();
  d.Exchange();
  EXPECT_TRUE(d.loop().Idle());
  EXPECT_EQ(d.Bound("a"), 1);
  EXPECT_EQ(d.Bound("b"), 0);
}

TEST(LoopGang, ADrainEndsWhenTheStatusOfWhatWasBoundIsAnswered) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Submit({.gang = "a", .pods = 1});
  d.Exchange();
  d.loop().Drain();
  d.Exchange();
  ASSERT_EQ(d.Bound("a"), 1);
  ASSERT_EQ(d.api.Count("PATCH /apis/scheduling.maniple.dev"), 1) << "it has been sent";
  EXPECT_FALSE(d.loop().Idle());
  d.Exchange();
  EXPECT_TRUE(d.loop().Idle());
}

TEST(LoopGang, ADrainEndsWhenEvictionsAreAnswered) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Submit({.gang = "low", .pods = 1, .priority = 1});
  d.Settle(absl::Minutes(1));
  d.Submit({.gang = "high", .pods = 1, .priority = 2});
  for (int i = 0; i < 9 && d.api.Count("/eviction") == 0; ++i) d.Exchange();
  d.loop().Drain();
  EXPECT_FALSE(d.loop().Idle());
  d.Settle();
  EXPECT_TRUE(d.loop().Idle());
}

TEST(LoopGang, TenThousandParkedGangsCostNothingWhileNothingChanges) {
  LoopDriver d;
  d.Nodes(1, 8);
  for (int i = 0; i < 10'000; ++i) d.Put(MakePod(absl::StrCat("p", i)).Gpu(8));
  d.Settle(absl::Seconds(60));
  const LoopCounters before = d.loop().counters();
  EXPECT_EQ(before.gangs_parked, 9'999);
  for (int i = 0; i < 100; ++i) {
    d.now += absl::Seconds(1);
    d.Exchange();
  }
  EXPECT_EQ(d.loop().counters().decisions, before.decisions);
  EXPECT_EQ(d.loop().counters().statuses_written, before.statuses_written);
}

TEST(LoopGang, OurOwnStatusWritesCauseNoNewDecision) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Submit({.gang = "a", .pods = 4});
  d.Settle(absl::Seconds(60));
  EXPECT_EQ(d.loop().counters().decisions, 1);
  EXPECT_EQ(d.api.Count("/podgroups/a/status"), 1);
  EXPECT_EQ(d.api.Count("/pods/a-"), 4) << "one condition per pod";
}

TEST(LoopGang, NumbersAloneAreWrittenAtMostEveryTenSeconds) {
  LoopDriver d;
  d.Nodes(3, 8);
  d.Submit({.gang = "a", .pods = 3});
  d.Settle();
  d.Submit({.gang = "b", .pods = 3});
  d.Settle();
  ASSERT_EQ(d.StatusOf("b").reason, "NoFit");
  const int before = d.api.Count("/podgroups/b/status");
  for (int i = 0; i < 20; ++i) {
    // Room for one more comes and goes: only the numbers of b's message change.
    d.Put(MakeNode("n9").Gpu(i % 2 == 0 ? 8 : 0));
    d.Settle(absl::Seconds(1));
  }
  EXPECT_LE(d.api.Count("/podgroups/b/status") - before, 3);
}

TEST(LoopGang, TheViewTellsTheSameAsTheStatus) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.Submit({.gang = "b", .pods = 2});
  d.Settle();
  const ClusterViewPtr view = d.loop().View(d.now);
  ASSERT_EQ(view->gangs.size(), 2u);
  EXPECT_EQ(view->gangs[0].phase, "Running");
  EXPECT_THAT(view->gangs[0].nodes, ElementsAre("n1", "n2"));
  EXPECT_EQ(view->gangs[1].reason, d.StatusOf("b").reason);
  EXPECT_EQ(view->gangs[1].message, d.StatusOf("b").message);
  EXPECT_EQ(view->gangs[1].stage, "nodes");
  EXPECT_EQ(view->gangs[1].position, 1);
  int64_t nodes = 0;
  for (const NodeReasonView& line : view->gangs[1].node_reasons) nodes += line.nodes;
  EXPECT_EQ(nodes, 2) << "the counts add up to all nodes";
  ASSERT_EQ(view->nodes.size(), 2u);
  EXPECT_THAT(view->nodes[0].gangs, ElementsAre("default/a"));
}

TEST(ParkFacts, ANodeThatCoolsDownWakesAlsoWhereTheRejectionDoesNotNameIt) {
  const absl::Time cool_end = absl::FromUnixSeconds(1'700'000'060);
  GangRequest request;
  request.wants.push_back({.pod = PodId(0), .shape = ShapeId(0)});
  for (const RejectionCode code : {RejectionCode::kNoFit, RejectionCode::kTopologyNoFit,
                                   RejectionCode::kQuotaExceeded, RejectionCode::kNeverFits}) {
    EXPECT_EQ(ParkFactsFor(request, {.code = code}, cool_end).until, cool_end);
  }
}

void PutOnHold(LoopDriver& d, absl::string_view gang, bool hold) {
  PodGroup group = *d.api.FindGroup(gang);
  group.meta.annotations.Set(kHoldAnnotation, hold ? "true" : "false");
  d.api.Put(group);
}

TEST(LoopGang, APodWithoutAPodGroupSaysItselfThatItIsOnHold) {
  LoopDriver d;
  Pod pod = MakePod("alone").Gpu(8);
  pod.meta.annotations.Set(kHoldAnnotation, "true");
  d.api.Put(pod);
  d.Nodes(1, 8);
  d.Settle(absl::Minutes(20));
  EXPECT_EQ(d.NodeOf("alone"), "");
  ASSERT_NE(d.ViewOf("alone"), nullptr);
  EXPECT_EQ(d.ViewOf("alone")->message,
            "it is on hold: annotation scheduling.maniple.dev/hold of its pod");
  pod.meta.annotations.Set(kHoldAnnotation, "false");
  d.api.Put(pod);
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.NodeOf("alone"), "n1");
}

TEST(LoopGang, WhoIsOnHoldWaitsUntilItIsReleased) {
  LoopDriver d;
  PodGroup group = MakePodGroup("a").MinMember(2);
  group.meta.annotations.Set(kHoldAnnotation, "true");
  d.api.Put(group);
  d.Nodes(2, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.Submit({.gang = "b", .pods = 1});
  d.Settle(absl::Minutes(20));
  EXPECT_EQ(d.Bound("a"), 0);
  EXPECT_EQ(d.Bound("b"), 1) << "it stands in nobody's way";
  EXPECT_EQ(d.StatusOf("a").reason, "SchedulingGated");
  EXPECT_EQ(d.StatusOf("a").message,
            "it is on hold: annotation scheduling.maniple.dev/hold of its PodGroup");
  d.Restart();
  d.Settle(absl::Minutes(1));
  EXPECT_EQ(d.Bound("a"), 0);

  d.api.SetPhase("b-0", PodPhase::kSucceeded);
  PutOnHold(d, "a", false);
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 2);
}

TEST(LoopGang, AHoldLeavesWhatRunsAlone) {
  LoopDriver d;
  d.Nodes(3, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.Settle();
  PutOnHold(d, "a", true);
  d.Settle(absl::Minutes(20));
  EXPECT_EQ(d.Bound("a"), 2);

  // What it has lost is replaced; what it never had is not begun.
  d.api.Delete(ResourceKind::kPod, "a-1");
  d.Submit({.gang = "a", .pods = 1});
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 2);
  d.Submit({.gang = "a", .pods = 1});
  d.Settle(absl::Minutes(1));
  EXPECT_EQ(d.Bound("a"), 2);
  PutOnHold(d, "a", false);
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 3);
}

TEST(LoopGang, AHoldInTheMiddleOfTheFirstBindsLeavesNoHalf) {
  for (const int failures : {1, 2, 3, 4, 6, 20}) {
    LoopDriver d;
    d.Nodes(2, 8);
    d.api.Break({.on = "/binding", .times = failures, .code = 500});
    d.Submit({.gang = "a", .pods = 2});
    d.Exchange();
    d.Exchange();
    PutOnHold(d, "a", true);
    d.Settle(absl::Minutes(10));
    const int bound = d.Bound("a");
    EXPECT_TRUE(bound == 0 || bound == 2) << failures << " binds fail: " << bound << " are bound";
    EXPECT_EQ(d.StatusOf("a").reason, bound == 2 ? "Bound" : "SchedulingGated") << failures;
    PutOnHold(d, "a", false);
    d.Settle(absl::Minutes(10));
    // Pods that were deleted when it was given up are for their controller to make again.
    EXPECT_EQ(d.Bound("a"), d.api.Pods().size() == 2 ? 2 : 0) << failures;
  }
}

}  // namespace
}  // namespace maniple
