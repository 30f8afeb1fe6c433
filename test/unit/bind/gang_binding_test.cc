#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/unit/bind/fixture.h"

namespace maniple {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using enum BindState;

auto IsAt(NodeId node) {
  return AllOf(Field(&Vacancy::node, node), Field(&Vacancy::shape, ShapeId(0)));
}

TEST(GangBinding, BindsTheWholePlanAtOnceAndEndsWithItsQuorum) {
  Fixture f(3);
  EXPECT_THAT(f.Start({0, 1, 2}), ElementsAre("bind 0 to 0", "bind 1 to 1", "bind 2 to 2"));
  for (const uint32_t pod : {0, 1, 2}) {
    EXPECT_THAT(f.Reply(pod, BindReplyKind::kBound), IsEmpty());
  }
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
  EXPECT_FALSE(f.binding.done()) << "the watch does not show it yet";
  for (uint32_t pod = 0; pod < 3; ++pod) f.Show(pod, MemberState::kBound);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, TheWatchAloneIsEnoughAndALateReplyIsIgnored) {
  Fixture f(1);
  f.Start({0});
  f.Show(0, MemberState::kBound);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
  EXPECT_THAT(f.Reply(0, BindReplyKind::kUnclear), IsEmpty());
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, ALostReplyIsLookedUpBeforeAnythingElse) {
  Fixture f(1);
  f.Start({0});
  EXPECT_THAT(f.Reply(0, BindReplyKind::kUnclear), IsEmpty()) << "it may still be under way";
  f.now = f.binding.NextDeadline();
  EXPECT_LT(f.now, kStart + absl::Seconds(1));
  EXPECT_THAT(f.Settle(), ElementsAre("read 0"));
  EXPECT_THAT(f.Read(0, PodReadingKind::kBound, 0), IsEmpty());
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
}

TEST(GangBinding, ABindingThatTheServerHasForgottenIsNoticedAndPlannedAfresh) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Reply(1, BindReplyKind::kBound);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
  f.Show(1, MemberState::kBound);
  EXPECT_THAT(f.Settle(), IsEmpty());
  f.now = f.binding.NextDeadline();
  EXPECT_THAT(f.Settle(), ElementsAre("read 0"));
  EXPECT_EQ(f.binding.phase(), BindPhase::kBound) << "nothing is known against it yet";
  EXPECT_THAT(f.Read(0, PodReadingKind::kUnbound), ElementsAre("release 0"));
  EXPECT_THAT(f.Settle(), ElementsAre("quorum lost"));
  EXPECT_TRUE(f.binding.MayPlan(PodId(0)));
  EXPECT_TRUE(f.binding.wants_repair());
}

TEST(GangBinding, ASlowWatchCostsAReadingNowAndThenAndNothingElse) {
  Fixture f(1);
  f.Start({0});
  f.Reply(0, BindReplyKind::kBound);
  f.Settle();
  for (int i = 0; i < 3; ++i) {
    f.now = f.binding.NextDeadline();
    EXPECT_THAT(f.Settle(), ElementsAre("read 0"));
    EXPECT_THAT(f.Read(0, PodReadingKind::kBound, 0), IsEmpty());
  }
  f.Show(0, MemberState::kBound);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, ADeletionThatTheServerHasForgottenIsAskedForAgain) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Reply(1, BindReplyKind::kRefused);
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
  f.Deleted(0);
  f.Show(0, MemberState::kBound);
  EXPECT_THAT(f.Settle(), IsEmpty());
  f.now = f.binding.NextDeadline();
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
  f.Deleted(0);
  f.ShowGone(0);
  EXPECT_THAT(f.Settle(), ElementsAre("undone: refused, 1"));
}

TEST(GangBinding, AReadingThatSaysUnboundBindsAgainLater) {
  Fixture f(1);
  f.Start({0});
  f.Lose(0);
  f.Read(0, PodReadingKind::kUnbound);
  EXPECT_THAT(f.Settle(), IsEmpty());
  f.now = f.binding.NextDeadline();
  EXPECT_LT(f.now, kStart + absl::Seconds(1));
  EXPECT_THAT(f.Settle(), ElementsAre("bind 0 to 0"));
}

