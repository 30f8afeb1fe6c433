// Owners of pods: which of them make gangs, how large, in which parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "test/unit/producers/fixture.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct OwnerCase {
  const char* title;
  std::vector<const char*> objects;  // "… | Kind/owner": with that controller
  const char* pod;
  const char* owner;  // of the pod
  const char* where;
};

std::ostream& operator<<(std::ostream& out, const OwnerCase& row) { return out << row.title; }

std::string WhereIn(const OwnerCase& row) {
  DirectoryWorld world;
  world.ServeAll();
  for (const absl::string_view object : row.objects) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(object, absl::MaxSplits(" | ", 1));
    world.Give(halves.first, halves.second);
  }
  world.Put("p", row.pod, row.owner);
  return world.Where("p");
}

class Owners : public testing::TestWithParam<OwnerCase> {};

TEST_P(Owners, MakeTheGangThatTheirPodsCanBe) { EXPECT_EQ(WhereIn(GetParam()), GetParam().where); }

#define JOB "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: "
#define QUEUED_JOB                                                 \
  "{apiVersion: batch/v1, kind: Job, metadata: {name: j, labels: " \
  "{scheduling.maniple.dev/queue: q}}, spec: {parallelism: 1}}"
#define OWNED(name, owner) \
  "{apiVersion: batch/v1, kind: Job, metadata: {name: " name "}, spec: {}} | Job/" owner
#define INDEXED JOB "{completionMode: Indexed, parallelism: 4, completions: 4}}"

