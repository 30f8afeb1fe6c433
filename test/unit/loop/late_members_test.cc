// Members that come after their gang has started. The fears: whoever scales a job up loses what
// runs of it; a job that began as one pod never gets more; a stage starts by halves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/report/status.h"
#include "test/unit/loop/producers_fixture.h"

namespace maniple {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class LoopLateMembers : public LoopProducers {
 protected:
  // An indexed Job of so many pods of one node each. There are four nodes.
  void PutJob(int pods) {
    Put({.kind = kJobs,
         .name = "job",
         .spec = absl::StrCat(R"({"completionMode":"Indexed","completions":)", pods,
                              R"(,"parallelism":)", pods, "}")});
  }
  void SubmitJob(int from, int to, absl::Duration then = absl::Seconds(5)) {
    Submit({.prefix = "job",
            .from = from,
            .to = to,
            .owner = OwnerReference{"Job", "job", "u-job", "batch/v1"}});
    d_.Settle(then);
  }
  void AJobOfThreeRuns() {
    PutJob(3);
    SubmitJob(0, 3);
    ASSERT_EQ(BoundOf("job"), 3);
  }
  [[nodiscard]] PodGroupStatus StatusOf(const char* owner) {
    return StandingFor(owner).front().status;
  }
  [[nodiscard]] PodGroupStatus Status() { return StatusOf("job"); }
};

TEST_F(LoopLateMembers, AJobThatIsScaledUpWhereThereIsNoRoomKeepsItsPods) {
  AJobOfThreeRuns();
  PutJob(6);
  SubmitJob(3, 6);
  EXPECT_EQ(BoundOf("job"), 4) << "one of them finds room";
  d_.Settle(absl::Minutes(20));
  EXPECT_EQ(BoundOf("job"), 4);
  EXPECT_EQ(Status().phase, "Running");
  EXPECT_THAT(Status().message, HasSubstr("4 of 6 pods bound; the quorum was 3 when it started"));
  d_.Restart();
  d_.Settle(absl::Minutes(20));
  EXPECT_EQ(BoundOf("job"), 4);
  d_.Nodes(2, 8, "m");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("job"), 6);
}

TEST_F(LoopLateMembers, AJobThatIsScaledDownToOnePodKeepsIt) {
  AJobOfThreeRuns();
  PutJob(1);
  for (const char* pod : {"job-1", "job-2"}) d_.api.Delete(ResourceKind::kPod, pod);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(Status().phase, "Running");
  d_.Submit({.gang = "next", .pods = 3});
  d_.Settle(absl::Minutes(10));
  EXPECT_EQ(d_.Bound("next"), 3) << "no room is held for the others";
  EXPECT_EQ(BoundOf("job"), 1);
  d_.Restart();
  d_.Settle(absl::Minutes(10));
  EXPECT_EQ(BoundOf("job"), 1);
  EXPECT_THAT(StandingFor("job"), SizeIs(0)) << "it is a gang of one, and as such needs none";
  PutJob(2);
  SubmitJob(1, 2);
  d_.Settle(absl::Minutes(10));
  EXPECT_EQ(BoundOf("job"), 1) << "there is no room, and nobody leaves for the other";
}

TEST_F(LoopLateMembers, OfAJobThatIsScaledDownToOnePodWhileItWaitsNothingIsLeft) {
  PutJob(3);
  SubmitJob(0, 2);
  ASSERT_EQ(BoundOf("job"), 0);
  ASSERT_THAT(StandingFor("job"), SizeIs(1));
  PutJob(1);
  d_.api.Delete(ResourceKind::kPod, "job-1");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("job"), 1);
  EXPECT_THAT(StandingFor("job"), SizeIs(0));
}