TEST(GangBinding, AMemberThatIsGoneOnlyByItsReplyIsPlannedAfresh) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Show(0, MemberState::kBound);
  EXPECT_THAT(f.Reply(1, BindReplyKind::kGone), ElementsAre("release 1"));
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_FALSE(f.binding.MayPlan(PodId(1))) << "the watch may be behind";
  EXPECT_THAT(f.binding.vacancies(), ElementsAre(IsAt(NodeId(1))));
  f.now = f.binding.NextDeadline();
  EXPECT_LE(f.now, kStart + absl::Seconds(5));
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.MayPlan(PodId(1))) << "the watch shows it still";
  EXPECT_TRUE(f.binding.wants_repair());
  EXPECT_THAT(f.Start({1}), ElementsAre("bind 1 to 1"));
}

TEST(GangBinding, AnUndoDoesNotWaitForAMemberThatIsGoneOnlyByItsReply) {
  Fixture f(3);
  f.Start({0, 1, 2});
  f.Reply(0, BindReplyKind::kGone);
  f.Reply(1, BindReplyKind::kRefused);
  f.Reply(2, BindReplyKind::kRefused);
  EXPECT_THAT(f.Settle(), ElementsAre("undone: refused, 0"));
}

TEST(GangBinding, ABindThatMayLandOnTheNextNodeOfThatNameKeepsItsRoom) {
  Fixture f(2);
  f.Start({0, 1});
  f.Lose(0);
  f.Read(0, PodReadingKind::kUnbound);
  f.lost_nodes.insert(0);
  EXPECT_THAT(f.Settle(), IsEmpty()) << "not released";
  EXPECT_EQ(f.State(0), kReading);
  f.now = kStart + absl::Seconds(16);
  EXPECT_THAT(f.Settle(), ElementsAre("read 0"));
  f.Read(0, PodReadingKind::kUnbound);
  EXPECT_THAT(f.Settle(), ElementsAre("release 0"));
  EXPECT_TRUE(f.binding.MayPlan(PodId(0)));
}

TEST(GangBinding, ASucceededMemberCountsButNothingIsRepairedAroundIt) {
  Fixture f(3);
  f.Start({0, 1, 2});
  for (uint32_t pod = 0; pod < 3; ++pod) f.Show(pod, MemberState::kBound);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
  f.Show(0, MemberState::kSucceeded);
  f.ShowGone(1);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum lost"));
  EXPECT_EQ(f.binding.PlacedOn(PodId(0)), std::nullopt) << "it holds nobody to its domain";
  EXPECT_EQ(f.binding.NeedOf(f.gang).total, 1);
  f.ShowGone(2);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_EQ(f.binding.phase(), BindPhase::kEnded) << "the gang waits for its quorum afresh";
}

TEST(GangBinding, AMemberThatLeavesMayLeaveANodeToWhichAnErrorHidThatItWasBound) {
  Fixture f(2);
  f.Start({0, 1});
  f.Do([&](BindStep& step) {
    f.binding.OnBindReply(PodId(0), {.kind = BindReplyKind::kRetry, .in_doubt = true}, {}, step);
  });
  f.now = f.binding.NextDeadline();
  EXPECT_THAT(f.Settle(), ElementsAre("bind 0 to 0"));
  EXPECT_THAT(f.Reply(0, BindReplyKind::kGone), ElementsAre("read 0")) << "not released";
  EXPECT_THAT(f.Read(0, PodReadingKind::kGone), ElementsAre("release 0"));
}

TEST(GangBinding, RetriesWaitLongerEachTimeAndHonourRetryAfter) {
  Fixture f(1);
  f.Start({0});
  f.Reply(0, BindReplyKind::kRetry);
  const absl::Duration first = f.binding.NextDeadline() - f.now;
  f.now = f.binding.NextDeadline();
  f.Settle();
  f.Do([&](BindStep& step) {
    f.binding.OnBindReply(
        PodId(0), {.kind = BindReplyKind::kRetry, .retry_after = absl::Seconds(9)}, {}, step);
  });
  EXPECT_GE(first, absl::Milliseconds(100));
  EXPECT_EQ(f.binding.NextDeadline() - f.now, absl::Seconds(9));
}

TEST(GangBinding, AMemberBoundElsewhereCountsUnlessItBreaksTheRequiredDomain) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  EXPECT_THAT(f.Reply(1, BindReplyKind::kBoundElsewhere, 7), ElementsAre("release 1"));
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));

  Fixture g(2);
  g.Start({0, 1});
  g.Reply(0, BindReplyKind::kBound);
  g.Reply(1, BindReplyKind::kBoundElsewhere, 95);
  EXPECT_THAT(g.Settle(), ElementsAre("delete 0", "delete 1"));
}

