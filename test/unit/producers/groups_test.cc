// Group objects and marks that other projects put on pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "test/unit/producers/fixture.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;

struct GroupCase {
  const char* title;
  std::vector<const char*> objects;  // "… | Kind/owner": with that controller
  const char* pod;
  const char* where;
};

std::ostream& operator<<(std::ostream& out, const GroupCase& row) { return out << row.title; }

void GiveAll(DirectoryWorld& world, const std::vector<const char*>& objects) {
  for (const absl::string_view object : objects) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(object, absl::MaxSplits(" | ", 1));
    world.Give(halves.first, halves.second);
  }
}

class Groups : public testing::TestWithParam<GroupCase> {};

TEST_P(Groups, AreTheGangThatTheyDeclare) {
  DirectoryWorld world({.kinds = BuiltinForeignKinds(),
                        .queues = {{"theirs", "ours"}, {"cluster-queue", "mapped"}},
                        .default_queue = ""});
  world.ServeAll();
  GiveAll(world, GetParam().objects);
  Pod pod = PodWith("p", GetParam().pod, "");
  // So that a case can say it like a label.
  pod.scheduling_group = std::string(pod.meta.labels.Get("scheduling-group"));
  (void)world.directory_.Put(world.ids_.Intern("p"), pod, world.change_);
  EXPECT_EQ(world.Where("p"), GetParam().where);
}

#define XK8S(spec) \
  "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g}, spec: " spec "}"
#define IN_XK8S "scheduling.x-k8s.io/pod-group: g"
#define VOLCANO(spec) \
  "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g}, spec: " spec "}"
#define IN_VOLCANO "{annotations: {scheduling.k8s.io/group-name: g}}"
#define TASK(name) \
  "{annotations: {scheduling.k8s.io/group-name: g, volcano.sh/task-spec: " name "}}"