TEST_F(LoopLateMembers, AJobThatWasScaledUpStillLosesItsQuorum) {
  PutJob(3);
  SubmitJob(0, 3);
  PutJob(6);
  SubmitJob(3, 6);
  for (int pod = 0; pod < 6; ++pod) {
    const std::string name = absl::StrCat("job-", pod);
    if (pod < 2 || d_.api.FindPod(name)->node_name.empty()) {
      d_.api.Delete(ResourceKind::kPod, name);
    }
  }
  d_.Settle(absl::Seconds(30));
  EXPECT_EQ(Status().reason, "QuorumLost");
  d_.Settle(absl::Minutes(10));
  EXPECT_EQ(BoundOf("job"), 0);
}

TEST_F(LoopLateMembers, APodThatRanAloneIsAMemberOfTheGangThatItsJobBecomes) {
  PutJob(1);
  SubmitJob(0, 1);
  ASSERT_EQ(BoundOf("job"), 1);
  PutJob(6);
  SubmitJob(1, 6);
  EXPECT_EQ(BoundOf("job"), 4);
  ASSERT_THAT(StandingFor("job"), SizeIs(1));
  d_.Settle(absl::Minutes(20));
  EXPECT_EQ(BoundOf("job"), 4) << "whoever ran alone does not have to leave for those who came";
  d_.Restart();
  d_.Settle(absl::Minutes(20));
  EXPECT_EQ(BoundOf("job"), 4);
  EXPECT_EQ(Status().quorum_met, 1);
}

// The fear: it stays by itself for ever, and those who came late wait for it.
TEST_F(LoopLateMembers, APodWhoseJobGrowsWhileItIsBeingBoundIsAMemberToo) {
  d_.api.Break({.on = "job-0/binding", .act = FaultAct::kDrop});
  PutJob(1);
  SubmitJob(0, 1, absl::ZeroDuration());
  ASSERT_EQ(BoundOf("job"), 0);
  PutJob(3);
  SubmitJob(1, 3);
  d_.Settle(absl::Minutes(2));
  EXPECT_EQ(BoundOf("job"), 3);
  EXPECT_EQ(Status().phase, "Running");
}

// The fear: as a part of a start that nobody has finished, it is deleted.
TEST_F(LoopLateMembers, APodThatRanAloneIsKnownWhenItsJobHasGrownWhileNobodyLooked) {
  PutJob(1);
  SubmitJob(0, 1);
  Pod pod = *d_.api.FindPod("job-0");
  pod.phase = PodPhase::kRunning;
  pod.started = d_.now;
  d_.api.Put(pod);
  d_.Settle(absl::Minutes(20));
  PutJob(6);
  Submit({.prefix = "job",
          .from = 1,
          .to = 6,
          .owner = OwnerReference{"Job", "job", "u-job", "batch/v1"}});
  d_.Restart();
  d_.Settle(absl::Minutes(20));
  EXPECT_EQ(BoundOf("job"), 4);
}

TEST_F(LoopLateMembers, AMinimumHoldsForTheWorkersWhileTheirLauncherIsNotThereYet) {
  d_.Nodes(2, 8);
  for (const char* name : {"n3", "n4"}) d_.api.Delete(ResourceKind::kNode, name);
  Put({.kind = kMpiJobs, .name = "mpi", .spec = R"({"launcherCreationPolicy":"WaitForWorkersReady",
                   "runPolicy":{"schedulingPolicy":{"minAvailable":3}},
                   "mpiReplicaSpecs":{"Launcher":{"replicas":1},"Worker":{"replicas":3}}})"});
  SubmitMpi("worker", "worker", 3);
  EXPECT_EQ(BoundOf("worker"), 0) << "there is room for two";
  d_.Nodes(4, 8);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("worker"), 3);
  SubmitMpi("launcher", "launcher", 1);
  EXPECT_EQ(BoundOf("launcher"), 1);
}

