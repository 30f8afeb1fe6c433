// Where pods belong: what decides, what waits, what changes when objects come and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/unit/producers/fixture.h"

namespace maniple {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr char kXk8s[] = "scheduling.x-k8s.io/v1alpha1";
constexpr char kVolcano[] = "scheduling.volcano.sh/v1beta1";

constexpr char kTrain[] =
    "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: train}, spec: "
    "{minMember: 4}}";
constexpr char kInTrain[] = "{labels: {scheduling.x-k8s.io/pod-group: train}}";

TEST(GangDirectory, APodWithoutMarksIsAGangOfOne) {
  DirectoryWorld world;
  world.Put("p", "");
  world.Put("q", "", "ReplicaSet/web");
  EXPECT_EQ(world.PlaceOf("p"), PodPlace());
  EXPECT_EQ(world.PlaceOf("q"), PodPlace());
}

TEST(GangDirectory, OurLabelGoesBeforeAllOthers) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(kTrain);
  world.Put("p",
            "{labels: {scheduling.maniple.dev/pod-group: ours, scheduling.maniple.dev/sub-group: "
            "left, scheduling.x-k8s.io/pod-group: train}, annotations: "
            "{scheduling.k8s.io/group-name: other}}");
  EXPECT_EQ(world.PlaceOf("p").group_name, "ours");
  EXPECT_EQ(world.PlaceOf("p").sub_group, "left");
  EXPECT_THAT(world.PlaceOf("p").passed_over,
              HasSubstr("label scheduling.x-k8s.io/pod-group=train"));
  EXPECT_THAT(world.PlaceOf("p").passed_over,
              HasSubstr("annotation scheduling.k8s.io/group-name=other"));
}

TEST(GangDirectory, AGroupObjectIsAGangWithAndWithoutPods) {
  DirectoryWorld world;
  world.Serve(kXk8s, "PodGroup");
  world.Give(kTrain);
  ASSERT_EQ(world.change_.gangs.size(), 1);
  const GroupName name = world.change_.gangs[0];
  EXPECT_THAT(name.group_name, MatchesRegex("train-[0-9a-f]{8}"));
  ASSERT_NE(world.directory_.Find(name), nullptr);
  EXPECT_TRUE(world.directory_.Find(name)->is_object);
  world.Put("p", kInTrain);
  EXPECT_EQ(world.PlaceOf("p").group_name, name.group_name);
  EXPECT_EQ(world.Where("p"), "PodGroup/train min 4");
  world.Take(kXk8s, "PodGroup", "train");
  EXPECT_EQ(world.directory_.Find(name), nullptr);
  EXPECT_EQ(world.Where("p"), "waits");
}

// The operator writes the group; its users write on the job.
TEST(GangDirectory, WhereAGroupSaysNothingTheOwnerOfItsPodsDoes) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(kTrain);
  world.Give(
      "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: job, labels: "
      "{scheduling.maniple.dev/queue: research}}, spec: {runPolicy: {schedulingPolicy: "
      "{priorityClass: low}}, pytorchReplicaSpecs: {Worker: {replicas: 4}}}}");
  world.Put("p", kInTrain, "PyTorchJob/job");
  EXPECT_EQ(world.Where("p"), "PodGroup/train min 4, queue research, class low");
  world.Put("k",
            "{labels: {kueue.x-k8s.io/pod-group-name: g}, annotations: "
            "{kueue.x-k8s.io/pod-group-total-count: '2'}}",
            "PyTorchJob/job");
  EXPECT_EQ(world.Where("k"), "Pod/g#kueue min 2, queue research, class low");
  world.Give("{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: job}, spec: {}}");
  EXPECT_EQ(world.Where("p"), "PodGroup/train min 4");
}

TEST(GangDirectory, ARightThatIsLostPartsNoGangThatRuns) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(
      "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: job}, spec: "
      "{pytorchReplicaSpecs: {Worker: {replicas: 2}}}}");
  const std::string there = "PyTorchJob/job min 2, worker 2";
  Pod runs = PodWith("p", "", "PyTorchJob/job");
  runs.node_name = "n1";
  (void)world.directory_.Put(world.ids_.Intern("p"), runs, world.change_);
  world.Serve("kubeflow.org/v1", "PyTorchJob", ServedState::kForbidden);
  world.Put("q", "", "PyTorchJob/job");
  EXPECT_EQ(world.Where("p"), there);
  EXPECT_EQ(world.Where("q"), there);
  world.Forget("p");
  EXPECT_EQ(world.Where("q"), "single");
}

