// Fear: all or nothing holds only while the server, kubelets and neighbours behave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>

#include "scheduler/report/status.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kBindA0[] = "POST /api/v1/namespaces/default/pods/a-0/binding";
constexpr char kBindA1[] = "POST /api/v1/namespaces/default/pods/a-1/binding";
constexpr char kBindA2[] = "POST /api/v1/namespaces/default/pods/a-2/binding";
constexpr char kDeletes[] = "DELETE /api/v1";

struct PassingFault {
  const char* name;
  Fault fault;
  int sent;  // binds of the pod that it strikes
};

class LoopPassingFaults : public ::testing::TestWithParam<PassingFault> {};

TEST_P(LoopPassingFaults, AreGotOverWithoutUndoingAnything) {
  LoopDriver d;
  d.Nodes(4, 8);
  d.api.Break(GetParam().fault);
  d.Submit({.gang = "a", .pods = 4});
  d.Settle(absl::Seconds(5));
  EXPECT_EQ(d.Bound("a"), 4);
  EXPECT_EQ(d.StatusOf("a").phase, "Running");
  EXPECT_EQ(d.api.Count(kBindA2), GetParam().sent);
  EXPECT_EQ(d.api.Count(kDeletes), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, LoopPassingFaults,
    ::testing::Values(PassingFault{"LostReply", {.on = kBindA2, .act = FaultAct::kLoseReply}, 1},
                      PassingFault{"DroppedRequest", {.on = kBindA2, .act = FaultAct::kDrop}, 2},
                      PassingFault{"InternalErrors", {.on = kBindA2, .times = 2, .code = 500}, 3},
                      PassingFault{"Unavailable", {.on = kBindA2, .times = 2, .code = 503}, 3}),
    [](const auto& info) { return std::string(info.param.name); });

// Seed 7006512 of the simulation: its room was given away while it still stood there.
TEST(LoopFaults, APodThatLeavesBeforeTheWatchHasShownItBoundKeepsItsRoom) {
  LoopDriver d;
  d.Nodes(5, 8);
  d.Settle();
  d.Submit({.gang = "a", .pods = 4});
  const Pod stale = *d.api.FindPod("a-2");
  d.api.Break({.on = kBindA2, .act = FaultAct::kLoseReply});
  d.Exchange();
  d.api.StallWatches();
  d.Settle(absl::Seconds(2));
  Pod leaving = *d.api.FindPod("a-2");
  ASSERT_FALSE(leaving.node_name.empty());
  leaving.meta.deleted = d.now;
  d.api.Put(leaving);
  d.Settle(absl::Seconds(20));
  d.loop().Accept(ObjectUpserted{stale});
  d.Settle(absl::Seconds(60));
  EXPECT_EQ(d.api.Count(kBindA2), 1) << "the watch calls it pending, the server knows better";
}

TEST(LoopFaults, ALostReplyIsLookedUpEvenWhileTheWatchStandsStill) {
  LoopDriver d;
  d.Nodes(4, 8);
  d.Settle();
  d.Submit({.gang = "a", .pods = 4});
  d.api.Break({.on = kBindA2, .act = FaultAct::kLoseReply});
  d.Exchange();
  d.api.StallWatches();
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.api.Count("GET /api/v1/namespaces/default/pods/a-2"), 1);
  d.api.ResumeWatches();
  d.Settle();
  EXPECT_EQ(d.api.Count(kBindA2), 1);
  EXPECT_EQ(d.Bound("a"), 4);
  EXPECT_EQ(d.StatusOf("a").phase, "Running");
}

TEST(LoopFaults, RetryAfterIsHonoured) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.api.Break({.on = "/binding", .code = 429, .retry_after = absl::Seconds(7)});
  d.Submit({.gang = "a", .pods = 1});
  d.Settle(absl::Seconds(6));
  EXPECT_EQ(d.api.Count("/binding"), 1);
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.Bound("a"), 1);
}

// The server was busy for a while, and somebody came whom the pod must not stand beside.
TEST(LoopFaults, APlaceIsLookedAtAgainBeforeABindIsRepeated) {
  constexpr char kHost[] = "kubernetes.io/hostname";
  LoopDriver d;
  for (const char* name : {"n1", "n2"}) d.Put(MakeNode(name).Gpu(8).Label(kHost, name));
  d.api.Break({.on = "/binding", .code = 429, .retry_after = absl::Seconds(7)});
  d.Put(MakePodGroup("a").MinMember(1));
  d.Put(MakePod("a-0").Group("a").Gpu(4).Apart(kHost, Labelled("app", "loner")));
  d.Settle(absl::Seconds(5));
  ASSERT_EQ(d.api.Count("/binding"), 1);
  ASSERT_THAT(d.log(), Contains(HasSubstr("a-0=n1")));
  d.Put(MakePod("stranger").Scheduler("other").Label("app", "loner").On("n1"));
  d.Settle(absl::Seconds(10));
  EXPECT_EQ(d.NodeOf("a-0"), "n2");
}