INSTANTIATE_TEST_SUITE_P(
    Jobs, Owners,
    testing::Values(
        OwnerCase{"indexed", {INDEXED}, "", "Job/j", "Job/j min 4"},
        OwnerCase{"not indexed", {JOB "{parallelism: 4, completions: 4}}"}, "", "Job/j", "single"},
        OwnerCase{"indexed, not all at once",
                  {JOB "{completionMode: Indexed, parallelism: 4, completions: 8}}"},
                  "",
                  "Job/j",
                  "single"},
        OwnerCase{"of one",
                  {JOB "{completionMode: Indexed, parallelism: 1, completions: 1}}"},
                  "",
                  "Job/j",
                  "single"},
        OwnerCase{"that says nothing", {JOB "{}}"}, "", "Job/j", "single"},
        OwnerCase{"annotated pods",
                  {JOB "{parallelism: 4}}"},
                  "{annotations: {scheduling.maniple.dev/min-member: '3'}}",
                  "Job/j",
                  "Job/j min 3"},
        OwnerCase{"annotated by KAI",
                  {"{apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: "
                   "{kai.scheduler/batch-min-member: '2'}}, spec: {parallelism: 4}}"},
                  "",
                  "Job/j",
                  "Job/j min 2"},
        OwnerCase{"annotated by Volcano",
                  {"{apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: "
                   "{scheduling.volcano.sh/group-min-member: '2'}}, spec: {parallelism: 4}}"},
                  "",
                  "Job/j",
                  "Job/j min 2"},
        OwnerCase{"of one, as its owner says", {QUEUED_JOB}, "", "Job/j", "single, queue q"},
        OwnerCase{
            "of none", {}, "{annotations: {volcano.sh/queue-name: v}}", "", "single, queue v"},
        OwnerCase{"some of whose indexes failed for good",
                  {JOB "{completionMode: Indexed, parallelism: 8, completions: 8}, status: "
                       "{failedIndexes: '1,3-5'}}"},
                  "",
                  "Job/j",
                  "Job/j min 4"},
        OwnerCase{"all but one of whose indexes failed for good",
                  {JOB "{completionMode: Indexed, parallelism: 3, completions: 3}, status: "
                       "{failedIndexes: '0-1'}}"},
                  "",
                  "Job/j",
                  "Job/j min 1"},
        OwnerCase{"whose failed indexes make no sense but for one",
                  {JOB "{completionMode: Indexed, parallelism: 3, completions: 3}, status: "
                       "{failedIndexes: '5-2,x,-,,1-,2'}}"},
                  "",
                  "Job/j",
                  "Job/j min 2"},
        OwnerCase{"asked for more than can be there",
                  {JOB "{parallelism: 4, completions: 10}, status: {succeeded: 7}}"},
                  "{annotations: {scheduling.maniple.dev/min-member: '9'}}",
                  "Job/j",
                  "Job/j min 3"},
        OwnerCase{"asked for, and all but one have succeeded",
                  {JOB "{parallelism: 4, completions: 4}, status: {succeeded: 3}}"},
                  "{annotations: {scheduling.maniple.dev/min-member: '4'}}",
                  "Job/j",
                  "Job/j min 1"},
        OwnerCase{"no gang by annotation",
                  {INDEXED},
                  "{annotations: {scheduling.maniple.dev/min-member: '1'}}",
                  "Job/j",
                  "single"},
        OwnerCase{"senseless annotation",
                  {INDEXED},
                  "{annotations: {scheduling.maniple.dev/min-member: few}}",
                  "Job/j",
                  "Job/j INVALID metadata.annotations[scheduling.maniple.dev/min-member] of a "
                  "pod: must be a whole number"},
        OwnerCase{"of a CronJob", {INDEXED " | CronJob/c"}, "", "Job/j", "Job/j min 4"},
        OwnerCase{"many more than there are pods",
                  {JOB "{completionMode: Indexed, parallelism: 10000, completions: 10000}}"},
                  "",
                  "Job/j",
                  "Job/j min 10000"},
        OwnerCase{"negative",
                  {JOB "{completionMode: Indexed, parallelism: -1, completions: 4}}"},
                  "",
                  "Job/j",
                  "Job/j INVALID spec.parallelism: must be from 0 to 2147483647 members, is -1"},
        OwnerCase{"too many",
                  {JOB "{completionMode: Indexed, parallelism: 2147483648}}"},
                  "",
                  "Job/j",
                  "Job/j INVALID spec.parallelism: must be from 0 to 2147483647 members, is "
                  "2147483648"},
        OwnerCase{"one of two owners",
                  {INDEXED},
                  "{ownerReferences: [{apiVersion: batch/v1, kind: Job, name: other, uid: o}, "
                  "{apiVersion: batch/v1, kind: Job, name: j, uid: uid-j, controller: true}]}",
                  "",
                  "Job/j min 4"},
        OwnerCase{"owned by itself",
                  {INDEXED " | Job/j"},
                  "",
                  "Job/j",
                  "Job/j INVALID metadata.ownerReferences: the owners form a loop: Job j, then Job "
                  "j"},
        OwnerCase{
            "nine owners, one of the other",
            {INDEXED " | Job/b", OWNED("b", "c"), OWNED("c", "d"), OWNED("d", "e"), OWNED("e", "f"),
             OWNED("f", "g"), OWNED("g", "h"), OWNED("h", "i"), OWNED("i", "k")},
            "",
            "Job/j",
            "Job/j INVALID metadata.ownerReferences: more than 8 owners, one of the other: "
            "Job j, then Job b, then Job c, then Job d, then Job e, then Job f, then Job g, "
            "then Job h, then Job i"}));
#undef OWNED

#define SET "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: "
INSTANTIATE_TEST_SUITE_P(
    StatefulSets, Owners,
    testing::Values(OwnerCase{"plain", {SET "{replicas: 4}}"}, "", "StatefulSet/s", "single"},
                    OwnerCase{"in order, annotated",
                              {SET "{replicas: 4}}"},
                              "{annotations: {scheduling.maniple.dev/min-member: '4'}}",
                              "StatefulSet/s",
                              "single"},
                    OwnerCase{"at once, annotated",
                              {SET "{replicas: 4, podManagementPolicy: Parallel}}"},
                              "{annotations: {scheduling.maniple.dev/min-member: '6'}}",
                              "StatefulSet/s",
                              "StatefulSet/s min 4"},
                    OwnerCase{"annotated pods of a kind that nobody describes",
                              {},
                              "{annotations: {scheduling.maniple.dev/min-member: '3'}}",
                              "ReplicaSet/r",
                              "ReplicaSet/r min 3"}));

#define JOBSET "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: js}, spec: "
#define TWO                                                                         \
  "replicatedJobs: [{name: lead, template: {spec: {}}}, {name: work, replicas: 2, " \
  "template: {spec: {parallelism: 3, completions: 3}}}]"
#define OF_WORK                                                                                 \
  "{labels: {jobset.sigs.k8s.io/jobset-name: js, jobset.sigs.k8s.io/replicatedjob-name: work, " \
  "batch.kubernetes.io/job-completion-index: '1'}}"