TEST(GangDirectory, AnOwnerThatAsksForNoGangIsKnownByTheNameThatItsGangHad) {
  DirectoryWorld world;
  world.ServeAll();
  const auto give = [&world](int pods) {
    world.Give(
        absl::StrCat("{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: "
                     "{completionMode: Indexed, parallelism: ",
                     pods, ", completions: ", pods, "}}"));
  };
  give(2);
  world.Put("p", "", "Job/j");
  const GroupName name{"ns", world.PlaceOf("p").group_name};
  EXPECT_FALSE(world.directory_.AsksForNone(name));
  world.change_ = {};
  give(1);
  EXPECT_EQ(world.Where("p"), "single");
  EXPECT_TRUE(world.directory_.AsksForNone(name));
  EXPECT_THAT(world.change_.gangs, ElementsAre(name));
  world.change_ = {};
  world.Forget("p");
  EXPECT_FALSE(world.directory_.AsksForNone(name));
  EXPECT_THAT(world.change_.gangs, ElementsAre(name));
}

TEST(GangDirectory, APodWhoseGroupComesLaterWaitsForIt) {
  DirectoryWorld world;
  world.Serve(kXk8s, "PodGroup");
  const PodId pod = world.Put("p", kInTrain);
  EXPECT_EQ(world.Where("p"), "waits");
  EXPECT_THAT(world.change_.pods, IsEmpty());
  world.Give(kTrain);
  EXPECT_THAT(world.change_.pods, ElementsAre(pod));
  EXPECT_EQ(world.Where("p"), "PodGroup/train min 4");
}

TEST(GangDirectory, AMarkWhoseKindIsNotServedIsPassedOver) {
  DirectoryWorld world;
  world.Give(kTrain);
  world.Serve(kVolcano, "PodGroup");
  world.Put("p",
            "{labels: {scheduling.x-k8s.io/pod-group: train}, annotations: "
            "{scheduling.k8s.io/group-name: train}}");
  world.Put("q", kInTrain);
  EXPECT_EQ(world.Where("p"), "waits");
  EXPECT_EQ(world.Where("q"), "single");
  EXPECT_THAT(world.PlaceOf("q").passed_over,
              HasSubstr("pod-group=train (its kind is not served)"));
  world.Serve(kXk8s, "PodGroup");
  EXPECT_EQ(world.Where("p"), "PodGroup/train min 4");
  EXPECT_EQ(world.Where("q"), "PodGroup/train min 4");
  world.Serve(kXk8s, "PodGroup", ServedState::kNotInstalled);
  EXPECT_EQ(world.Where("q"), "single");
}

// Who was left when the first pod of an application went started one by one.
TEST(GangDirectory, YunikornsTableOutlivesThePodThatHadIt) {
  constexpr char kDriver[] =
      "{labels: {applicationId: app}, annotations: {yunikorn.apache.org/task-group-name: driver, "
      "yunikorn.apache.org/task-groups: '[{\"name\": \"driver\", \"minMember\": 1}, {\"name\": "
      "\"executor\", \"minMember\": 3}]'}}";
  constexpr char kExecutor[] =
      "{labels: {applicationId: app}, annotations: {yunikorn.apache.org/task-group-name: "
      "executor}}";
  constexpr char kWithTable[] =
      "{labels: {applicationId: app}, annotations: {yunikorn.apache.org/task-group-name: executor, "
      "yunikorn.apache.org/task-groups: '[{\"name\": \"executor\", \"minMember\": 2}]'}}";
  DirectoryWorld world;
  world.Put("driver", kDriver);
  world.Put("e-0", kExecutor);
  const std::string whole =
      "Pod/app#yunikorn min 4, driver 1 once there, executor 3 once there: executor";
  EXPECT_EQ(world.Where("e-0"), whole);
  world.Forget("driver");
  EXPECT_EQ(world.Where("e-0"), whole);
  world.Put("e-1", kWithTable);
  EXPECT_EQ(world.Where("e-0"), "Pod/app#yunikorn min 2, executor 2 once there: executor");
  world.Forget("e-1");
  world.Forget("e-0");
  world.Put("e-2", kExecutor);
  EXPECT_EQ(world.Where("e-2"), "Pod/app#yunikorn min 1") << "nobody of it was left";
}

TEST(GangDirectory, ATableOfYunikornThatIsNoneGoesWithItsPod) {
  DirectoryWorld world;
  world.Put("driver",
            "{labels: {applicationId: app}, annotations: {yunikorn.apache.org/task-group-name: d, "
            "yunikorn.apache.org/task-groups: '[{'}}");
  world.Put("e-0",
            "{labels: {applicationId: app}, annotations: {yunikorn.apache.org/task-group-name: "
            "e}}");
  EXPECT_THAT(world.Where("e-0"), HasSubstr("INVALID"));
  world.Forget("driver");
  EXPECT_EQ(world.Where("e-0"), "Pod/app#yunikorn min 1");
}

