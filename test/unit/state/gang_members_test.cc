// The members of a gang, and those that succeeded and are gone. Fears: a member is not found once
// its rank has changed; a change of one field goes unseen, or a repeated event counts as a change;
// a success counts for ever, twice, or for the next run; what a status tells is counted twice.
#include "scheduler/state/gang_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "queue/assembly.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::state_gang_members_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Member MemberOf(uint32_t pod, int64_t index, MemberState state = MemberState::kPending) {
  Member member{.pod = PodId(pod), .state = state, .name = absl::StrCat("p", pod)};
  member.rank.index = index;
  return member;
}

Gang GangOf(int32_t min_member) {
  Gang gang;
  gang.group_exists = true;
  gang.spec.min_member = min_member;
  return gang;
}

TEST(GangMembers, MembersStandInOrderAndAreFoundByAnyRank) {
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<Member> members;
    for (uint32_t pod = 0; pod < 10; ++pod) {
      Member member = MemberOf(pod, static_cast<int64_t>(random.Below(3)) - 1);
      member.rank.sub_group = static_cast<int32_t>(random.Below(2));
      member.name = absl::StrCat("p", random.Below(100));
      AddInOrder(members, member);
    }
    ASSERT_TRUE(std::ranges::is_sorted(members, InOrder));
    for (auto at = members.begin(); at != members.end(); ++at) {
      const Rank other{.sub_group = static_cast<int32_t>(random.Below(3))};
      EXPECT_EQ(FindMember(members, at->pod), at);
      EXPECT_EQ(FindMember(members, at->pod, at->rank, at->name), at);
      EXPECT_EQ(FindMember(members, at->pod, other, at->name), at) << "its rank has changed";
    }
    EXPECT_EQ(FindMember(members, PodId(10)), members.end());
    EXPECT_EQ(FindMember(members, PodId(10), members[0].rank, members[0].name), members.end());
  }
}

TEST(GangMembers, EachFieldThatChangesIsSeenAndARepetitionIsNone) {
  Member member = MemberOf(0, 0);
  MemberFacts facts;
  Pod pod;
  Rank rank;
  UpdateMember(member, facts, pod, rank);
  const auto changes = [&] {
    const bool first = UpdateMember(member, facts, pod, rank);
    EXPECT_FALSE(UpdateMember(member, facts, pod, rank)) << "nothing has changed since";
    return first;
  };
  EXPECT_FALSE(changes());
  EXPECT_TRUE((facts.shape = ShapeId(1), changes()));
  EXPECT_TRUE((facts.node = NodeId(1), changes()));
  EXPECT_TRUE((facts.state = MemberState::kBound, changes()));
  EXPECT_TRUE((facts.started_elsewhere = true, changes()));
  EXPECT_TRUE((pod.preempts = false, changes()));
  EXPECT_TRUE((pod.phase = PodPhase::kRunning, changes()));
  EXPECT_TRUE((pod.ready = true, changes()));
  EXPECT_TRUE((pod.priority = 7, changes()));
  EXPECT_TRUE((pod.active_deadline = absl::Seconds(1), changes()));
  EXPECT_TRUE((pod.meta.created = absl::FromUnixSeconds(5), changes()));
  EXPECT_TRUE((rank.index = 3, changes()));
  EXPECT_FALSE((pod.ready = false, changes())) << "it was ready, and a probe may fail";
  EXPECT_TRUE(member.was_ready);
}

TEST(GangMembers, AReasonIsKnownWhileItHolds) {
  Member member = MemberOf(0, 0);
  Pod pod;
  pod.status_reason = "OutOfcpu";
  pod.nominated_node_name = "n1";
  EXPECT_TRUE(UpdateMember(member, {}, pod, {}));
  EXPECT_EQ(member.status_reason + member.waiting_reason, "");
  EXPECT_FALSE(member.nominated);
  pod.phase = PodPhase::kFailed;
  pod.scheduled_condition.emplace().status = "False";
  pod.scheduled_condition->reason = "Unschedulable";
  EXPECT_TRUE(UpdateMember(member, {}, pod, {}));
  EXPECT_EQ(member.status_reason, "OutOfcpu");
  EXPECT_EQ(member.waiting_reason, "Unschedulable");
  EXPECT_TRUE(member.nominated);
  pod.scheduled_condition->status = "True";
  EXPECT_TRUE(UpdateMember(member, {}, pod, {}));
  EXPECT_EQ(member.waiting_reason, "");
  EXPECT_FALSE(member.nominated);
}

TEST(GangMembers, AStateIsLiveOrHasEndedOrIsOnItsWayOut) {
  for (uint8_t i = 0; i <= static_cast<uint8_t>(MemberState::kFailed); ++i) {
    const Member member = MemberOf(0, 0, static_cast<MemberState>(i));
    const bool leaves = member.state == MemberState::kTerminating;
    EXPECT_EQ(IsLive(member) + HasEnded(member.state) + leaves, 1);
    EXPECT_EQ(StandsSomewhere(member), leaves || member.state == MemberState::kBound);
  }
}

TEST(GangMembers, ASuccessCountsUntilAnotherMemberOfItsIndexJoins) {
  Gang gang = GangOf(4);
  gang.members.push_back(MemberOf(9, 9));
  const Rank none, zero{.index = 0}, one{.index = 1}, of_job{.job = "j", .index = 0};
  for (const Rank& rank : {one, none, of_job, zero, none}) RememberCleaned(gang, rank);
  EXPECT_THAT(gang.cleaned.ranks, ElementsAre(none, none, zero, one, of_job));
  ForgetCleaned(gang, none);
  EXPECT_EQ(gang.cleaned.count(), 5) << "whom it replaces is not known";
  ForgetCleaned(gang, zero);
  EXPECT_THAT(gang.cleaned.ranks, ElementsAre(none, none, one, of_job));
}