#define CHILD INDEXED " | JobSet/js"

INSTANTIATE_TEST_SUITE_P(
    JobSets, Owners,
    testing::Values(
        OwnerCase{"a part per replicated Job",
                  {JOBSET "{" TWO "}}", CHILD},
                  OF_WORK,
                  "Job/j",
                  "JobSet/js min 7, lead 1, work 6: work"},
        OwnerCase{"known by the uid in its labels before its Job is",
                  {JOBSET "{" TWO "}}"},
                  "{labels: {jobset.sigs.k8s.io/jobset-name: js, jobset.sigs.k8s.io/jobset-uid: "
                  "uid-js, jobset.sigs.k8s.io/replicatedjob-name: work}}",
                  "Job/j",
                  "JobSet/js min 7, lead 1, work 6: work"},
        OwnerCase{"named by its labels, whose Job is not known yet",
                  {JOBSET "{" TWO "}}"},
                  OF_WORK,
                  "Job/j",
                  "waits"},
        OwnerCase{"known by its Job alone",
                  {JOBSET "{" TWO "}}", CHILD},
                  "",
                  "Job/j",
                  "JobSet/js min 7, lead 1, work 6"},
        OwnerCase{"one of whose Jobs has failed indexes for good",
                  {JOBSET "{" TWO "}}",
                   JOB "{completionMode: Indexed, parallelism: 3, completions: 3}, status: "
                       "{failedIndexes: '1'}} | JobSet/js"},
                  OF_WORK,
                  "Job/j",
                  "JobSet/js min 6"},
        OwnerCase{"of a TrainJob",
                  {JOBSET "{" TWO "}} | TrainJob/js", CHILD},
                  OF_WORK,
                  "Job/j",
                  "JobSet/js min 7, lead 1, work 6: work"},
        OwnerCase{"whose labels somebody else's Job has",
                  {JOBSET "{" TWO "}}", INDEXED},
                  OF_WORK,
                  "Job/j",
                  "Job/j min 4"},
        OwnerCase{"in order",
                  {JOBSET "{startupPolicy: {startupPolicyOrder: InOrder}, " TWO "}}", CHILD},
                  OF_WORK,
                  "Job/j",
                  "JobSet/js#work min 6"},
        OwnerCase{"dependent",
                  {JOBSET "{replicatedJobs: [{name: init, template: {spec: {parallelism: 2}}}, "
                          "{name: work, replicas: 2, dependsOn: [{name: init, status: Ready}], "
                          "template: {spec: {parallelism: 2}}}]}}",
                   CHILD},
                  OF_WORK,
                  "Job/j",
                  "JobSet/js#work min 4"},
        OwnerCase{"exclusive",
                  {"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: js, "
                   "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}}, spec: "
                   "{replicatedJobs: [{name: work, replicas: 2, template: {spec: {parallelism: "
                   "3}}}]}}",
                   CHILD},
                  OF_WORK,
                  "Job/j",
                  "JobSet/js min 6, leader 2, follower 4 after its lead: follower"},
        OwnerCase{"exclusive by selectors that somebody else sets",
                  {"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: js, "
                   "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack, "
                   "alpha.jobset.sigs.k8s.io/node-selector: 'true'}}, spec: "
                   "{replicatedJobs: [{name: work, replicas: 2, template: {spec: {parallelism: "
                   "3}}}]}}",
                   CHILD},
                  OF_WORK,
                  "Job/j",
                  "JobSet/js min 6, work 6: work"},
        OwnerCase{"that depends on nobody",
                  {JOBSET "{replicatedJobs: [{name: work, dependsOn: [{name: nil}]}]}}", CHILD},
                  OF_WORK,
                  "Job/j",
                  "JobSet/js#work INVALID spec.replicatedJobs[0].dependsOn[0].name: there is no "
                  "replicated Job nil"},
        OwnerCase{"that depends in a loop",
                  {JOBSET "{replicatedJobs: [{name: a, dependsOn: [{name: work}]}, {name: work, "
                          "dependsOn: [{name: a}]}]}}",
                   CHILD},
                  OF_WORK,
                  "Job/j",
                  "JobSet/js#work INVALID spec.replicatedJobs[0].dependsOn: forms a loop, so that "
                  "a never starts"},
        OwnerCase{"of too many pods",
                  {JOBSET "{replicatedJobs: [{name: work, replicas: 2147483647, template: {spec: "
                          "{parallelism: 2}}}]}}",
                   CHILD},
                  OF_WORK,
                  "Job/j",
                  "JobSet/js INVALID spec.replicatedJobs[0]: must be from 0 to 2147483647 members, "
                  "is 4294967294"},
        OwnerCase{"whose Job names another uid",
                  {JOBSET "{" TWO "}}", INDEXED " | JobSet/js@older"},
                  OF_WORK,
                  "Job/j",
                  "waits"},
        OwnerCase{"gone", {CHILD}, OF_WORK, "Job/j", "waits"},
        OwnerCase{"annotated",
                  {"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: js, "
                   "annotations: {scheduling.maniple.dev/min-member: '2', "
                   "kai.scheduler/batch-min-member: '1'}}, spec: {" TWO "}}",
                   CHILD},
                  OF_WORK,
                  "Job/j",
                  "JobSet/js min 2"}));