TEST(GangBinding, AMemberDoesNotFollowTheIdOfItsLostNodeToTheNextNode) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.binding.ForgetNodes({NodeId(0)});
  EXPECT_EQ(f.binding.PlacedOn(PodId(0)), std::nullopt);
  EXPECT_EQ(f.binding.StateOf(PodId(0)), kBound) << "whether it is lost the watch will tell";
  EXPECT_EQ(f.binding.PlacedOn(PodId(1)), NodeId(1));
  f.Reply(1, BindReplyKind::kBound);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
}

TEST(GangBinding, ARefusedMemberUndoesTheGangAtOnce) {
  Fixture f(3);
  f.Start({0, 1, 2});
  f.Reply(0, BindReplyKind::kBound);
  EXPECT_THAT(f.Reply(1, BindReplyKind::kRefused), ElementsAre("release 1", "refused 1"));
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
  EXPECT_EQ(f.binding.phase(), BindPhase::kUndoing);
  EXPECT_THAT(f.Settle(), IsEmpty());
  f.Reply(2, BindReplyKind::kBound);  // was under way
  EXPECT_THAT(f.Settle(), ElementsAre("delete 2"));
  f.Deleted(0);
  f.Deleted(2);
  EXPECT_THAT(f.Settle(), IsEmpty()) << "the watch still shows them";
  f.ShowGone(2);
  f.Show(0, MemberState::kTerminating);
  EXPECT_THAT(f.Settle(), ElementsAre("undone: refused, 2"));
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, ARefusedMemberIsReplacedByASpareOne) {
  Fixture f(3, 2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Reply(1, BindReplyKind::kRefused);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.wants_repair());
  EXPECT_FALSE(f.binding.MayPlan(PodId(1)));
  EXPECT_TRUE(f.binding.MayPlan(PodId(2)));
  EXPECT_THAT(f.binding.vacancies(), ElementsAre(IsAt(NodeId(1))));
  EXPECT_THAT(f.Start({2}), ElementsAre("bind 2 to 2"));
  f.Reply(2, BindReplyKind::kBound);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
  EXPECT_THAT(f.binding.vacancies(), IsEmpty());
}

TEST(GangBinding, ARefusalDoesNotReleaseTheRoomOfAnEarlierBindThatMayLand) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Show(0, MemberState::kBound);
  f.Lose(1);
  f.Read(1, PodReadingKind::kUnbound);
  f.now = f.binding.NextDeadline();
  EXPECT_THAT(f.Settle(), ElementsAre("bind 1 to 1"));
  EXPECT_THAT(f.Reply(1, BindReplyKind::kRefused), IsEmpty());
  EXPECT_EQ(f.State(1), kReading);
  f.now = kStart + absl::Seconds(16);
  EXPECT_THAT(f.Settle(), ElementsAre("read 1"));
  f.Read(1, PodReadingKind::kUnbound);
  f.now = f.binding.NextDeadline();
  EXPECT_THAT(f.Settle(), ElementsAre("bind 1 to 1"));
  EXPECT_THAT(f.Reply(1, BindReplyKind::kRefused), ElementsAre("release 1", "refused 1"));
}

TEST(GangBinding, AnErrorOfTheServerMayHideABindingThatTookEffect) {
  Fixture f(2);
  f.Start({0, 1});
  f.Do([&](BindStep& step) {
    f.binding.OnBindReply(PodId(0), {.kind = BindReplyKind::kRetry, .in_doubt = true}, {}, step);
  });
  EXPECT_THAT(f.Reply(1, BindReplyKind::kRefused), ElementsAre("release 1", "refused 1"));
  EXPECT_THAT(f.Settle(), ElementsAre("read 0")) << "undone, but not released";
  f.Read(0, PodReadingKind::kBound, 0);
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
}

TEST(GangBinding, IsUndoneAtTheTimeoutAfterTheFirstBind) {
  Fixture f(2);
  f.Start({0, 1});
  f.now = kStart + absl::Seconds(10);
  f.Reply(0, BindReplyKind::kBound);
  f.Show(0, MemberState::kBound);
  f.Reply(1, BindReplyKind::kGone);
  f.ShowGone(1);
  f.Settle();
  EXPECT_EQ(f.binding.NextDeadline(), kStart + absl::Seconds(70));
  f.now = kStart + absl::Seconds(69);
  EXPECT_THAT(f.Settle(), IsEmpty());
  f.now = kStart + absl::Seconds(70);
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
}