void Relabel(LoopDriver& d, absl::string_view pod, const std::string& group) {
  Pod relabelled = *d.api.FindPod(pod);
  relabelled.meta.labels.Set(kPodGroupLabel, group);
  d.Put(ObjectUpserted{relabelled});
}

// Its room must not be given away: the bind may be done at any time.
TEST(LoopFaults, AMemberThatIsRelabelledWhileItIsBeingBoundKeepsItsRoom) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.api.Break({.on = kBindA0, .code = 429, .retry_after = absl::Seconds(5)});
  d.Submit({.gang = "a", .pods = 2, .gpu = 4});
  d.Settle(absl::Seconds(1));
  d.Submit({.gang = "b", .pods = 1, .gpu = 4});
  Relabel(d, "a-0", "b");
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.NodeOf("b-0"), "");
  d.Settle(absl::Seconds(10));
  EXPECT_EQ(d.NodeOf("a-0"), "n1");
  EXPECT_EQ(d.NodeOf("b-0"), "");
  EXPECT_EQ(d.StatusOf("a").phase, "Running");
}

TEST(LoopFaults, AMemberThatWasRelabelledGoesToThatGangOnceItsBindHasFailed) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.api.Break({.on = kBindA0, .code = 429, .retry_after = absl::Seconds(5)});
  d.api.Break({.on = kBindA0, .code = 422});
  d.Submit({.gang = "a", .pods = 1});
  d.Put(MakePodGroup("b").MinMember(1));
  d.Settle(absl::Seconds(1));
  Relabel(d, "a-0", "b");
  d.Settle(absl::Seconds(20));
  EXPECT_EQ(d.NodeOf("a-0"), "n1");
  EXPECT_EQ(d.StatusOf("b").phase, "Running");
  EXPECT_EQ(d.StatusOf("a").reason, "WaitingForMembers");
}

// A watch that reconnects shows both changes as one. Whoever leads next goes by the label, too.
TEST(LoopFaults, AMemberThatIsRelabelledAndBoundBySomebodyInOneStepIsOfTheGangThatItNames) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Put(MakePodGroup("a").MinMember(2));
  d.Put(MakePodGroup("b").MinMember(1));
  d.Put(MakePod("a-0").Group("a").Gpu(4));
  d.Settle(absl::Seconds(1));
  Pod bound = *d.api.FindPod("a-0");
  bound.meta.labels.Set(kPodGroupLabel, "b");
  bound.node_name = "n1";
  d.Put(ObjectUpserted{bound});
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.StatusOf("b").phase, "Running");
  EXPECT_EQ(d.StatusOf("a").reason, "WaitingForMembers");
}

// Two schedulers that both tell of one group overwrite each other without end.
TEST(LoopFaults, AGroupOfAnotherSchedulersPodsIsThatOnesToReportOn) {
  constexpr char kStatus[] = "podgroups/theirs/status";
  LoopDriver d;
  d.Nodes(1, 8);
  d.Put(MakePodGroup("theirs").MinMember(1));
  d.Put(MakePod("theirs-0").Group("theirs").Scheduler("other").Gpu(1));
  d.Settle(absl::Minutes(5));
  EXPECT_EQ(d.api.Count(kStatus), 0);
  d.api.Delete(ResourceKind::kPod, "theirs-0");
  d.Settle(absl::Minutes(1));
  EXPECT_EQ(d.StatusOf("theirs").reason, "WaitingForMembers");
  d.Put(MakePod("theirs-1").Group("theirs").Gpu(1));
  d.Settle(absl::Minutes(1));
  EXPECT_EQ(d.StatusOf("theirs").phase, "Running");
}