#define LWS \
  "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: l}, spec: "
#define LEADERS                                                                           \
  "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: l}, spec: {replicas: 1}} | " \
  "LeaderWorkerSet/l"
#define OF_LWS(worker)                                                                            \
  "{labels: {leaderworkerset.sigs.k8s.io/name: l, leaderworkerset.sigs.k8s.io/group-index: '1', " \
  "leaderworkerset.sigs.k8s.io/worker-index: '" worker "'}"

INSTANTIATE_TEST_SUITE_P(
    LeaderWorkerSets, Owners,
    testing::Values(
        OwnerCase{"a gang per replica",
                  {LWS "{replicas: 2, leaderWorkerTemplate: {size: 3}}}", LEADERS},
                  OF_LWS("0") "}",
                  "StatefulSet/l",
                  "LeaderWorkerSet/l#1 min 3"},
        OwnerCase{"of the size that the pod says",
                  {LWS "{leaderWorkerTemplate: {size: 3}}}"},
                  OF_LWS("2") ", annotations: {leaderworkerset.sigs.k8s.io/size: '4'}}",
                  "StatefulSet/l-1",
                  "LeaderWorkerSet/l#1 min 4"},
        OwnerCase{"workers after the leader",
                  {LWS "{startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 3}}}"},
                  OF_LWS("2") "}",
                  "StatefulSet/l-1",
                  "LeaderWorkerSet/l#1 min 3, leader 1, workers 2 after its lead: workers"},
        OwnerCase{
            "exclusive",
            {"{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: "
             "{name: l, annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}}, "
             "spec: {leaderWorkerTemplate: {size: 2}}}",
             LEADERS},
            OF_LWS("0") "}",
            "StatefulSet/l",
            "LeaderWorkerSet/l#1 min 2, leader 1, workers 1 after its lead: leader"},
        OwnerCase{"of one", {LWS "{}}", LEADERS}, OF_LWS("0") "}", "StatefulSet/l", "single"},
        OwnerCase{"not there yet", {LEADERS}, OF_LWS("0") "}", "StatefulSet/l", "waits"}));

#define KUBEFLOW(kind, spec) \
  "{apiVersion: kubeflow.org/v1, kind: " kind ", metadata: {name: t}, spec: " spec "}"
#define OF_TYPE(type) "{labels: {training.kubeflow.org/replica-type: " type "}}"
#define MPI_JOB(spec) \
  "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: t}, spec: " spec "}"
#define OF_ROLE(role) \
  "{labels: {training.kubeflow.org/job-name: t, training.kubeflow.org/job-role: " role "}}"