INSTANTIATE_TEST_SUITE_P(
    Volcano, Groups,
    testing::Values(
        GroupCase{"tasks are sub-groups",
                  {VOLCANO("{minMember: 3, minTaskMember: {worker: 2, master: 1}}")},
                  TASK("worker"),
                  "PodGroup/g min 3, master 1, worker 2: worker"},
        GroupCase{"a task that nobody declares is no sub-group",
                  {VOLCANO("{minMember: 3, minTaskMember: {worker: 2, master: 1}}")},
                  TASK("ps"),
                  "PodGroup/g min 3, master 1, worker 2"},
        GroupCase{"tasks that ask for more than the whole are not looked at",
                  {VOLCANO("{minMember: 2, minTaskMember: {worker: 2, master: 1}}")},
                  TASK("worker"),
                  "PodGroup/g min 2"},
        GroupCase{"nothing asked for: each may start alone",
                  {VOLCANO("{minMember: 0}")},
                  IN_VOLCANO,
                  "PodGroup/g min 1"},
        GroupCase{"the other annotation",
                  {VOLCANO("{minMember: 2}")},
                  "{annotations: {scheduling.volcano.sh/group-name: g}}",
                  "PodGroup/g min 2"},
        GroupCase{"a queue by its own name",
                  {VOLCANO("{minMember: 2, queue: nowhere}")},
                  IN_VOLCANO,
                  "PodGroup/g min 2, queue nowhere"},
        GroupCase{"a queue that is mapped",
                  {VOLCANO("{minMember: 2, queue: theirs, priorityClassName: high}")},
                  IN_VOLCANO,
                  "PodGroup/g min 2, queue ours, class high"},
        GroupCase{"the queue that the CRD fills in is ours to choose",
                  {VOLCANO("{minMember: 2, queue: default}")},
                  IN_VOLCANO,
                  "PodGroup/g min 2"},
        GroupCase{"a tier by number is a level",
                  {VOLCANO("{minMember: 2, networkTopology: {highestTierAllowed: 2}}")},
                  IN_VOLCANO,
                  "PodGroup/g min 2 in tier-2"},
        GroupCase{"a soft tier by name",
                  {VOLCANO("{minMember: 2, networkTopology: {mode: soft, highestTierName: rack}}")},
                  IN_VOLCANO,
                  "PodGroup/g min 2 near rack"},
        GroupCase{"partitions of a task are slices",
                  {VOLCANO("{minMember: 9, minTaskMember: {worker: 8, master: 1}, subGroupPolicy: "
                           "[{name: worker, subGroupSize: 4, minSubGroups: 2, networkTopology: "
                           "{highestTierAllowed: 1}, labelSelector: {matchLabels: "
                           "{volcano.sh/task-spec: worker}}, matchLabelKeys: "
                           "[volcano.sh/partition-id]}]}")},
                  TASK("worker"),
                  "PodGroup/g min 9, master 1, worker 8 by 4 in tier-1: worker"},
        GroupCase{"as many partitions as have to be there",
                  {VOLCANO("{minMember: 4, subGroupPolicy: [{subGroupSize: 4, minSubGroups: 2, "
                           "labelSelector: {matchLabels: {volcano.sh/task-spec: worker}}, "
                           "matchLabelKeys: [volcano.sh/partition-id]}]}")},
                  TASK("worker"),
                  "PodGroup/g min 8, worker 8: worker"},
        GroupCase{
            "a task of its own domain, none of which has to be there",
            {VOLCANO("{minMember: 4, subGroupPolicy: [{networkTopology: {highestTierName: "
                     "rack}, labelSelector: {matchLabels: {volcano.sh/task-spec: worker}}}]}")},
            TASK("worker"),
            "PodGroup/g min 4, worker 0 in rack: worker"},
        GroupCase{"sub-groups by labels that are not read",
                  {VOLCANO("{minMember: 4, subGroupPolicy: [{networkTopology: {highestTierAllowed: "
                           "1}, matchLabelKeys: [slice]}]}")},
                  IN_VOLCANO,
                  "PodGroup/g INVALID spec.subGroupPolicy[0]: pods can be told apart only by the "
                  "labels volcano.sh/task-spec and volcano.sh/partition-id"},
        GroupCase{"sub-groups by such labels that ask for no place",
                  {VOLCANO("{minMember: 4, subGroupPolicy: [{matchLabelKeys: [slice]}]}")},
                  IN_VOLCANO,
                  "PodGroup/g min 4"},
        GroupCase{"more partitions than there can be pods",
                  {VOLCANO("{minMember: 4, subGroupPolicy: [{subGroupSize: 2000000000, "
                           "minSubGroups: 2000000000, labelSelector: {matchLabels: "
                           "{volcano.sh/task-spec: worker}}}]}")},
                  IN_VOLCANO,
                  "PodGroup/g INVALID spec.subGroupPolicy[0]: must be from 0 to 2147483647 "
                  "members, is 4000000000000000000"},
        GroupCase{"negative",
                  {VOLCANO("{minMember: -3}")},
                  IN_VOLCANO,
                  "PodGroup/g INVALID spec.minMember: must be from 0 to 2147483647 members, is "
                  "-3"}));

#define MPI(policy)                                                                      \
  "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: m}, spec: {" policy \
  "mpiReplicaSpecs: {Launcher: {replicas: 1}, Worker: {replicas: 2}}}}"
#define STAGES                                                                             \
  "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: t}, spec: "       \
  "{replicatedJobs: [{name: init, template: {spec: {}}}, {name: node, dependsOn: [{name: " \
  "init, status: Complete}], template: {spec: {parallelism: 4}}}]}}"