TEST(GangBinding, UndoReadsAnUnknownOutcomeBeforeItEnds) {
  Fixture f(2);
  f.Start({0, 1});
  f.Lose(0);
  f.Reply(1, BindReplyKind::kRefused);
  EXPECT_THAT(f.Settle(), IsEmpty());
  f.Read(0, PodReadingKind::kBound, 0);
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
}

TEST(GangBinding, UndoKeepsTheRoomOfABindThatMayStillTakeEffect) {
  Fixture f(2);
  f.Start({0, 1});
  f.Lose(0);
  f.Read(0, PodReadingKind::kUnbound);
  f.Reply(1, BindReplyKind::kRefused);
  const absl::Time undone = f.now;
  std::vector<std::string> actions = f.Settle();
  while (f.binding.phase() != BindPhase::kEnded) {
    ASSERT_LT(f.now, undone + absl::Minutes(1));
    EXPECT_THAT(actions, ::testing::AnyOf(IsEmpty(), ElementsAre("read 0")));
    if (!actions.empty()) f.Read(0, PodReadingKind::kUnbound);
    f.now = std::max(f.now, std::min(f.binding.NextDeadline(), f.now + absl::Seconds(2)));
    actions = f.Settle();
  }
  EXPECT_THAT(actions, ElementsAre("release 0", "undone: refused, 0"));
  EXPECT_GE(f.now, undone + absl::Seconds(15));
}

TEST(GangBinding, UndoTriesADeleteAgainUntilItSucceeds) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Reply(1, BindReplyKind::kRefused);
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
  f.Deleted(0, DeleteReplyKind::kRetry);
  f.now = f.binding.NextDeadline();
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
}

TEST(GangBinding, AnUndoSendsNoBindAndDeletesALateComer) {
  Fixture f(3);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kRetry);
  f.Reply(1, BindReplyKind::kRefused);
  EXPECT_THAT(f.Settle(), ElementsAre("release 0", "undone: refused, 0"));

  Fixture g(3);
  g.Start({0, 1, 2});
  g.Reply(1, BindReplyKind::kRefused);
  g.Settle();
  g.Show(2, MemberState::kBound);
  EXPECT_THAT(g.Settle(), ElementsAre("delete 2"));
}

TEST(GangBinding, WithNoBoundMemberLeftThereIsNothingToRepair) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kGone);
  f.Reply(1, BindReplyKind::kGone);
  f.ShowGone(0);
  f.ShowGone(1);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_EQ(f.binding.phase(), BindPhase::kEnded);
}

TEST(GangBinding, AKubeletRejectionLeavesAVacancyAndCoolsItsNode) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Show(0, MemberState::kBound);
  f.Show(1, MemberState::kFailed, 1, "OutOfnvidia.com/gpu");
  EXPECT_THAT(f.Settle(), ElementsAre("release 1", "cool 1"));
  EXPECT_THAT(f.Settle(), IsEmpty()) << "cooled once";
  EXPECT_THAT(f.binding.vacancies(),
              ElementsAre(AllOf(IsAt(NodeId(1)), Field(&Vacancy::unfit, true))));
  EXPECT_FALSE(f.binding.wants_repair());
  f.AddPod();
  f.Settle();
  EXPECT_TRUE(f.binding.wants_repair());
}

TEST(GangBinding, ALostSurplusMemberLeavesNoVacancy) {
  Fixture f(3, 2, BindPhase::kBound);
  for (uint32_t pod = 0; pod < 3; ++pod) f.Show(pod, MemberState::kBound);
  f.Settle();
  f.Show(2, MemberState::kFailed);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_THAT(f.binding.vacancies(), IsEmpty());
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, ALostQuorumIsEvictedAfterItsGracePeriod) {
  Fixture f(2, 2, BindPhase::kBound);
  f.binding.Remember({.pod = PodId(0), .node = NodeId(0), .shape = ShapeId(0)});
  f.binding.Remember({.pod = PodId(1), .node = NodeId(1), .shape = ShapeId(0)});
  f.Show(0, MemberState::kBound);
  f.ShowGone(1);
  f.now = kStart + absl::Seconds(5);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum lost"));
  EXPECT_THAT(f.binding.vacancies(), ElementsAre(IsAt(NodeId(1))));
  EXPECT_EQ(f.binding.NextDeadline(), kStart + absl::Seconds(305));
  f.now = kStart + absl::Seconds(305);
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
  f.Deleted(0);
  f.ShowGone(0);
  EXPECT_THAT(f.Settle(), ElementsAre("undone: quorum lost, 1"));
}