INSTANTIATE_TEST_SUITE_P(
    Kubeflow, Owners,
    testing::Values(
        OwnerCase{
            "PyTorchJob",
            {KUBEFLOW("PyTorchJob", "{pytorchReplicaSpecs: {Worker: {replicas: 3}, Master: {}}}")},
            OF_TYPE("worker"),
            "PyTorchJob/t",
            "PyTorchJob/t min 4, master 1, worker 3: worker"},
        OwnerCase{"minAvailable",
                  {KUBEFLOW("PyTorchJob",
                            "{runPolicy: {schedulingPolicy: {minAvailable: 2, queue: q, "
                            "priorityClass: high}}, elasticPolicy: {minReplicas: 3}, "
                            "pytorchReplicaSpecs: {Worker: {replicas: 4}}}")},
                  OF_TYPE("worker"),
                  "PyTorchJob/t",
                  "PyTorchJob/t min 2, queue q, class high"},
        OwnerCase{"class by KAI's label",
                  {"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: t, labels: "
                   "{priorityClassName: urgent}}, spec: {pytorchReplicaSpecs: {Worker: {replicas: "
                   "4}}}}"},
                  OF_TYPE("worker"),
                  "PyTorchJob/t",
                  "PyTorchJob/t min 4, worker 4, class urgent: worker"},
        OwnerCase{"class by the job before KAI's label",
                  {"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: t, labels: "
                   "{priorityClassName: urgent}}, spec: {runPolicy: {schedulingPolicy: "
                   "{priorityClass: high}}, pytorchReplicaSpecs: {Worker: {replicas: 4}}}}"},
                  OF_TYPE("worker"),
                  "PyTorchJob/t",
                  "PyTorchJob/t min 4, worker 4, class high: worker"},
        OwnerCase{"elastic",
                  {KUBEFLOW("PyTorchJob",
                            "{elasticPolicy: {minReplicas: 3}, pytorchReplicaSpecs: {Worker: "
                            "{replicas: 4, template: {spec: {priorityClassName: low}}}}}")},
                  OF_TYPE("worker"),
                  "PyTorchJob/t",
                  "PyTorchJob/t min 3, class low"},
        OwnerCase{"TFJob",
                  {KUBEFLOW("TFJob",
                            "{tfReplicaSpecs: {PS: {replicas: 2}, Worker: {replicas: "
                            "2}, Evaluator: {replicas: 0}}}")},
                  OF_TYPE("ps"),
                  "TFJob/t",
                  "TFJob/t min 4, ps 2, worker 2: ps"},
        OwnerCase{"XGBoostJob",
                  {KUBEFLOW("XGBoostJob", "{xgbReplicaSpecs: {Master: {}, Worker: {}}}")},
                  OF_TYPE("master"),
                  "XGBoostJob/t",
                  "XGBoostJob/t min 2, master 1, worker 1: master"},
        OwnerCase{"PaddleJob",
                  {KUBEFLOW("PaddleJob", "{paddleReplicaSpecs: {Worker: {replicas: 2}}}")},
                  OF_TYPE("worker"),
                  "PaddleJob/t",
                  "PaddleJob/t min 2, worker 2: worker"},
        OwnerCase{"JAXJob",
                  {KUBEFLOW("JAXJob", "{jaxReplicaSpecs: {Worker: {replicas: 2}}}")},
                  OF_TYPE("worker"),
                  "JAXJob/t",
                  "JAXJob/t min 2, worker 2: worker"},
        OwnerCase{"negative replicas",
                  {KUBEFLOW("JAXJob", "{jaxReplicaSpecs: {Worker: {replicas: -2}}}")},
                  OF_TYPE("worker"),
                  "JAXJob/t",
                  "JAXJob/t INVALID spec.jaxReplicaSpecs.Worker.replicas: must be from 0 to "
                  "2147483647 members, is -2"},
        OwnerCase{"too many in sum",
                  {KUBEFLOW("TFJob",
                            "{tfReplicaSpecs: {PS: {replicas: 2147483647}, Worker: "
                            "{replicas: 1}}}")},
                  OF_TYPE("ps"),
                  "TFJob/t",
                  "TFJob/t INVALID the sum of all replicas: must be from 0 to 2147483647 members, "
                  "is 2147483648"},
        OwnerCase{"MPIJob",
                  {MPI_JOB("{mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: 2}}}")},
                  OF_ROLE("worker"),
                  "MPIJob/t",
                  "MPIJob/t min 3, launcher 1, worker 2: worker"},
        OwnerCase{
            "MPIJob whose launcher is late",
            {MPI_JOB("{launcherCreationPolicy: WaitForWorkersReady, mpiReplicaSpecs: {Launcher: "
                     "{}, Worker: {replicas: 2}}}")},
            OF_ROLE("worker"),
            "MPIJob/t",
            "MPIJob/t min 3, launcher 1 once there, worker 2: worker"},
        OwnerCase{"launcher under its Job",
                  {MPI_JOB("{mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: 2}}}"),
                   JOB "{}} | MPIJob/t"},
                  OF_ROLE("launcher"),
                  "Job/j",
                  "MPIJob/t min 3, launcher 1, worker 2: launcher"},
        OwnerCase{"launcher whose Job is not known",
                  {MPI_JOB("{mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: 2}}}")},
                  OF_ROLE("launcher"),
                  "Job/t-launcher",
                  "waits"}));