TEST(GangMembers, WhereAllHadSucceededTheNextMemberBeginsANewRun) {
  for (const MemberState state :
       {MemberState::kPending, MemberState::kSucceeded, MemberState::kFailed}) {
    Gang gang = GangOf(3);
    gang.members.push_back(MemberOf(2, 2, state));
    gang.cleaned = {.ranks = {{.index = 0}}, .unranked = 1};
    ForgetCleaned(gang, {.index = 5});
    EXPECT_EQ(gang.cleaned.empty(), state == MemberState::kSucceeded);
  }
}

TEST(GangMembers, NobodyIsRememberedWithoutAGroupThatCounts) {
  Gang gang = GangOf(2);
  gang.group_exists = false;
  RememberCleaned(gang, {.index = 0});
  gang.group_exists = true;
  gang.key.dialect = GangDialect::kSingleton;
  RememberCleaned(gang, {.index = 0});
  EXPECT_TRUE(gang.cleaned.empty());
}

TEST(GangMembers, AsManyAreRememberedAsAQuorumNeedsAndAThousandBesides) {
  for (const int32_t min_member : {1, 1000, 1003}) {
    Gang gang = GangOf(min_member);
    for (int i = 0; i < 1100; ++i) RememberCleaned(gang, {.index = i});
    EXPECT_EQ(gang.cleaned.count(), std::max(min_member, 1000));
  }
}

TEST(GangMembers, OfWhatTheStatusTellsEachIsRecalledOnce) {
  for (int32_t told = 0; told < 5; ++told) {
    for (int32_t known = 0; known < 5; ++known) {
      Gang gang = GangOf(3);
      gang.status.members.succeeded = told;
      if (known > 0) gang.cleaned.ranks = {{.index = 9}};
      for (int32_t i = 1; i < known; ++i) {
        gang.members.push_back(MemberOf(static_cast<uint32_t>(i), i, MemberState::kSucceeded));
      }
      EXPECT_EQ(RecallCleaned(gang), told > known);
      EXPECT_EQ(gang.cleaned.unranked, std::max(0, told - known));
      EXPECT_FALSE(RecallCleaned(gang)) << "they are known now";
    }
  }
}

// The fear: the status of one's own leader comes before the pod that it tells of.
TEST(GangMembers, WhoIsSeenAfterItWasToldOfCountsOnce) {
  Gang gang = GangOf(3);
  gang.status.members.succeeded = 2;
  EXPECT_TRUE(RecallCleaned(gang));
  EXPECT_EQ(gang.cleaned.unranked, 2);
  gang.members.push_back(MemberOf(0, 0, MemberState::kSucceeded));
  EXPECT_TRUE(RecallCleaned(gang));
  EXPECT_EQ(gang.cleaned.unranked, 1);
  EXPECT_FALSE(RecallCleaned(gang));
}

TEST(GangMembers, SuccessesOfARunThatIsOverAreNotRecalledForTheNext) {
  Gang gang = GangOf(2);
  gang.status.phase = "Completed";
  gang.status.members.succeeded = 2;
  gang.members.push_back(MemberOf(0, 0, MemberState::kGated));
  EXPECT_FALSE(RecallCleaned(gang));
  gang.members[0].state = MemberState::kFailed;
  EXPECT_TRUE(RecallCleaned(gang));
  EXPECT_EQ(gang.cleaned.unranked, 2);
}

// A pod that is told to stop may still end well, beside the one that has taken its place.
TEST(GangMembers, ASuccessWhosePlaceIsTakenDoesNotCountBesideItsSuccessor) {
  TestCluster cluster;
  cluster.Add(MakeNode("n1"));
  cluster.Add(MakePodGroup("g").MinMember(3));
  cluster.Add(MakePod("old").Group("g").Index(0).On("n1"));
  cluster.Add(MakePod("new").Group("g").Index(0));
  cluster.Add(MakePod("old").Group("g").Index(0).On("n1").Phase(PodPhase::kSucceeded));
  cluster.Add(DeletionOf(ResourceKind::kPod, "old"));
  EXPECT_EQ(cluster.GangOf("g").cleaned.count(), 0);
}

// Sub-groups are listed by name: another order, or one more, makes no success another's.
TEST(GangMembers, ASuccessStaysInItsSubGroupWhereverThatStandsInTheSpec) {
  TestCluster cluster;
  cluster.Add(MakeNode("n1"));
  cluster.Add(MakePodGroup("g").MinMember(3).SubGroup("a", 1).SubGroup("b", 1));
  cluster.Add(MakePod("a-0").Group("g").SubGroup("a").On("n1").Phase(PodPhase::kSucceeded));
  cluster.Add(MakePod("x-0").Group("g").On("n1").Phase(PodPhase::kSucceeded));
  cluster.Add(MakePod("b-0").Group("g").SubGroup("b").On("n1"));
  for (const char* name : {"a-0", "x-0"}) cluster.Add(DeletionOf(ResourceKind::kPod, name));
  EXPECT_THAT(CleanedBySubGroup(cluster.GangOf("g")), ElementsAre(1, 0));
  cluster.Add(MakePodGroup("g").MinMember(3).SubGroup("b", 1).SubGroup("a", 1));
  EXPECT_THAT(CleanedBySubGroup(cluster.GangOf("g")), ElementsAre(0, 1));
  cluster.Add(MakePodGroup("g").MinMember(3).SubGroup("b", 1).SubGroup("a", 1).SubGroup("c", 1));
  EXPECT_THAT(CleanedBySubGroup(cluster.GangOf("g")), ElementsAre(0, 1, 0)) << "x-0 was of none";
}

}  // namespace
}  // namespace maniple::state_gang_members_test