// The fear: a job that is scaled up where there is no room loses what runs of it.
TEST(GangBinding, WhoRaisesTheQuorumLosesNobody) {
  Fixture f(4, 3, BindPhase::kBound);
  f.binding.KnowGrowth({.total = 1});
  f.Show(0, MemberState::kBound);
  f.Show(1, MemberState::kBound);
  f.Settle();
  EXPECT_EQ(f.binding.phase(), BindPhase::kGrowing);
  EXPECT_TRUE(f.binding.wants_repair());
  f.now += absl::Hours(1);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_THAT(f.binding.vacancies(), IsEmpty());
  f.Show(1, MemberState::kFailed);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum lost"));
  EXPECT_EQ(f.binding.NextDeadline(), f.now + absl::Minutes(5));
  f.Show(2, MemberState::kBound);
  f.Settle();
  EXPECT_EQ(f.binding.phase(), BindPhase::kGrowing);
  f.Show(3, MemberState::kBound);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
}

TEST(GangBinding, AKeptGangTriesARefusedReplacementAgain) {
  Fixture f(2, 0, BindPhase::kBound);
  f.gang.spec.quorum_loss_action = QuorumLossAction::kKeep;
  f.Show(0, MemberState::kBound);
  f.Settle();
  f.now += absl::Hours(1);
  f.Settle();
  ASSERT_EQ(f.binding.phase(), BindPhase::kKept);
  f.Start({1});
  f.Reply(1, BindReplyKind::kRefused);
  f.Settle();
  EXPECT_FALSE(f.binding.wants_repair());
  f.now = f.binding.NextDeadline();
  f.Settle();
  EXPECT_TRUE(f.binding.wants_repair());
  EXPECT_TRUE(f.binding.MayPlan(PodId(1)));
}

TEST(GangBinding, ALostQuorumIsKeptWhenTheGangSaysSo) {
  Fixture f(2, 2, BindPhase::kRepairing);
  f.gang.spec.quorum_loss_action = QuorumLossAction::kKeep;
  f.Show(0, MemberState::kBound);
  f.Show(1, MemberState::kFailed);
  f.now = kStart + absl::Seconds(300);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_EQ(f.binding.phase(), BindPhase::kKept);
  EXPECT_THAT(f.binding.vacancies(), IsEmpty());
  f.AddPod();
  f.Settle();
  EXPECT_TRUE(f.binding.wants_repair()) << "a replacement is still welcome";
}

TEST(GangBinding, ASucceededMemberLosesNothing) {
  Fixture f(2, 2, BindPhase::kBound);
  f.Show(0, MemberState::kBound);
  f.Show(1, MemberState::kSucceeded);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, ResumesAPartlyBoundGangFromItsOldestBind) {
  Fixture f(2);
  f.now = kStart + absl::Seconds(30);
  f.Show(0, MemberState::kBound);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.wants_repair());
  EXPECT_EQ(f.binding.deadline(), kStart + absl::Seconds(60));
}

TEST(GangBinding, ARetryToANodeThatIsGoneGivesTheMemberBackForPlanning) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Reply(1, BindReplyKind::kRetry);
  f.lost_nodes.insert(1);
  f.now = f.binding.NextDeadline();
  EXPECT_THAT(f.Settle(), ElementsAre("release 1"));
  EXPECT_TRUE(f.binding.MayPlan(PodId(1)));
  EXPECT_TRUE(f.binding.wants_repair());
}