#define RAY(spec) "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: r}, spec: " spec "}"
#define OF_GROUP(group) "{labels: {ray.io/group: " group "}}"

INSTANTIATE_TEST_SUITE_P(
    Ray, Owners,
    testing::Values(
        OwnerCase{"head and workers",
                  {RAY("{workerGroupSpecs: [{groupName: w, replicas: 2}, {groupName: x}]}")},
                  OF_GROUP("w"),
                  "RayCluster/r",
                  "RayCluster/r min 3, headgroup 1, w 2: w"},
        OwnerCase{"that grows by itself",
                  {RAY("{enableInTreeAutoscaling: true, workerGroupSpecs: [{groupName: w, "
                       "replicas: 5, minReplicas: 1}]}")},
                  OF_GROUP("headgroup"),
                  "RayCluster/r",
                  "RayCluster/r min 2, headgroup 1, w 1: headgroup"},
        OwnerCase{"replicas within their bounds",
                  {RAY("{workerGroupSpecs: [{groupName: w, replicas: 5, maxReplicas: 3}, "
                       "{groupName: x, minReplicas: 1}]}")},
                  OF_GROUP("x"),
                  "RayCluster/r",
                  "RayCluster/r min 5, headgroup 1, w 3, x 1: x"},
        OwnerCase{"several hosts, and a suspended group",
                  {RAY("{workerGroupSpecs: [{groupName: w, replicas: 2, numOfHosts: 4}, "
                       "{groupName: x, replicas: 2, suspend: true}]}")},
                  OF_GROUP("w"),
                  "RayCluster/r",
                  "RayCluster/r min 9, headgroup 1, w 8: w"},
        OwnerCase{"whose group of x-k8s is larger than what it has come down to",
                  {RAY("{workerGroupSpecs: [{groupName: w, replicas: 2}]}"),
                   "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: "
                   "g}, spec: {minMember: 9}}"},
                  "{labels: {ray.io/group: w, scheduling.x-k8s.io/pod-group: g}}",
                  "RayCluster/r",
                  "PodGroup/g min 3, headgroup 1, w 2: w"},
        OwnerCase{"too many hosts",
                  {RAY("{workerGroupSpecs: [{groupName: w, replicas: 65536, numOfHosts: 65536}]}")},
                  OF_GROUP("w"),
                  "RayCluster/r",
                  "RayCluster/r INVALID spec.workerGroupSpecs[0]: must be from 0 to 2147483647 "
                  "members, is 4294967296"},
        OwnerCase{"two groups of one name",
                  {RAY("{workerGroupSpecs: [{groupName: w, replicas: 1}, {groupName: w, replicas: "
                       "1}]}")},
                  OF_GROUP("w"),
                  "RayCluster/r",
                  "RayCluster/r INVALID two of its parts are named w"},
        OwnerCase{"with a class",
                  {"{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: r, labels: "
                   "{ray.io/priority-class-name: high, kai.scheduler/queue: k}}, spec: "
                   "{workerGroupSpecs: [{groupName: w, replicas: 1}]}} | RayJob/job"},
                  OF_GROUP("w"),
                  "RayCluster/r",
                  "RayCluster/r min 2, headgroup 1, w 1, queue k, class high: w"},
        OwnerCase{"the submitter of a RayJob", {JOB "{}} | RayJob/job"}, "", "Job/j", "single"}));

TEST(Owners, ARestartOfAJobSetIsAnotherGang) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(JOBSET "{" TWO "}}");
  const auto attempt = [&](absl::string_view pod, absl::string_view number) {
    world.Put(pod,
              absl::StrCat("{labels: {jobset.sigs.k8s.io/jobset-name: js, "
                           "jobset.sigs.k8s.io/jobset-uid: uid-js, "
                           "jobset.sigs.k8s.io/restart-attempt: '",
                           number, "'}}"),
              "Job/j");
    return world.PlaceOf(pod).group_name;
  };
  EXPECT_EQ(attempt("a", "0"), attempt("b", "0"));
  EXPECT_NE(attempt("a", "0"), attempt("c", "1"));
}