TEST(LoopFaults, ABindForbiddenForEverUndoesTheWholeGang) {
  LoopDriver d;
  d.Nodes(4, 8);
  d.api.Break({.on = kBindA2, .times = -1, .code = 403});
  d.Put(ObjectUpserted{
      Queue{.meta = {.name = "q", .uid = "q-1"},
            .quotas = {{.resources = {{.resource = kGpuResource, .nominal = Amount(32)}}}}}});
  d.Submit({.gang = "a", .pods = 4, .queue = "q"});
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.Bound("a"), 0);
  EXPECT_THAT(d.api.events_created(), Contains(StartsWith("Undone on a")));
  EXPECT_TRUE(d.StatusOf("a").last_undone_at.has_value());
  EXPECT_FALSE(d.StatusOf("a").quorum_reached_at.has_value());
  d.Submit({.gang = "b", .pods = 4, .queue = "q"});
  d.Settle(absl::Seconds(20));
  EXPECT_EQ(d.Bound("b"), 4);
  EXPECT_LE(d.api.Count(kBindA2), 5);
  EXPECT_EQ(d.api.QueueStatus("q")["running"].AsInt(), 1);
  ASSERT_EQ(d.api.QueueStatus("q")["usage"].size(), 1u);
  EXPECT_EQ(d.api.QueueStatus("q")["usage"].items().at(0)["used"].AsString(), "32");
}

TEST(LoopFaults, AnUndoneGangBacksOffBeforeItIsTriedAgain) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.api.Break({.on = kBindA1, .times = 1, .code = 422});
  d.Submit({.gang = "a", .pods = 2});
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 0);
  d.Submit({.gang = "a", .pods = 1});  // the controller makes the deleted one again
  d.Settle();
  EXPECT_EQ(d.StatusOf("a").reason, "BackingOff");
  d.Settle(absl::Seconds(10));
  EXPECT_EQ(d.Bound("a"), 2);
}

TEST(LoopFaults, ARetryGoesElsewhereWhenItsNodeHasLostTheRoom) {
  for (const bool cordoned : {false, true}) {
    LoopDriver d;
    d.Nodes(3, 8);
    d.api.Break({.on = kBindA1, .times = 3, .code = 503});
    d.Submit({.gang = "a", .pods = 2});
    d.Exchange();
    d.Put(cordoned ? MakeNode("n2").Gpu(8).Cordoned() : MakeNode("n2").Gpu(4));
    d.Settle(absl::Seconds(5));
    EXPECT_EQ(d.Bound("a"), 2);
    EXPECT_EQ(d.NodeOf("a-1"), "n3") << cordoned;
  }
}

TEST(LoopFaults, ARetryDoesNotFollowTheIdOfItsLostNodeToAnotherNode) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Settle();
  d.api.Break({.on = kBindA0, .code = 503});
  d.Submit({.gang = "a", .pods = 1});
  d.Exchange();
  ASSERT_EQ(d.api.Count(kBindA0), 1);
  d.api.Delete(ResourceKind::kNode, "n1");
  d.api.Put(MakeNode("small").Gpu(4));  // takes the place of n1 in the tables
  d.Settle(absl::Seconds(10));
  EXPECT_EQ(d.api.Count(kBindA0), 1);
  EXPECT_EQ(d.NodeOf("a-0"), "");
  EXPECT_EQ(d.StatusOf("a").phase, "Pending");
}

TEST(LoopFaults, AnUnfinishedBindingIsUndoneAtItsTimeout) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.api.Break({.on = kBindA1, .times = -1, .code = 503});
  d.Submit({.gang = "a", .pods = 2});
  d.Settle(absl::Seconds(59));
  EXPECT_EQ(d.Bound("a"), 1);
  EXPECT_EQ(d.StatusOf("a").phase, "Binding");
  EXPECT_EQ(d.StatusOf("a").reason, "Binding");
  d.Settle(absl::Seconds(3));
  EXPECT_EQ(d.Bound("a"), 0);
  EXPECT_EQ(d.loop().counters().gangs_undone, 1);
}

TEST(LoopFaults, ATerminatingPodKeepsItsRoomUntilItIsGone) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Submit({.gang = "a", .pods = 1});
  d.Settle();
  d.api.KeepTerminating();
  Pod leaving = *d.api.FindPod("a-0");
  leaving.meta.deleted = d.now;
  d.api.Put(leaving);
  d.Submit({.gang = "b", .pods = 1});
  d.Settle(absl::Seconds(30));
  EXPECT_EQ(d.Bound("b"), 0);
  d.api.Reap();
  d.Settle();
  EXPECT_EQ(d.Bound("b"), 1);
}

