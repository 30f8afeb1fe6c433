#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "queue/assembly.h"

namespace maniple::queue_assembly_test {
namespace {

using ::testing::ElementsAre;

Gang GangOf(int32_t min_member, std::vector<MemberState> states) {
  Gang gang;
  gang.group_exists = true;
  gang.spec.min_member = min_member;
  for (const MemberState state : states) {
    Member member;
    member.state = state;
    gang.members.push_back(member);
  }
  return gang;
}

constexpr MemberState kPending = MemberState::kPending;
constexpr MemberState kBound = MemberState::kBound;
constexpr MemberState kGated = MemberState::kGated;
constexpr MemberState kSucceeded = MemberState::kSucceeded;
constexpr MemberState kFailed = MemberState::kFailed;
constexpr MemberState kTerminating = MemberState::kTerminating;

TEST(Assembly, SaysHowManyOfTheQuorumExist) {
  const Assembly got = Assemble(GangOf(4, {kPending, kPending, kPending}));
  EXPECT_FALSE(got.members_ready);
  EXPECT_EQ(got.lacking, "3 of 4 pods exist");
  EXPECT_EQ(got.counts.pending, 3);
}

TEST(Assembly, OfAProducersGangItSaysSinceWhenNobodyCame) {
  Gang gang = GangOf(3, {kPending, kPending});
  gang.foreign = std::make_shared<const ForeignGang>();
  gang.members[0].created = absl::FromUnixSeconds(1'700'000'060);
  gang.members[1].created = absl::FromUnixSeconds(1'700'000'000);
  EXPECT_EQ(Assemble(gang).lacking, "2 of 3 pods exist, since 2023-11-14 22:14:20 UTC");
}

TEST(Assembly, CountsBoundAndSucceededMembersTowardsTheQuorum) {
  const Assembly got = Assemble(GangOf(4, {kBound, kSucceeded, kPending, kPending}));
  EXPECT_TRUE(got.members_ready);
  EXPECT_EQ(got.need.total, 2);
  EXPECT_EQ(got.live, 3);
  EXPECT_EQ(got.lacking, "");
}

TEST(Assembly, FailedAndTerminatingMembersDoNotCount) {
  const Assembly got = Assemble(GangOf(2, {kFailed, kTerminating, kPending}));
  EXPECT_FALSE(got.members_ready);
  EXPECT_EQ(got.lacking, "1 of 2 pods exist");
  EXPECT_EQ(got.counts.total, 3);
  EXPECT_EQ(got.counts.failed, 1);
}

TEST(Assembly, AGatedMemberIsNamedAsTheCause) {
  const Assembly got = Assemble(GangOf(2, {kPending, kGated}));
  EXPECT_FALSE(got.members_ready);
  EXPECT_TRUE(got.gated);
  EXPECT_EQ(got.lacking, "1 of 2 pods is gated");
}

TEST(Assembly, OfMoreMembersThanTheQuorumNeedsAllAreCounted) {
  EXPECT_EQ(Assemble(GangOf(2, {kPending, kGated, kGated})).lacking,
            "2 of 3 pods are gated, and 2 are needed");
  EXPECT_EQ(Assemble(GangOf(1, {kGated, kGated})).lacking,
            "2 of 2 pods are gated, and 1 is needed");
}

TEST(Assembly, GatesAreNotBlamedWhenPodsAreMissingToo) {
  const Assembly got = Assemble(GangOf(4, {kPending, kGated}));
  EXPECT_FALSE(got.gated);
  EXPECT_EQ(got.lacking, "2 of 4 pods exist, 1 of them gated");
}

TEST(Assembly, EverySubGroupNeedsItsOwnMinimum) {
  Gang gang = GangOf(3, {kPending, kPending, kPending});
  gang.spec.sub_groups = {{.name = "worker", .min_member = 2}, {.name = "leader", .min_member = 1}};
  for (Member& member : gang.members) member.rank.sub_group = 0;
  Assembly got = Assemble(gang);
  EXPECT_FALSE(got.members_ready);
  EXPECT_EQ(got.lacking, "sub-group leader: 0 of 1 pods exist");
  EXPECT_THAT(got.need.sub_groups, ElementsAre(2, 1));

  gang.members[2].rank.sub_group = 1;
  got = Assemble(gang);
  EXPECT_TRUE(got.members_ready);
  EXPECT_EQ(got.need.total, 3);
}

TEST(Assembly, SubGroupsThatAskForMoreThanMinMemberRule) {
  Gang gang = GangOf(1, {kPending, kPending, kPending});
  gang.spec.sub_groups = {{.name = "a", .min_member = 2}, {.name = "b", .min_member = 1}};
  gang.members[2].rank.sub_group = 1;
  EXPECT_EQ(Assemble(gang).need.total, 3);
}

TEST(Assembly, AMemberOfNoSubGroupCountsForTheWholeOnly) {
  Gang gang = GangOf(2, {kPending, kPending});
  gang.spec.sub_groups = {{.name = "a", .min_member = 1}};
  gang.members[1].rank.sub_group = 1;
  EXPECT_TRUE(Assemble(gang).members_ready);
  gang.members[0].rank.sub_group = 1;
  EXPECT_EQ(Assemble(gang).lacking, "sub-group a: 0 of 1 pods exist");
}

TEST(Assembly, IsCompletedWhenAllMembersSucceeded) {
  const Assembly got = Assemble(GangOf(2, {kSucceeded, kSucceeded}));
  EXPECT_TRUE(got.completed);
  EXPECT_FALSE(got.failed);
  EXPECT_TRUE(got.need.Met());
}

TEST(Assembly, HasFailedWhenNobodyIsLeftAndSomeFailed) {
  const Assembly got = Assemble(GangOf(2, {kSucceeded, kFailed}));
  EXPECT_TRUE(got.failed);
  EXPECT_FALSE(got.completed);
}

TEST(Assembly, ANewMemberTakesBackCompletedAndFailed) {
  EXPECT_FALSE(Assemble(GangOf(1, {kSucceeded, kPending})).completed);
  EXPECT_FALSE(Assemble(GangOf(2, {kFailed, kPending})).failed);
  EXPECT_FALSE(Assemble(GangOf(2, {kFailed, kGated})).failed);
}

TEST(Assembly, AnEmptyGroupIsNeitherCompletedNorFailed) {
  const Assembly got = Assemble(GangOf(2, {}));
  EXPECT_FALSE(got.completed);
  EXPECT_FALSE(got.failed);
  EXPECT_EQ(got.lacking, "0 of 2 pods exist");
}

TEST(Assembly, AbsurdMinimaNeitherCrashNorPass) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  EXPECT_FALSE(Assemble(GangOf(kMost, {kPending})).members_ready);
  EXPECT_FALSE(Assemble(GangOf(0, {})).members_ready);
  EXPECT_FALSE(Assemble(GangOf(-5, {})).members_ready);
  Gang gang = GangOf(1, {kPending});
  gang.spec.sub_groups = {{.name = "a", .min_member = kMost}, {.name = "b", .min_member = kMost}};
  EXPECT_EQ(Assemble(gang).need.total, kMost);
}

TEST(RankOf, OrdersSubGroupThenJobThenIndex) {
  PodGroupSpec spec;
  spec.sub_groups = {{.name = "leader"}, {.name = "worker"}};
  const auto rank = [&spec](absl::string_view sub_group,
                            std::vector<std::pair<std::string, std::string>> labels) {
    return RankOf(StringMap(std::move(labels)), sub_group, spec);
  };
  const std::string kIndex = "batch.kubernetes.io/job-completion-index";
  const std::string kJob = "jobset.sigs.k8s.io/job-index";
  const std::vector<Rank> sorted = {
      rank("leader", {{kIndex, "7"}}),
      rank("worker", {{kJob, "2"}, {kIndex, "9"}}),
      rank("worker", {{kJob, "10"}, {kIndex, "2"}}),
      rank("worker", {{kJob, "10"}, {kIndex, "10"}}),
      rank("", {{kIndex, "0"}}),
  };
  EXPECT_TRUE(std::ranges::is_sorted(sorted));
}

// Partitions of Volcano are consecutive tasks, and the hosts of a replica of Ray stand together.
TEST(RankOf, ReadsTheIndexOfATaskAndOfAHost) {
  const auto rank = [](std::vector<std::pair<std::string, std::string>> labels) {
    return RankOf(StringMap(std::move(labels)), "", PodGroupSpec{});
  };
  EXPECT_EQ(rank({{"volcano.sh/task-spec", "worker"}, {"volcano.sh/task-index", "12"}}).index, 12);
  const std::string kReplica = "ray.io/worker-group-replica-index",
                    kHost = "ray.io/replica-host-index";
  const std::vector<Rank> sorted = {
      rank({{kReplica, "2"}, {kHost, "0"}}),
      rank({{kReplica, "2"}, {kHost, "1"}}),
      rank({{kReplica, "10"}, {kHost, "0"}}),
  };
  EXPECT_TRUE(std::ranges::is_sorted(sorted));
  EXPECT_NE(sorted[1].job, sorted[2].job);
}

// Their names decided, of which p-10 stands before p-2: slices were made of the wrong pods.
TEST(RankOf, ReadsTheIndexInAPodGroupOfKueueBeforeThatOfTheController) {
  const std::string kGroup = "kueue.x-k8s.io/pod-group-pod-index",
                    kSet = "apps.kubernetes.io/pod-index";
  const auto index = [](std::vector<std::pair<std::string, std::string>> labels) {
    return RankOf(StringMap(std::move(labels)), "", PodGroupSpec{}).index;
  };
  EXPECT_EQ(index({{kGroup, "10"}}), 10);
  EXPECT_EQ(index({{kSet, "0"}, {kGroup, "4"}}), 4);
  EXPECT_EQ(index({{kSet, "3"}, {kGroup, "x"}}), 3);
}

// Slices of one job were filled up with members of another.
TEST(RankOf, CountsWithinRoleJobAndGroup) {
  const auto job = [](std::vector<std::pair<std::string, std::string>> labels) {
    return RankOf(StringMap(std::move(labels)), "", PodGroupSpec{}).job;
  };
  const std::string kRole = "jobset.sigs.k8s.io/replicatedjob-name",
                    kJob = "jobset.sigs.k8s.io/job-index", kName = "batch.kubernetes.io/job-name",
                    kGroup = "leaderworkerset.sigs.k8s.io/group-index";
  EXPECT_NE(job({{kRole, "driver"}, {kJob, "0"}}), job({{kRole, "workers"}, {kJob, "0"}}));
  EXPECT_EQ(job({{kRole, "w"}, {kJob, "1"}, {kName, "a"}}), job({{kRole, "w"}, {kJob, "1"}}));
  EXPECT_NE(job({{kName, "a"}}), job({{kName, "b"}}));
  EXPECT_NE(job({{kGroup, "0"}}), job({{kGroup, "1"}}));
  EXPECT_EQ(job({}), "");
}

TEST(RankOf, IgnoresAnIndexThatIsNoNumber) {
  StringMap labels;
  labels.Set("batch.kubernetes.io/job-completion-index", "x");
  labels.Set("apps.kubernetes.io/pod-index", "-4");
  EXPECT_EQ(RankOf(labels, "", PodGroupSpec{}).index, -1);
  labels.Set("leaderworkerset.sigs.k8s.io/worker-index", "3");
  EXPECT_EQ(RankOf(labels, "", PodGroupSpec{}).index, 3);
}

TEST(ExpectedRuntime, IsWhatThePodGroupSaysElseTheLongestDeadlineOfItsMembers) {
  Gang gang = GangOf(2, {kPending, kBound, kGated, kFailed});
  EXPECT_EQ(ExpectedRuntime(gang), std::nullopt);
  gang.members[0].deadline = absl::Minutes(5);
  gang.members[1].deadline = absl::Minutes(9);
  EXPECT_EQ(ExpectedRuntime(gang), std::nullopt) << "one may run for ever";
  gang.members[2].deadline = absl::Minutes(7);
  EXPECT_EQ(ExpectedRuntime(gang), absl::Minutes(9)) << "the failed one does not run";
  gang.spec.expected_runtime = absl::Minutes(1);
  EXPECT_EQ(ExpectedRuntime(gang), absl::Minutes(1));
}

}  // namespace
}  // namespace maniple::queue_assembly_test