// The JobSet that has its name may be the old one still, which is smaller.
TEST(Owners, APodOfAJobMadeAnewWaitsForItAndJoinsNoNamesakeOfItsJobSet) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(JOBSET "{" TWO "}}");
  world.Give(INDEXED, "JobSet/js");
  const char* labels = "{labels: {jobset.sigs.k8s.io/jobset-name: js}}";
  world.Put("old", labels, "Job/j");
  world.Put("new", labels, "Job/j@another");
  EXPECT_THAT(world.Where("old"), StartsWith("JobSet/js"));
  EXPECT_EQ(world.PlaceOf("new").awaited, "Job j (batch)");
  EXPECT_NE(world.PlaceOf("new").group_name, world.PlaceOf("old").group_name);
  // The deletion of the old Job may be known before that of the old JobSet.
  world.Forget("old");
  world.Take("batch/v1", "Job", "j");
  world.Put("newer", labels, "Job/j@another");
  EXPECT_EQ(world.PlaceOf("newer").awaited, "Job j (batch)");
}

// Bound for the old set, it would stay there, and the workers of the new one would wait for ever.
TEST(Owners, ALeaderOfALeaderWorkerSetMadeAnewWaitsForItAndJoinsNoNamesake) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(LWS "{leaderWorkerTemplate: {size: 3}}}");
  const auto [set, owner] = std::pair<const char*, const char*>(
      "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: l, uid: sets}, spec: {replicas: "
      "1}}",
      "LeaderWorkerSet/l@another");
  world.Put("p", OF_LWS("0") "}", "StatefulSet/l@sets");
  EXPECT_EQ(world.PlaceOf("p").awaited, "StatefulSet l (apps)") << "it may be of either";
  world.Give(set, owner);
  EXPECT_EQ(world.PlaceOf("p").awaited, "LeaderWorkerSet l (leaderworkerset.x-k8s.io)");
  world.Give(
      "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: l, uid: "
      "another}, spec: {leaderWorkerTemplate: {size: 3}}}");
  EXPECT_THAT(world.Where("p"), StartsWith("LeaderWorkerSet/l"));
}

TEST(Owners, ReplicasAndRevisionsOfALeaderWorkerSetAreGangsOfTheirOwn) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(LWS "{leaderWorkerTemplate: {size: 3}}}");
  const auto group = [&](absl::string_view index, absl::string_view revision) {
    world.Put("p", absl::StrCat("{labels: {leaderworkerset.sigs.k8s.io/name: l, "
                                "leaderworkerset.sigs.k8s.io/group-index: '",
                                index, "', leaderworkerset.sigs.k8s.io/template-revision-hash: ",
                                revision, "}}"));
    return world.PlaceOf("p").group_name;
  };
  EXPECT_EQ(group("0", "r1"), group("0", "r1"));
  EXPECT_NE(group("0", "r1"), group("1", "r1"));
  EXPECT_NE(group("0", "r1"), group("0", "r2"));
}

TEST(Owners, WishesOfPeopleWhoComeFromKaiAreHeeded) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: {kai.scheduler/topology: "
      "t, kai.scheduler/topology-required-placement: rack}}, spec: {completionMode: Indexed, "
      "parallelism: 2, completions: 2}}");
  world.Put("p", "", "Job/j");
  EXPECT_EQ(world.GangOf("p")->spec.topology.topology_name, "t");
  EXPECT_EQ(world.GangOf("p")->spec.topology.required, "rack");
}

TEST(Owners, AWrongTypeIsRefusedWithItsPath) {
  EXPECT_THAT(ReadForeign(JOBSET "{replicatedJobs: {name: a}}}").refused,
              StartsWith("spec.replicatedJobs: must be a list"));
  EXPECT_THAT(ReadForeign(KUBEFLOW("TFJob", "{tfReplicaSpecs: {PS: {replicas: two}}}")).refused,
              StartsWith("spec.tfReplicaSpecs.PS.replicas: must be a whole number"));
  EXPECT_THAT(ReadForeign(JOB "{parallelism: 1.5}}").refused,
              HasSubstr("spec.parallelism: must be a whole number"));
}

}  // namespace
}  // namespace maniple