TEST(LoopFaults, AMemberThatSomebodyElseBoundCounts) {
  LoopDriver d;
  d.Nodes(3, 8);
  d.api.Break({.on = kBindA1, .act = FaultAct::kSteal, .node = "n3"});
  d.Submit({.gang = "a", .pods = 2});
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.Bound("a"), 2);
  EXPECT_EQ(d.NodeOf("a-1"), "n3");
  EXPECT_EQ(d.StatusOf("a").phase, "Running");
  EXPECT_EQ(d.api.Count(kDeletes), 0);
}

TEST(LoopFaults, AMemberThatTheServerDeniesByMistakeIsBoundAfterAll) {
  LoopDriver d;
  d.Nodes(3, 8);
  d.api.Break({.on = kBindA1, .code = 404});
  d.Submit({.gang = "a", .pods = 3});
  d.Settle(absl::Seconds(8));
  EXPECT_EQ(d.Bound("a"), 3);
  EXPECT_EQ(d.StatusOf("a").phase, "Running");
  EXPECT_EQ(d.api.Count(kDeletes), 0);
}

TEST(LoopFaults, AHalfBoundGangSaysWhyItsNextMemberHasNoRoom) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Settle();
  d.Submit({.gang = "a", .pods = 2});
  d.api.Break({.on = kBindA1, .times = -1, .act = FaultAct::kDrop});
  d.Exchange();
  d.Put(MakeNode("n2").Gpu(8).Cordoned());
  d.Restart();
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.Bound("a"), 1);
  EXPECT_EQ(d.StatusOf("a").phase, "Binding");
  EXPECT_EQ(d.StatusOf("a").reason, "NoFit");
  EXPECT_THAT(d.StatusOf("a").message, HasSubstr("1 of 2 pods bound; the next waits: "));
}

// Two of three members are bound, and the bind of the third gets lost, when another process leads.
void ChangeLeaderInMidBinding(LoopDriver& d) {
  d.Nodes(3, 8);
  d.Settle();
  d.Submit({.gang = "a", .pods = 3});
  d.api.Break({.on = kBindA2, .times = -1, .act = FaultAct::kDrop});
  d.Exchange();
  ASSERT_EQ(d.Bound("a"), 2);
  d.Restart();
}

TEST(LoopFaults, ANewLeaderCompletesAPartlyBoundGang) {
  LoopDriver d;
  ChangeLeaderInMidBinding(d);
  d.api.Mend();
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.Bound("a"), 3);
  EXPECT_EQ(d.StatusOf("a").phase, "Running");
  EXPECT_TRUE(d.StatusOf("a").quorum_reached_at.has_value());
}

TEST(LoopFaults, ANewLeaderUndoesWhatCannotBeCompleted) {
  LoopDriver d;
  ChangeLeaderInMidBinding(d);
  d.Settle(absl::Seconds(70));
  EXPECT_EQ(d.Bound("a"), 0);
}

TEST(LoopFaults, ANewLeaderCountsTheTimeoutFromTheBindingNotFromTheWait) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.Settle(absl::Hours(1));  // waits for long
  d.api.Break({.on = kBindA1, .times = -1, .code = 503});
  d.Put(MakeNode("n2").Gpu(8));
  d.Settle(absl::Seconds(30));
  ASSERT_EQ(d.StatusOf("a").phase, "Binding");
  d.Restart();
  d.Settle(absl::Seconds(20));
  EXPECT_EQ(d.Bound("a"), 1) << "fifty seconds are not sixty";
  d.Settle(absl::Seconds(15));
  EXPECT_EQ(d.Bound("a"), 0);
}

TEST(LoopFaults, ARefusedSurplusMemberIsLeftAloneForAWhile) {
  LoopDriver d;
  d.Nodes(3, 8);
  d.api.Break({.on = kBindA2, .times = -1, .code = 403});
  d.Submit({.gang = "a", .pods = 3, .min_member = 2});
  d.Settle(absl::Seconds(150));
  EXPECT_EQ(d.Bound("a"), 2);
  EXPECT_EQ(d.StatusOf("a").phase, "Running");
  EXPECT_EQ(d.api.Count(kDeletes), 0);
  EXPECT_LE(d.api.Count(kBindA2), 3);
  EXPECT_GE(d.api.Count(kBindA2), 2) << "but not for ever";
}

TEST(LoopFaults, AGroupThatTurnsInvalidInMidBindingComesToRest) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.api.Break({.on = kBindA1, .times = 3, .code = 503});
  d.Exchange();
  d.loop().Accept(ObjectInvalid{{ResourceKind::kPodGroup, "default", "a"}, "", "spec: bad"});
  d.Settle(absl::Minutes(30));
  EXPECT_EQ(d.api.Count(kDeletes), 0);
  EXPECT_TRUE(d.loop().Idle());
}