// Its CRD was deleted, with all groups. A new member started alone beside those that run.
class GangWithoutKind : public ::testing::Test {
 protected:
  GangWithoutKind() {
    world_.Serve(kXk8s, "PodGroup");
    world_.Give(kTrain);
    world_.Put("waiting", kInTrain);
  }
  PodId Put(const char* name, PodPhase phase, const char* metadata = kInTrain) {
    Pod pod = PodWith(name, metadata, "");
    pod.node_name = "n1";
    pod.phase = phase;
    (void)world_.directory_.Put(world_.ids_.Intern(name), pod, world_.change_);
    return world_.ids_.Intern(name);
  }
  void DeleteKind() {
    world_.Take(kXk8s, "PodGroup", "train");
    world_.Serve(kXk8s, "PodGroup", ServedState::kNotInstalled);
  }
  DirectoryWorld world_;
};

TEST_F(GangWithoutKind, LetsNewMembersWaitWhileItRuns) {
  Put("running", PodPhase::kRunning);
  DeleteKind();
  world_.Put("new", kInTrain);
  EXPECT_EQ(world_.Where("waiting"), "waits");
  EXPECT_EQ(world_.Where("new"), "waits");
  EXPECT_THAT(world_.PlaceOf("new").awaited, HasSubstr("PodGroup train"));
  world_.Put("other", "{labels: {scheduling.x-k8s.io/pod-group: other}}");
  EXPECT_EQ(world_.Where("other"), "single") << "that one was never there";
  world_.Serve(kXk8s, "PodGroup");
  world_.Give(kTrain);
  EXPECT_EQ(world_.Where("new"), "PodGroup/train min 4");
}

TEST_F(GangWithoutKind, IsForgottenOnceNobodyOfItRuns) {
  Put("running", PodPhase::kRunning);
  const PodId other = Put("other", PodPhase::kRunning);
  DeleteKind();
  const PodId late = world_.Put("new", kInTrain);
  Put("running", PodPhase::kSucceeded);
  EXPECT_EQ(world_.Where("new"), "waits") << "another one runs";
  world_.change_ = {};
  world_.Forget("other");
  EXPECT_EQ(world_.Where("new"), "single");
  EXPECT_EQ(world_.Where("waiting"), "single");
  EXPECT_THAT(world_.change_.pods, Contains(late));
  EXPECT_THAT(world_.change_.pods, Not(Contains(other)));
}

TEST_F(GangWithoutKind, RunsOnWhateverItsRunnersAreLabelled) {
  Put("running", PodPhase::kRunning);
  DeleteKind();
  Put("running", PodPhase::kRunning,
      "{labels: {scheduling.x-k8s.io/pod-group: train, kai.scheduler/queue: q}}");
  world_.Put("new", kInTrain);
  EXPECT_EQ(world_.Where("new"), "waits");
  Put("running", PodPhase::kFailed,
      "{labels: {scheduling.x-k8s.io/pod-group: train, kai.scheduler/queue: q}}");
  EXPECT_EQ(world_.Where("new"), "single");
}

TEST_F(GangWithoutKind, IsNoneWhereNobodyRan) {
  DeleteKind();
  EXPECT_EQ(world_.Where("waiting"), "single");
  Put("waiting", PodPhase::kRunning);
  world_.Put("new", kInTrain);
  EXPECT_EQ(world_.Where("new"), "single") << "the other one runs alone";
}

TEST(GangDirectory, TheSameNameWithAnotherUidIsAnotherGang) {
  DirectoryWorld world;
  world.Serve(kXk8s, "PodGroup");
  world.Give(kTrain);
  world.Put("p", kInTrain);
  const std::string before = world.PlaceOf("p").group_name;
  world.change_ = {};
  world.Give(
      "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: train, uid: "
      "new}, spec: {minMember: 4}}");
  EXPECT_NE(world.PlaceOf("p").group_name, before);
  EXPECT_EQ(world.directory_.Find({"ns", before}), nullptr);
  EXPECT_EQ(world.change_.gangs.size(), 2);
}

TEST(GangDirectory, AnUpdateWithoutAChangeIsNoChange) {
  DirectoryWorld world;
  world.Serve(kXk8s, "PodGroup");
  world.Give(kTrain);
  world.Put("p", kInTrain);
  world.change_ = {};
  world.Give(kTrain);
  world.Put("p", kInTrain);
  EXPECT_THAT(world.change_.gangs, IsEmpty());
  EXPECT_THAT(world.change_.pods, IsEmpty());
}