INSTANTIATE_TEST_SUITE_P(
    Xk8s, Groups,
    testing::Values(
        GroupCase{
            "a quorum", {XK8S("{minMember: 4}")}, "{labels: {" IN_XK8S "}}", "PodGroup/g min 4"},
        GroupCase{"a queue by our label on its pods",
                  {XK8S("{minMember: 4}")},
                  "{labels: {" IN_XK8S
                  ", scheduling.maniple.dev/queue: q, kai.scheduler/queue: k}}",
                  "PodGroup/g min 4, queue q"},
        GroupCase{"a queue by another's label on its pods",
                  {XK8S("{minMember: 4}")},
                  "{labels: {" IN_XK8S ", kai.scheduler/queue: theirs}}",
                  "PodGroup/g min 4, queue ours"},
        GroupCase{"a queue of Kueue counts only if it is mapped",
                  {XK8S("{minMember: 4}")},
                  "{labels: {" IN_XK8S ", kueue.x-k8s.io/cluster-queue-name: other}}",
                  "PodGroup/g min 4"},
        GroupCase{"a queue of Kueue that is mapped",
                  {XK8S("{minMember: 4}")},
                  "{labels: {" IN_XK8S ", kueue.x-k8s.io/cluster-queue-name: cluster-queue}}",
                  "PodGroup/g min 4, queue mapped"},
        GroupCase{"an MPIJob's whose launcher waits",
                  {XK8S("{minMember: 3}") " | MPIJob/m",
                   MPI("launcherCreationPolicy: WaitForWorkersReady, ")},
                  "{labels: {" IN_XK8S ", training.kubeflow.org/job-role: worker}}",
                  "PodGroup/g min 3, launcher 1 once there, worker 2: worker"},
        GroupCase{"that asks for fewer workers",
                  {XK8S("{minMember: 2}") " | MPIJob/m",
                   MPI("launcherCreationPolicy: WaitForWorkersReady, ")},
                  "{labels: {" IN_XK8S ", training.kubeflow.org/job-role: launcher}}",
                  "PodGroup/g min 2, launcher 1 once there, worker 1: launcher"},
        GroupCase{"an MPIJob's that starts at once",
                  {XK8S("{minMember: 3}") " | MPIJob/m", MPI("")},
                  "{labels: {" IN_XK8S ", training.kubeflow.org/job-role: worker}}",
                  "PodGroup/g min 3"},
        GroupCase{"an older MPIJob's of the same name",
                  {XK8S("{minMember: 3}") " | MPIJob/m@older",
                   MPI("launcherCreationPolicy: WaitForWorkersReady, ")},
                  "{labels: {" IN_XK8S ", training.kubeflow.org/job-role: worker}}",
                  "PodGroup/g min 3"},
        GroupCase{"a TrainJob's in stages",
                  {XK8S("{minMember: 5}") " | TrainJob/t", STAGES " | TrainJob/t"},
                  "{labels: {" IN_XK8S ", jobset.sigs.k8s.io/replicatedjob-name: node}}",
                  "PodGroup/g#node min 4"},
        GroupCase{"that asks for fewer than a stage has",
                  {XK8S("{minMember: 2}") " | TrainJob/t", STAGES " | TrainJob/t"},
                  "{labels: {" IN_XK8S ", jobset.sigs.k8s.io/replicatedjob-name: node}}",
                  "PodGroup/g#node min 2"},
        GroupCase{"a JobSet's with exclusive placement",
                  {XK8S("{minMember: 4}") " | JobSet/t",
                   "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: t, "
                   "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}}, spec: "
                   "{replicatedJobs: [{name: w, replicas: 2, template: {spec: {parallelism: "
                   "2}}}]}}"},
                  "{labels: {" IN_XK8S ", jobset.sigs.k8s.io/replicatedjob-name: w, "
                  "batch.kubernetes.io/job-completion-index: '0'}}",
                  "PodGroup/g min 4, leader 2, follower 2 after its lead: leader"},
        GroupCase{"of a LeaderWorkerSet with exclusive placement",
                  {XK8S("{minMember: 3}"),
                   "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: "
                   "{name: l, annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: "
                   "rack}}, spec: {leaderWorkerTemplate: {size: 3}}}"},
                  "{labels: {" IN_XK8S ", leaderworkerset.sigs.k8s.io/name: l, "
                  "leaderworkerset.sigs.k8s.io/worker-index: '2'}}",
                  "PodGroup/g min 3, leader 1, workers 2 after its lead: workers"},
        GroupCase{"a JobSet's in stages",
                  {XK8S("{minMember: 5}") " | JobSet/t", STAGES},
                  "{labels: {" IN_XK8S ", jobset.sigs.k8s.io/replicatedjob-name: init}}",
                  "PodGroup/g#init min 1"}));

#define UPSTREAM(spec) \
  "{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: g}, spec: " spec "}"
#define KAI(spec) \
  "{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g}, spec: " spec "}"
#define GROVE(spec) \
  "{apiVersion: scheduler.grove.io/v1alpha1, kind: PodGang, metadata: {name: g}, spec: " spec "}"