// It was said to have lost its quorum.
TEST_F(LoopLateMembers, AStageThatFindsNoRoomIsNotCalledALoss) {
  d_.Put(MakePod("busy").Gpu(8).On("n4").Phase(PodPhase::kRunning));
  Put({.kind = kMpiJobs, .name = "mpi", .spec = R"({"launcherCreationPolicy":"WaitForWorkersReady",
                   "mpiReplicaSpecs":{"Launcher":{"replicas":1},"Worker":{"replicas":3}}})"});
  SubmitMpi("worker", "worker", 3);
  ASSERT_EQ(BoundOf("worker"), 3);
  SubmitMpi("launcher", "launcher", 1);
  EXPECT_EQ(StatusOf("mpi").reason, "NoFit");
  EXPECT_THAT(StatusOf("mpi").message, HasSubstr("3 of 4 pods bound"));
  EXPECT_THAT(StatusOf("mpi").message,
              HasSubstr("unless the others are bound, these are evicted at"));
  EXPECT_EQ(FindCondition(StatusOf("mpi").conditions, kConditionDisrupted), nullptr);
  // A new leader does not begin its time anew.
  d_.Settle(absl::Minutes(2));
  d_.Restart();
  d_.Settle(absl::Minutes(2));
  EXPECT_EQ(BoundOf("worker"), 3);
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(BoundOf("worker"), 0);
  EXPECT_EQ(StatusOf("mpi").reason, "WaitingForMembers");
  EXPECT_THAT(StatusOf("mpi").message,
              HasSubstr("pods that came after its start were not bound in time"));
  EXPECT_THAT(d_.api.events_created(), Contains(StartsWith("Undone on")));
  EXPECT_THAT(d_.api.events_created(), Not(Contains(StartsWith("QuorumLost on"))));
}

TEST_F(LoopLateMembers, HostsOfAReplicaStartTogetherAlsoWhereNoReplicaHasToBeThere) {
  for (const char* name : {"n2", "n3", "n4"}) d_.api.Delete(ResourceKind::kNode, name);
  Put({.kind = kRay,
       .name = "ray",
       .spec = R"({"enableInTreeAutoscaling":true,"workerGroupSpecs":[)"
               R"({"groupName":"w","minReplicas":0,"maxReplicas":4,"numOfHosts":2}]})"});
  for (int host = 0; host < 2; ++host) {
    Pod pod = MakePod(absl::StrCat("host-", host)).Gpu(8);
    pod.meta.controller = OwnerReference{"RayCluster", "ray", "u-ray", "ray.io/v1"};
    pod.meta.labels.Set("ray.io/cluster", "ray");
    pod.meta.labels.Set("ray.io/group", "w");
    pod.meta.labels.Set("ray.io/worker-group-replica-index", "0");
    pod.meta.uid.clear();
    d_.api.Put(pod);
  }
  Pod head = MakePod("head-0");
  head.meta.controller = OwnerReference{"RayCluster", "ray", "u-ray", "ray.io/v1"};
  head.meta.labels.Set("ray.io/cluster", "ray");
  head.meta.labels.Set("ray.io/group", "headgroup");
  head.meta.uid.clear();
  d_.api.Put(head);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("head"), 1);
  EXPECT_EQ(BoundOf("host"), 0) << "there is room for one of the two";
  d_.Nodes(2, 8, "m");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("host"), 2);
}

TEST_F(LoopLateMembers, APodIsToldAnewWhenOtherWordsOfItsReasonAreTrue) {
  d_.Submit({.gang = "wide", .pods = 5});
  d_.Settle(absl::Seconds(5));
  ASSERT_THAT(d_.api.FindPod("wide-0")->scheduled_condition->message,
              HasSubstr("would not fit even on the empty cluster"));
  d_.Submit({.gang = "busy", .pods = 1});
  d_.Settle(absl::Seconds(5));
  d_.Nodes(1, 8, "m");
  d_.Settle(absl::Minutes(1));
  const auto& told = *d_.api.FindPod("wide-0")->scheduled_condition;
  EXPECT_EQ(told.reason, "Unschedulable");
  EXPECT_THAT(told.message, Not(HasSubstr("empty cluster")));
}

}  // namespace
}  // namespace maniple