TEST(GangBinding, LoweringTheQuorumCompletesIt) {
  Fixture f(2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.Settle();
  f.gang.spec.min_member = 1;
  EXPECT_THAT(f.Settle(), ElementsAre("quorum bound"));
}

// The fear: half a gang stays bound for ever, because its declaration makes no sense any more.
TEST(GangBinding, WithAPodGroupThatCannotBeReadTheLastQuorumHolds) {
  Fixture f(3, 2);
  f.Start({0, 1});
  f.Reply(0, BindReplyKind::kBound);
  f.gang.problem = "spec.minMember: not a number";
  f.Reply(1, BindReplyKind::kRefused);  // member 2 does not replace it
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
  EXPECT_EQ(f.binding.phase(), BindPhase::kUndoing);
}

TEST(GangBinding, WhoDeletesThePodGroupInMidBurstTakesTheWholeGangBack) {
  Fixture f(3);
  f.Start({0, 1, 2});
  f.Reply(0, BindReplyKind::kBound);
  f.Reply(1, BindReplyKind::kRetry);
  f.gang.group_exists = false;
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0", "release 1"));
  EXPECT_THAT(f.Reply(2, BindReplyKind::kBound), IsEmpty());
  EXPECT_THAT(f.Settle(), ElementsAre("delete 2")) << "what was on its way is taken back, too";
  for (const uint32_t pod : {0, 2}) {
    f.Deleted(pod);
    f.ShowGone(pod);
  }
  EXPECT_THAT(f.Settle(), ElementsAre("undone: group gone, 2"));
}

TEST(GangBinding, WhatRunsStaysWhenThePodGroupIsDeleted) {
  Fixture f(2, 2, BindPhase::kRepairing);
  f.Show(0, MemberState::kBound);
  f.gang.group_exists = false;
  f.now = kStart + absl::Hours(1);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_EQ(f.binding.phase(), BindPhase::kEnded);
}

TEST(GangBinding, NoReplacementIsBoundAnyMoreOnceThePodGroupIsDeleted) {
  Fixture f(3, 3, BindPhase::kRepairing);
  f.Show(0, MemberState::kBound);
  f.Start({1, 2});
  f.Reply(1, BindReplyKind::kRetry);
  f.gang.group_exists = false;
  EXPECT_THAT(f.Settle(), ElementsAre("release 1"));
  EXPECT_FALSE(f.binding.done()) << "the other one may still land";
  f.Reply(2, BindReplyKind::kBound);
  f.Show(2, MemberState::kBound);
  f.now += absl::Minutes(1);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, OfAGangThatLeavesWhatIsUnderWayComesToRest) {
  Fixture f(3, 1, BindPhase::kBound);
  f.Show(0, MemberState::kBound);
  f.Start({1, 2});
  f.Reply(1, BindReplyKind::kRetry);
  EXPECT_THAT(f.Do([&](BindStep& step) { f.binding.Leave(step); }), ElementsAre("release 1"));
  EXPECT_FALSE(f.binding.done()) << "the other one may still land";
  EXPECT_FALSE(f.binding.MayPlan(PodId(1)));
  f.Reply(2, BindReplyKind::kBound);
  f.Show(2, MemberState::kBound);
  f.now += absl::Minutes(1);
  EXPECT_THAT(f.Settle(), IsEmpty()) << "nothing is bound or undone any more";
  EXPECT_TRUE(f.binding.done());
}

TEST(GangBinding, AGangStandsUnlessItsFirstBurstIsUnderWayOrTheWatchIsBehind) {
  Fixture f(2);
  f.Start({0, 1});
  EXPECT_FALSE(f.binding.Stands());
  for (const uint32_t pod : {0, 1}) f.Reply(pod, BindReplyKind::kBound);
  f.Settle();
  EXPECT_FALSE(f.binding.Stands()) << "the watch does not show it yet";
  for (const uint32_t pod : {0, 1}) f.Show(pod, MemberState::kBound);
  f.Settle();
  EXPECT_TRUE(f.binding.Stands());
  f.ShowGone(1);
  f.Settle();
  ASSERT_EQ(f.binding.phase(), BindPhase::kRepairing);
  EXPECT_TRUE(f.binding.Stands());
}

TEST(GangBinding, AReplyForAnUnknownPodIsIgnored) {
  Fixture f(1);
  f.Start({0});
  EXPECT_THAT(f.Reply(77, BindReplyKind::kBound), IsEmpty());
  EXPECT_THAT(f.Read(0, PodReadingKind::kGone), IsEmpty());
  EXPECT_THAT(f.Deleted(0), IsEmpty());
  EXPECT_EQ(f.State(0), kInFlight);
}

}  // namespace
}  // namespace maniple