INSTANTIATE_TEST_SUITE_P(
    Others, Groups,
    testing::Values(
        GroupCase{"upstream gang",
                  {UPSTREAM("{schedulingPolicy: {gang: {minCount: 4}}, priorityClassName: high}")},
                  "{labels: {scheduling-group: g}}",
                  "PodGroup/g min 4, class high"},
        GroupCase{"upstream basic asks for no gang",
                  {UPSTREAM("{schedulingPolicy: {basic: {}}}")},
                  "{labels: {scheduling-group: g}}",
                  "single"},
        GroupCase{"upstream basic hides nothing",
                  {UPSTREAM("{schedulingPolicy: {basic: {}}}"), KAI("{minMember: 2}")},
                  "{labels: {scheduling-group: g}, annotations: {pod-group-name: g}}",
                  "PodGroup/g min 2"},
        GroupCase{"KAI",
                  {KAI("{minMember: 3, queue: theirs}")},
                  "{annotations: {pod-group-name: g}}",
                  "PodGroup/g min 3, queue ours"},
        GroupCase{"KAI asks for nothing",
                  {KAI("{minMember: 0}")},
                  "{annotations: {pod-group-name: g}}",
                  "PodGroup/g min 1"},
        GroupCase{"KAI's nested sub-groups",
                  {KAI("{subGroups: [{name: top, minSubGroup: 2}, {name: a, minMember: 1, parent: "
                       "top}, {name: b, minMember: 2, parent: top}]}")},
                  "{annotations: {pod-group-name: g}, labels: {kai.scheduler/subgroup-name: b}}",
                  "PodGroup/g min 3, a 1, b 2: b"},
        GroupCase{"KAI needs some of its sub-groups",
                  {KAI("{minSubGroup: 1, subGroups: [{name: a, minMember: 3}, {name: b, minMember: "
                       "2}]}")},
                  "{annotations: {pod-group-name: g}, labels: {kai.scheduler/subgroup-name: b}}",
                  "PodGroup/g min 2"},
        GroupCase{"KAI needs some of its sub-groups, each in one rack",
                  {KAI("{minSubGroup: 1, subGroups: [{name: a, minMember: 3}, {name: b, minMember: "
                       "2, topologyConstraint: {requiredTopologyLevel: rack}}]}")},
                  "{annotations: {pod-group-name: g}, labels: {kai.scheduler/subgroup-name: b}}",
                  "PodGroup/g INVALID spec.subGroups[b].topologyConstraint: with minSubGroup "
                  "below the number of groups, one group cannot be kept within one rack"},
        GroupCase{"Grove lists its pods",
                  {GROVE("{podgroups: [{name: a, minReplicas: 1, podReferences: [{name: o}]}, "
                         "{name: b, minReplicas: 2, podReferences: [{namespace: ns, name: p}]}]}")},
                  "{labels: {grove.io/podgang: g}}",
                  "PodGang/g min 3, a 1, b 2: b"},
        GroupCase{"Koordinator's object",
                  {"{apiVersion: scheduling.sigs.k8s.io/v1alpha1, kind: PodGroup, metadata: {name: "
                   "g}, spec: {minMember: 2}}"},
                  "{labels: {pod-group.scheduling.sigs.k8s.io: g}}",
                  "PodGroup/g min 2"},
        GroupCase{"Koordinator's annotations",
                  {},
                  "{annotations: {gang.scheduling.koordinator.sh/name: g, "
                  "gang.scheduling.koordinator.sh/min-available: '3'}}",
                  "Pod/g#koordinator min 3"},
        GroupCase{"Koordinator's gangs that start together",
                  {},
                  "{annotations: {gang.scheduling.koordinator.sh/name: b, "
                  "gang.scheduling.koordinator.sh/min-available: '3', "
                  "gang.scheduling.koordinator.sh/groups: '[\"ns/b\", \"ns/a\"]'}}",
                  "Pod/a,b#koordinator min 4, a 1, b 3: b"},
        GroupCase{"Kueue's plain pods",
                  {},
                  "{labels: {kueue.x-k8s.io/pod-group-name: g}, annotations: "
                  "{kueue.x-k8s.io/pod-group-total-count: '3'}}",
                  "Pod/g#kueue min 3"},
        GroupCase{"Kueue's pods that need not start together",
                  {},
                  "{labels: {kueue.x-k8s.io/pod-group-name: g}, annotations: "
                  "{kueue.x-k8s.io/pod-group-total-count: '3', "
                  "kueue.x-k8s.io/pod-group-fast-admission: 'true'}}",
                  "Pod/g#kueue min 1"},
        GroupCase{"Kueue's of pods whose owner says what the gang is",
                  {},
                  "{labels: {kueue.x-k8s.io/pod-group-name: g}, annotations: "
                  "{kueue.x-k8s.io/pod-group-total-count: '3', "
                  "kueue.x-k8s.io/pod-suspending-parent: leaderworkerset}}",
                  "single"},
        GroupCase{"Kueue's without a number",
                  {},
                  "{labels: {kueue.x-k8s.io/pod-group-name: g}}",
                  "Pod/g#kueue INVALID "
                  "metadata.annotations[kueue.x-k8s.io/pod-group-total-count] of a pod: is "
                  "missing"},
        GroupCase{"YuniKorn's task groups",
                  {},
                  "{labels: {yunikorn.apache.org/app-id: g}, annotations: "
                  "{yunikorn.apache.org/task-group-name: head, yunikorn.apache.org/task-groups: "
                  "'[{\"name\": \"head\", \"minMember\": 1}, {\"name\": \"work\", \"minMember\": "
                  "4}]'}}",
                  "Pod/g#yunikorn min 5, head 1 once there, work 4 once there: head"},
        GroupCase{"YuniKorn's, whose queue a bare label names",
                  {},
                  "{labels: {applicationId: g, queue: theirs}, annotations: "
                  "{yunikorn.apache.org/task-group-name: head, yunikorn.apache.org/task-groups: "
                  "'[{\"name\": \"head\", \"minMember\": 2}]'}}",
                  "Pod/g#yunikorn min 2, head 2 once there, queue ours: head"},
        GroupCase{"a bare label without a task group of YuniKorn",
                  {XK8S("{minMember: 4}")},
                  "{labels: {" IN_XK8S ", queue: theirs}}",
                  "PodGroup/g min 4"},
        GroupCase{"YuniKorn's table is no table",
                  {},
                  "{labels: {applicationId: g}, annotations: {yunikorn.apache.org/task-group-name: "
                  "head, yunikorn.apache.org/task-groups: '[{'}}",
                  "Pod/g#yunikorn INVALID metadata.annotations[yunikorn.apache.org/task-groups] of "
                  "a pod: must be a JSON list"},
        GroupCase{"an application of YuniKorn without task groups is no gang",
                  {},
                  "{labels: {yunikorn.apache.org/app-id: g}}",
                  "single"}));