TEST(LoopFaults, AGroupThatVanishesInMidBindingIsTakenBack) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.api.Break({.on = kBindA1, .times = 3, .code = 503});
  d.Exchange();
  d.api.Delete(ResourceKind::kPodGroup, "a");
  d.Settle(absl::Minutes(30));
  EXPECT_EQ(d.Bound("a"), 0);
  EXPECT_TRUE(d.loop().Idle());
}

TEST(LoopFaults, ADrainWithGangsBackingOffDoesNotSpin) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.api.Break({.on = kBindA1, .times = -1, .code = 422});
  d.Submit({.gang = "a", .pods = 2});
  d.Settle();
  d.Submit({.gang = "a", .pods = 1});
  d.Settle();
  d.loop().Drain();
  const int64_t before = d.loop().counters().turns;
  d.Settle(absl::Minutes(10));
  EXPECT_LT(d.loop().counters().turns - before, 20);
}

TEST(LoopFaults, ANewLeaderCarriesOnWithBoundAndWaitingGangs) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Submit({.gang = "a", .pods = 1});
  d.Submit({.gang = "b", .pods = 2});
  d.Settle();
  const int statuses = d.api.Count("/podgroups/");
  d.Restart();
  d.Settle(absl::Seconds(20));
  EXPECT_EQ(d.api.Count("/podgroups/"), statuses) << "nothing changed, so nothing is written";
  d.Nodes(3, 8);
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 1);
  EXPECT_EQ(d.Bound("b"), 2);
}

TEST(LoopFaults, AStatusThatMeetsAConflictIsWrittenAgain) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.api.Break({.on = "/podgroups/a/status", .times = 2, .code = 409});
  d.Submit({.gang = "a", .pods = 1});
  d.Settle(absl::Seconds(2));
  EXPECT_EQ(d.StatusOf("a").phase, "Running");
}

TEST(LoopFaults, AMissingOrStoppedQueueSaysSoAndWakesWhenItIsPutRight) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Submit({.gang = "a", .pods = 1, .queue = "q"});
  d.Settle();
  EXPECT_EQ(d.StatusOf("a").reason, "QueueNotFound");
  Queue queue{.meta = {.name = "q", .uid = "q-1"}, .stop = StopPolicy::kHold};
  d.Put(ObjectUpserted{queue});
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.StatusOf("a").reason, "QueueStopped");
  queue.stop = StopPolicy::kNone;
  queue.namespace_selector =
      LabelSelector{{{.key = "team", .op = SelectorOperator::kIn, .values = {"red"}}}};
  d.Put(ObjectUpserted{queue});
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.StatusOf("a").reason, "NamespaceNotAllowed");
  Namespace space{.meta = {.name = "default"}};
  space.meta.labels.Set("team", "red");
  d.Put(ObjectUpserted{space});
  d.Settle();
  EXPECT_EQ(d.Bound("a"), 1);
}

// The other bind fails until the server is mended.
void BindOneOfTwo(LoopDriver& d) {
  d.Nodes(2, 8);
  d.Submit({.gang = "a", .pods = 2});
  d.api.Break({.on = kBindA1, .times = -1, .code = 503});
  d.Settle();
}

TEST(LoopFaults, LosingTheLeadDropsEverythingInFlight) {
  LoopDriver d;
  BindOneOfTwo(d);
  d.loop().SetRole(SchedulingLoop::Role::kStandby);
  const int requests = d.api.Count("");
  d.Settle(absl::Minutes(5));
  EXPECT_EQ(d.api.Count(""), requests);
  d.api.Mend();
  d.loop().SetRole(SchedulingLoop::Role::kLeader);
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.Bound("a"), 2);
}

TEST(LoopFaults, ALeadThatWasWonAgainBeforeItsLossWasHeardOfBeginsAnew) {
  LoopDriver d;
  BindOneOfTwo(d);
  const auto in_flight = [&d] {
    const auto states = d.loop().MemberStates();
    return std::accumulate(states.begin(), states.end(), 0);
  };
  EXPECT_GT(in_flight(), 0);
  d.loop().Hear({.leading = true, .lost_lead = true, .lead = 2});
  EXPECT_EQ(in_flight(), 0);
  d.api.Mend();
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.Bound("a"), 2);
}

}  // namespace
}  // namespace maniple