TEST(GangDirectory, NamesAreTheSameInEachProcess) {
  DirectoryWorld world;
  world.Serve(kXk8s, "PodGroup");
  world.Give(kTrain);
  world.Put("p", kInTrain);
  EXPECT_EQ(world.PlaceOf("p").group_name, "train-a469a924");
}

TEST(GangDirectory, AnOldDeletionDoesNotTakeTheNewObject) {
  DirectoryWorld world;
  world.Serve(kXk8s, "PodGroup");
  world.Give(kTrain);
  world.Put("p", kInTrain);
  world.directory_.Remove({ForeignResource(KindIndex(kXk8s, "PodGroup")), "ns", "train"}, "older",
                          world.change_);
  EXPECT_EQ(world.Where("p"), "PodGroup/train min 4");
}

TEST(GangDirectory, AnOwnersGangIsThereAsLongAsAPodIsInIt) {
  DirectoryWorld world;
  world.Serve("batch/v1", "Job");
  world.Give(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {completionMode: Indexed, "
      "parallelism: 3, completions: 3}}");
  EXPECT_THAT(world.change_.gangs, IsEmpty());
  world.Put("a", "", "Job/j");
  world.Put("b", "", "Job/j");
  const std::string group = world.PlaceOf("a").group_name;
  EXPECT_EQ(world.Where("b"), "Job/j min 3");
  EXPECT_FALSE(world.GangOf("a")->is_object);
  world.Forget("a");
  EXPECT_NE(world.directory_.Find({"ns", group}), nullptr);
  world.change_ = {};
  world.Forget("b");
  EXPECT_EQ(world.directory_.Find({"ns", group}), nullptr);
  EXPECT_THAT(world.change_.gangs, ElementsAre(GroupName{"ns", group}));
}

TEST(GangDirectory, AnOwnerThatIsGoneOrMadeAnewIsWaitedFor) {
  DirectoryWorld world;
  world.Serve("batch/v1", "Job");
  world.Put("p", "", "Job/j@first");
  EXPECT_EQ(world.Where("p"), "waits");
  const auto job = [](absl::string_view uid) {
    return absl::StrCat("{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: ", uid,
                        "}, spec: {completionMode: Indexed, parallelism: 2, completions: 2}}");
  };
  world.Give(job("first"));
  EXPECT_EQ(world.Where("p"), "Job/j min 2");
  world.Give(job("second"));
  EXPECT_EQ(world.Where("p"), "waits");
  world.Take("batch/v1", "Job", "j");
  EXPECT_EQ(world.Where("p"), "waits");
}

TEST(GangDirectory, AKindThatMayNotBeReadMakesSinglesAndSaysSo) {
  DirectoryWorld world;
  world.Serve("batch/v1", "Job", ServedState::kForbidden);
  world.Put("p", "", "Job/j");
  EXPECT_EQ(world.Where("p"), "single");
  EXPECT_THAT(world.PlaceOf("p").passed_over, HasSubstr("Job j (no right to read its kind)"));
}

// Each pod says something else: a job of thousands must not cost the square of them.
TEST(GangDirectory, OfVeryManySayingsTheSameAreHeardInAnyOrder) {
  constexpr int kPods = 1500;
  const auto where_after = [](int first, int step) {
    DirectoryWorld world;
    for (int i = first; 0 <= i && i < kPods; i += step) {
      world.Put(absl::StrCat("p", i),
                absl::StrCat("{annotations: {scheduling.maniple.dev/min-member: '", i + 2, "'}}"),
                "Strange/s");
    }
    return world.Where("p0");
  };
  EXPECT_EQ(where_after(0, 1), where_after(kPods - 1, -1));
}

TEST(GangDirectory, AnInvalidObjectIsAGangThatSaysWhy) {
  DirectoryWorld world;
  world.Serve(kXk8s, "PodGroup");
  world.Give(
      "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: train}, spec: "
      "{minMember: many}}");
  world.Put("p", kInTrain);
  EXPECT_THAT(world.Where("p"), HasSubstr("INVALID spec.minMember: must be a whole number"));
}

TEST(GangDirectory, AStatusIsWrittenWhereTheObjectIs) {
  DirectoryWorld world;
  world.Serve(kVolcano, "PodGroup");
  world.Give(
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: v}, spec: "
      "{minMember: 2, queue: default}, status: {phase: Pending}}");
  world.Put("p", "{annotations: {scheduling.k8s.io/group-name: v}}");
  ASSERT_TRUE(world.GangOf("p")->status.has_value());
  EXPECT_EQ(world.GangOf("p")->status->path,
            "/apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/v");
  EXPECT_EQ(world.GangOf("p")->status->phase, "Pending");
}

}  // namespace
}  // namespace maniple