// The pods of a job made anew may be seen before its group is.
TEST(Groups, APodWaitsForTheGroupOfItsOwnJobNotOfANamesake) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(XK8S("{minMember: 2}"), "PyTorchJob/train@old");
  world.Put("p", "{labels: {" IN_XK8S "}}", "PyTorchJob/train@new");
  EXPECT_EQ(world.Where("p"), "waits");
  EXPECT_THAT(world.PlaceOf("p").awaited, HasSubstr("PodGroup g"));
  world.Give(
      "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g, uid: "
      "second}, "
      "spec: {minMember: 3}}",
      "PyTorchJob/train@new");
  EXPECT_EQ(world.Where("p"), "PodGroup/g min 3");
}

TEST(Groups, AllMarksAtOnceHaveOneOrder) {
  constexpr char kAll[] =
      "{labels: {scheduling.maniple.dev/pod-group: a, scheduling.x-k8s.io/pod-group: b, "
      "grove.io/podgang: f, yunikorn.apache.org/app-id: h, pod-group.scheduling.sigs.k8s.io: i, "
      "kueue.x-k8s.io/pod-group-name: j}, annotations: {scheduling.k8s.io/group-name: c, "
      "pod-group-name: e, yunikorn.apache.org/task-group-name: t}}";
  DirectoryWorld world;
  world.ServeAll();
  Pod pod = PodWith("p", kAll, "Job/k");
  pod.scheduling_group = "d";
  (void)world.directory_.Put(PodId(0), pod, world.change_);
  const PodPlace place = world.directory_.PlaceOf(PodId(0));
  EXPECT_EQ(place.group_name, "a");
  size_t at = 0;
  for (const char* name : {"=b (", "=c (", "=d (", "=e (", "=f (", "=h (", "=i (", "=j ("}) {
    const size_t found = place.passed_over.find(name);
    ASSERT_NE(found, std::string::npos) << name << " in " << place.passed_over;
    EXPECT_GE(found, at);
    at = found;
  }
}

