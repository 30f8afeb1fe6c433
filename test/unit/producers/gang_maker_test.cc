// Gangs made of declarations and marks. Fears: the order of the pods decides; the parts ask for
// more than the whole; a number that makes no sense is counted with; a size that no gang can have
// wraps around.
#include "api/producers/gang_maker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "test/unit/producers/fixture.h"
#include "test/unit/producers/packed_pods.h"

namespace maniple::producers_gang_maker_test {
namespace {

// One owner, and the gang that it makes of pods with such metadata.
ForeignGang MadeBy(absl::string_view owner, const std::vector<std::string>& pods = {"{}"},
                   absl::string_view part = "") {
  ObjectTable table(BuiltinForeignKinds());
  const ReadResult<ForeignObject> read = ReadForeign(owner);
  EXPECT_EQ(read.refused, "");
  GangIdentity identity{.origin = GangOrigin::kOwner, .group_name = "made"};
  identity.source = table.Upsert(read.value);
  identity.part = std::string(part);
  PackedPods packed;
  for (const std::string& pod : pods) packed.Add(pod, "Job/j");
  ProducerOptions options;
  options.kinds = BuiltinForeignKinds();
  return MakeGang(identity, packed.marks(), table, options);
}

// "master 1, worker 3"
std::string PartsOf(const ForeignGang& gang) {
  std::string out;
  for (const SubGroup& part : gang.spec.sub_groups) {
    absl::StrAppend(&out, out.empty() ? "" : ", ", part.name, " ", part.min_member);
  }
  return out;
}

int64_t SumOf(const ForeignGang& gang) {
  return std::accumulate(gang.spec.sub_groups.begin(), gang.spec.sub_groups.end(), int64_t{0},
                         [](int64_t sum, const SubGroup& part) { return sum + part.min_member; });
}

// minAvailable -1: it says none.
std::string KubeflowJob(int masters, int workers, int minimum) {
  return absl::StrCat(
      "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: t}, spec: {",
      minimum < 0 ? ""
                  : absl::StrCat("runPolicy: {schedulingPolicy: {minAvailable: ", minimum, "}}, "),
      "pytorchReplicaSpecs: {Master: {replicas: ", masters, "}, Worker: {replicas: ", workers,
      "}}}}");
}

TEST(MadeGang, HasPartsOnlyIfItNeedsAllOfThem) {
  for (int masters = 0; masters < 3; ++masters) {
    for (int workers = 0; workers < 4; ++workers) {
      for (int minimum = -1; minimum < 7; ++minimum) {
        const ForeignGang gang = MadeBy(KubeflowJob(masters, workers, minimum));
        const int sum = masters + workers;
        std::string parts;
        if (minimum < 0 || minimum >= sum) {
          if (masters > 0) parts = absl::StrCat("master ", masters);
          if (workers > 0) absl::StrAppend(&parts, masters > 0 ? ", " : "", "worker ", workers);
        }
        EXPECT_EQ(PartsOf(gang), parts) << masters << " " << workers << " " << minimum;
        EXPECT_EQ(gang.spec.min_member, std::max(1, minimum < 0 ? sum : std::min(minimum, sum)));
        EXPECT_TRUE(gang.starts.empty());
      }
    }
  }
}

// Its launcher comes after the workers, so the quorum can spare workers only.
TEST(MadeGang, ALatePartIsWholeWhateverTheQuorumSpares) {
  for (int workers = 0; workers < 5; ++workers) {
    for (int minimum = 1; minimum < 8; ++minimum) {
      const ForeignGang gang = MadeBy(absl::StrCat(
          "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: m}, spec: "
          "{launcherCreationPolicy: WaitForWorkersReady, runPolicy: {schedulingPolicy: "
          "{minAvailable: ",
          minimum, "}}, mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: ", workers, "}}}}"));
      SCOPED_TRACE(absl::StrCat(workers, " ", minimum));
      ASSERT_FALSE(gang.spec.sub_groups.empty());
      EXPECT_EQ(gang.spec.sub_groups[0].name, "launcher");
      EXPECT_EQ(gang.spec.sub_groups[0].min_member, 1);
      EXPECT_EQ(gang.starts[0], PartStart::kOnceOneExists);
      EXPECT_EQ(gang.starts.size(), gang.spec.sub_groups.size());
      EXPECT_EQ(SumOf(gang), std::min(minimum, workers + 1));
      EXPECT_EQ(gang.spec.min_member, std::min(minimum, workers + 1));
    }
  }
}

// With one Job for each domain, followers come after the first pod of their Job.
TEST(MadeGang, LeadersAndFollowersAreAllOfAnExclusiveJobSet) {
  for (int replicas = 1; replicas < 4; ++replicas) {
    for (int pods = 1; pods < 5; ++pods) {
      const ForeignGang gang = MadeBy(absl::StrCat(
          "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: s, annotations: "
          "{alpha.jobset.sigs.k8s.io/exclusive-topology: rack}}, spec: {replicatedJobs: [{name: "
          "w, replicas: ",
          replicas, ", template: {spec: {parallelism: ", pods, "}}}]}}"));
      EXPECT_EQ(gang.spec.min_member, replicas * pods);
      EXPECT_EQ(
          PartsOf(gang),
          pods == 1 ? "" : absl::StrCat("leader ", replicas, ", follower ", replicas * (pods - 1)));
      EXPECT_EQ(gang.followers_of_each, pods - 1);
    }
  }
}

// Whoever comes later cannot be waited for, not even if people ask for so many.
TEST(MadeGang, AQuorumThatIsAskedForHasItsStepsToo) {
  constexpr char kAsks[] = "annotations: {scheduling.maniple.dev/min-member: '4'}}, spec: ";
  const ForeignGang set = MadeBy(
      absl::StrCat("{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: "
                   "{name: l, ",
                   kAsks, "{startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 6}}}"));
  EXPECT_EQ(set.spec.min_member, 4);
  EXPECT_EQ(PartsOf(set), "leader 1, workers 3");
  EXPECT_EQ(set.starts.back(), PartStart::kOnceLeadIsBound);
  const ForeignGang mpi = MadeBy(
      absl::StrCat("{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: m, ", kAsks,
                   "{launcherCreationPolicy: WaitForWorkersReady, mpiReplicaSpecs: {Launcher: {}, "
                   "Worker: {replicas: 5}}}}"));
  EXPECT_EQ(PartsOf(mpi), "launcher 1, worker 3");
  EXPECT_EQ(mpi.starts.front(), PartStart::kOnceOneExists);
  const ForeignGang exclusive = MadeBy(
      "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: s, annotations: "
      "{scheduling.maniple.dev/min-member: '4', alpha.jobset.sigs.k8s.io/exclusive-topology: "
      "rack}}, spec: {replicatedJobs: [{name: w, replicas: 2, template: {spec: {parallelism: "
      "3}}}]}}");
  EXPECT_EQ(PartsOf(exclusive), "leader 2, follower 2");
}

TEST(MadeGang, WhatMakesNoSenseIsAGangOfOneThatSaysWhy) {
  const ForeignGang gang = MadeBy(KubeflowJob(2, -1, 3));
  EXPECT_NE(gang.problem, "");
  EXPECT_EQ(gang.spec.min_member, 1);
  EXPECT_TRUE(gang.spec.sub_groups.empty());
  const ForeignGang large = MadeBy(KubeflowJob(1, 2147483647, -1));
  EXPECT_NE(large.problem, "");
  EXPECT_EQ(large.spec.min_member, 1);
  EXPECT_EQ(MadeBy(KubeflowJob(1, 2147483646, -1)).spec.min_member, 2147483647);
}

TEST(MadeGang, TheOrderOfItsPodsDoesNotMatter) {
  std::vector<std::string> pods = {
      "{annotations: {scheduling.maniple.dev/min-member: '2'}}",
      "{annotations: {scheduling.maniple.dev/min-member: '3', "
      "kueue.x-k8s.io/podset-required-topology: rack}}",
      "{labels: {kai.scheduler/queue: b}, annotations: {kueue.x-k8s.io/podset-required-topology: "
      "block}}",
      "{labels: {kai.scheduler/queue: a, scheduling.maniple.dev/queue: c}}"};
  std::sort(pods.begin(), pods.end());
  const ForeignGang first = MadeBy(KubeflowJob(1, 3, -1), pods);
  EXPECT_EQ(first.spec.min_member, 3);
  EXPECT_EQ(first.spec.queue, "c");
  EXPECT_EQ(first.spec.topology.required, "block");
  do {
    ASSERT_TRUE(MadeBy(KubeflowJob(1, 3, -1), pods) == first);
  } while (std::next_permutation(pods.begin(), pods.end()));
}

}  // namespace
}  // namespace maniple::producers_gang_maker_test