TEST(Groups, TheLargestNumberOfSeveralPodsStands) {
  DirectoryWorld world;
  const auto put = [&](absl::string_view pod, absl::string_view count) {
    world.Put(pod, absl::StrCat("{labels: {kueue.x-k8s.io/pod-group-name: g}, annotations: "
                                "{kueue.x-k8s.io/pod-group-total-count: '",
                                count, "'}}"));
  };
  put("a", "3");
  put("b", "5");
  EXPECT_EQ(world.Where("a"), "Pod/g#kueue min 5");
  EXPECT_FALSE(world.GangOf("a")->owner.has_value());
  EXPECT_FALSE(world.GangOf("a")->spec.source.uid.empty());
  world.Forget("b");
  EXPECT_EQ(world.Where("a"), "Pod/g#kueue min 3");
}

TEST(Groups, ATimeoutOfZeroIsNone) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(XK8S("{minMember: 2, scheduleTimeoutSeconds: 0}"));
  world.Put("p", "{labels: {" IN_XK8S "}}");
  EXPECT_EQ(world.GangOf("p")->spec.schedule_timeout, absl::Seconds(60));
  world.Give(XK8S("{minMember: 2, scheduleTimeoutSeconds: 90}"));
  EXPECT_EQ(world.GangOf("p")->spec.schedule_timeout, absl::Seconds(90));
}

TEST(Groups, OneOfSeveralStagesHasTheStatusOfTheObject) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(STAGES);
  world.Give(XK8S("{minMember: 5}"), "JobSet/t");
  world.Put("a", "{labels: {" IN_XK8S ", jobset.sigs.k8s.io/replicatedjob-name: init}}");
  world.Put("b", "{labels: {" IN_XK8S ", jobset.sigs.k8s.io/replicatedjob-name: node}}");
  EXPECT_NE(world.PlaceOf("a").group_name, world.PlaceOf("b").group_name);
  EXPECT_FALSE(world.GangOf("a")->status.has_value());
  EXPECT_TRUE(world.GangOf("b")->status.has_value());
}

// Groups of groups: "train" needs both of its parts, "workers" two of its replicas.
class Composites : public testing::Test {
 protected:
  Composites() { world_.ServeAll(); }

  static std::string Object(absl::string_view kind, absl::string_view name,
                            absl::string_view parent, absl::string_view spec) {
    return absl::StrCat("{apiVersion: scheduling.k8s.io/v1alpha3, kind: ", kind,
                        ", metadata: {name: ", name, "}, spec: {parentCompositePodGroupName: '",
                        parent, "', ", spec, "}}");
  }
  static std::string Group(absl::string_view name, absl::string_view parent, int least) {
    return Object("PodGroup", name, parent,
                  absl::StrCat("schedulingPolicy: {gang: {minCount: ", least, "}}"));
  }
  static std::string Composite(absl::string_view name, absl::string_view parent, int least) {
    return Object("CompositePodGroup", name, parent,
                  absl::StrCat("schedulingPolicy: {gang: {minGroupCount: ", least, "}}"));
  }
  void Member(absl::string_view name, absl::string_view group) {
    Pod pod = PodWith(name, "", "");
    pod.scheduling_group = std::string(group);
    (void)world_.directory_.Put(world_.ids_.Intern(name), pod, world_.change_);
  }
  void GiveTree() {
    world_.GiveMadeAt(1, Composite("train", "", 2));
    world_.GiveMadeAt(2, Composite("workers", "train", 2));
    world_.GiveMadeAt(3, Group("driver", "train", 1));
    for (int i = 0; i < 3; ++i) {
      world_.GiveMadeAt(4 + i, Group(absl::StrCat("replica-", i), "workers", 4 + i));
    }
  }

  DirectoryWorld world_;
};

TEST_F(Composites, AreOneGangOfTheirGroups) {
  GiveTree();
  Member("p", "replica-0");
  Member("d", "driver");
  EXPECT_EQ(world_.Where("p"),
            "CompositePodGroup/train min 10, replica-0 4, replica-1 5, driver 1: replica-0");
  EXPECT_EQ(world_.PlaceOf("d").group_name, world_.PlaceOf("p").group_name);
}

// A quorum that counted it would be lost once it comes.
TEST_F(Composites, AGroupBeyondThoseThatHaveToBeThereIsInTheGangAllTheSame) {
  GiveTree();
  Member("late", "replica-2");
  EXPECT_EQ(world_.Where("late"),
            "CompositePodGroup/train min 10, replica-0 4, replica-1 5, driver 1");
}

TEST_F(Composites, WaitForGroupsThatAreNotThereYet) {
  Member("p", "replica-0");
  EXPECT_EQ(world_.Where("p"), "waits");
  world_.GiveMadeAt(3, Group("replica-0", "workers", 4));
  EXPECT_EQ(world_.Where("p"), "waits");
  EXPECT_EQ(world_.PlaceOf("p").awaited, "CompositePodGroup workers (scheduling.k8s.io)");
  world_.GiveMadeAt(1, Composite("workers", "", 3));
  EXPECT_EQ(world_.Where("p"),
            "CompositePodGroup/workers min 6, replica-0 4, workers.missing 2: replica-0");
}

TEST_F(Composites, ABasicOneAsksForNothing) {
  world_.GiveMadeAt(1, Object("CompositePodGroup", "all", "", "schedulingPolicy: {basic: {}}"));
  world_.GiveMadeAt(2, Composite("each", "all", 1));
  world_.GiveMadeAt(3, Group("in", "each", 2));
  world_.GiveMadeAt(4, Group("alone", "all", 3));
  Member("p", "in");
  Member("q", "alone");
  EXPECT_EQ(world_.Where("p"), "CompositePodGroup/each min 2, in 2: in");
  EXPECT_EQ(world_.Where("q"), "PodGroup/alone min 3");
}

TEST_F(Composites, PlacesAreForTheOutermostAndTheGroups) {
  const std::string in_rack =
      "schedulingPolicy: {gang: {}}, schedulingConstraints: {topology: [{key: rack}]}";
  world_.GiveMadeAt(1, Object("CompositePodGroup", "train", "", in_rack));
  world_.GiveMadeAt(2, Object("PodGroup", "a", "train", in_rack));
  Member("p", "a");
  EXPECT_EQ(world_.Where("p"), "CompositePodGroup/train min 1 in rack, a 1 in rack: a");
  world_.GiveMadeAt(2, Object("CompositePodGroup", "mid", "train", in_rack));
  world_.GiveMadeAt(2, Object("PodGroup", "a", "mid", in_rack));
  EXPECT_EQ(world_.Where("p"),
            "CompositePodGroup/train INVALID CompositePodGroup mid (scheduling.k8s.io): "
            "spec.schedulingConstraints: only the outermost group and PodGroups may have them");
}

TEST_F(Composites, ARingIsNoGang) {
  world_.GiveMadeAt(1, Composite("a", "b", 1));
  world_.GiveMadeAt(1, Composite("b", "a", 1));
  world_.GiveMadeAt(2, Group("g", "a", 2));
  Member("p", "g");
  EXPECT_EQ(world_.Where("p"),
            "PodGroup/g INVALID spec.parentCompositePodGroupName: leads through more than 4 "
            "groups, or in a ring");
}

TEST_F(Composites, WhoGoesIsMissedAndANamesakeIsAnotherGang) {
  GiveTree();
  Member("p", "replica-0");
  const std::string before = world_.PlaceOf("p").group_name;
  world_.Take("scheduling.k8s.io/v1alpha3", "PodGroup", "driver");
  EXPECT_EQ(world_.Where("p"),
            "CompositePodGroup/train min 10, replica-0 4, replica-1 5, train.missing 1: replica-0");
  world_.Take("scheduling.k8s.io/v1alpha3", "CompositePodGroup", "train");
  EXPECT_EQ(world_.Where("p"), "waits");
  EXPECT_EQ(world_.directory_.Find({"ns", before}), nullptr);
}

TEST_F(Composites, NamesThatAreTooLongForASubGroupAreCut) {
  const std::string name(100, 'g');
  world_.GiveMadeAt(1, Composite("train", "", 1));
  world_.GiveMadeAt(2, Group(name, "train", 2));
  Member("p", name);
  const std::string part = world_.PlaceOf("p").sub_group;
  EXPECT_EQ(part.size(), 63);
  EXPECT_EQ(world_.Where("p"), absl::StrCat("CompositePodGroup/train min 2, ", part, " 2: ", part));
}

}  // namespace
}  // namespace maniple
