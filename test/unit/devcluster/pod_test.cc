// Pods: what admission and defaulting make of them, what is refused, what may change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/unit/devcluster/cluster.h"

namespace maniple::devcluster::devcluster_pod_test {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kPods = TestCluster::kPods;

std::string PathOf(absl::string_view pod) { return absl::StrCat(kPods, "/", pod); }

Json PodWith(absl::string_view spec) {
  return FromText(absl::StrCat("{'metadata':{'name':'p'},'spec':{", spec, "}}"));
}

constexpr absl::string_view kContainer = "'containers':[{'name':'main','image':'i:1'}]";

Answer Create(TestCluster& cluster, absl::string_view more_spec) {
  return cluster.Post(kPods, PodWith(absl::StrCat(kContainer, more_spec)));
}

TEST(PodDefaults, FillWhatKubernetesFills) {
  TestCluster cluster;
  const Json pod = cluster.MakePod("p");
  const Json& spec = pod["spec"];
  EXPECT_EQ(spec["restartPolicy"].AsString(), "Always");
  EXPECT_EQ(spec["schedulerName"].AsString(), "default-scheduler");
  EXPECT_EQ(spec["terminationGracePeriodSeconds"].AsInt(), 30);
  EXPECT_EQ(spec["dnsPolicy"].AsString(), "ClusterFirst");
  EXPECT_TRUE(spec["enableServiceLinks"].AsBool());
  EXPECT_EQ(spec["priority"].AsInt(), 0);
  EXPECT_EQ(spec["preemptionPolicy"].AsString(), "PreemptLowerPriority");
  EXPECT_EQ(spec["tolerations"].size(), 2);
  EXPECT_EQ(spec["containers"].items()[0]["imagePullPolicy"].AsString(), "IfNotPresent");
  EXPECT_EQ(pod.At("metadata.generation").AsInt(), 1);
  EXPECT_EQ(pod["status"], FromText("{'phase':'Pending','qosClass':'BestEffort'}"));
}

TEST(PodDefaults, AProjectedTokenLivesForAnHourUnlessToldOtherwise) {
  TestCluster cluster;
  const Json pod = cluster.MakePod(
      "p",
      ",'volumes':[{'name':'v','projected':{'sources':[{'serviceAccountToken':{'path':'a'}},"
      "{'serviceAccountToken':{'path':'b','expirationSeconds':600}},"
      "{'configMap':{'name':'c'}}]}}]");
  const Json& projected = pod.At("spec.volumes").items()[0]["projected"];
  EXPECT_EQ(projected["sources"],
            FromText("[{'serviceAccountToken':{'path':'a','expirationSeconds':3600}},"
                     "{'serviceAccountToken':{'path':'b','expirationSeconds':600}},"
                     "{'configMap':{'name':'c'}}]"));
}

TEST(PodDefaults, RequestsComeFromLimitsInCanonicalForm) {
  TestCluster cluster;
  const Answer pod =
      cluster.Post(kPods, PodWith("'containers':[{'name':'c','image':'i','resources':{'limits':"
                                  "{'cpu':'1000m','memory':'1.5Gi','nvidia.com/gpu':8}}}]"));
  ASSERT_EQ(pod.code, 201);
  const Json& resources = pod.At("spec.containers").items()[0]["resources"];
  EXPECT_EQ(resources["requests"], FromText("{'cpu':'1','memory':'1536Mi','nvidia.com/gpu':'8'}"));
  EXPECT_EQ(pod.At("status.qosClass").AsString(), "Guaranteed");
}

TEST(PodAdmission, APriorityClassGivesThePriority) {
  TestCluster cluster;
  cluster.Make("/apis/scheduling.k8s.io/v1/priorityclasses",
               "{'metadata':{'name':'high'},'value':1000,'preemptionPolicy':'Never'}");
  const Answer pod = Create(cluster, ",'priorityClassName':'high'");
  EXPECT_EQ(pod.At("spec.priority").AsInt(), 1000);
  EXPECT_EQ(pod.At("spec.preemptionPolicy").AsString(), "Never");
}

TEST(PodAdmission, TheDefaultClassIsUsedWhenNoneIsNamed) {
  TestCluster cluster;
  cluster.Make("/apis/scheduling.k8s.io/v1/priorityclasses",
               "{'metadata':{'name':'usual'},'value':7,'globalDefault':true}");
  const Answer pod = Create(cluster, "");
  EXPECT_EQ(pod.At("spec.priority").AsInt(), 7);
  EXPECT_EQ(pod.At("spec.priorityClassName").AsString(), "usual");
}

TEST(PodAdmission, AnUnknownClassIsForbidden) {
  TestCluster cluster;
  const Answer refused = Create(cluster, ",'priorityClassName':'nothing'");
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.message(),
            "pods \"p\" is forbidden: no PriorityClass with name nothing was found");
}

TEST(PodAdmission, ARuntimeClassAddsItsOverheadAndSelector) {
  TestCluster cluster;
  cluster.Make("/apis/node.k8s.io/v1/runtimeclasses",
               "{'metadata':{'name':'kata'},'handler':'kata','overhead':{'podFixed':"
               "{'cpu':'250m'}},'scheduling':{'nodeSelector':{'kata':'yes'}}}");
  const Answer pod = Create(cluster, ",'runtimeClassName':'kata'");
  EXPECT_EQ(pod.At("spec.overhead.cpu").AsString(), "250m");
  EXPECT_EQ(pod.At("spec.nodeSelector.kata").AsString(), "yes");
  EXPECT_EQ(Create(cluster, ",'runtimeClassName':'none'").code, 403);
}

TEST(PodAdmission, AGatedPodSaysSoInItsStatus) {
  TestCluster cluster;
  const Json pod = cluster.MakePod("p", ",'schedulingGates':[{'name':'example.com/wait'}]");
  const Json& condition = pod.At("status.conditions").items()[0];
  EXPECT_EQ(condition["type"].AsString(), "PodScheduled");
  EXPECT_EQ(condition["status"].AsString(), "False");
  EXPECT_EQ(condition["reason"].AsString(), "SchedulingGated");
}

struct Refusal {
  absl::string_view spec;
  int code;
  absl::string_view says;
};

class RefusedPod : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedPod, IsRefusedWithItsReason) {
  TestCluster cluster;
  const Answer refused = cluster.Post(kPods, PodWith(GetParam().spec));
  EXPECT_EQ(refused.code, GetParam().code);
  EXPECT_THAT(refused.message(), HasSubstr(std::string(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedPod,
    testing::Values(
        Refusal{"", 422, "spec.containers: Required value"},
        Refusal{"'containers':[]", 422, "spec.containers: Required value"},
        Refusal{"'containers':[{'name':'a','image':'i'},{'name':'a','image':'i'}]", 422,
                "spec.containers[1].name: Duplicate value: \"a\""},
        Refusal{"'containers':[{'name':'a'}]", 422, "spec.containers[0].image: Required value"},
        Refusal{"'containers':'many'", 400, "cannot unmarshal string"},
        Refusal{"'containers':[{'name':'a','image':'i','resources':{'requests':{'cpu':'lots'}}}]",
                400, "quantities must match"},
        Refusal{"'containers':[{'name':'a','image':'i','resources':{'requests':{'cpu':'-1'}}}]",
                422, "must be greater than or equal to 0"},
        Refusal{"'containers':[{'name':'a','image':'i','resources':"
                "{'requests':{'nvidia.com/gpu':'1'}}}]",
                422, "Limit must be set for non overcommitable resources"},
        Refusal{"'containers':[{'name':'a','image':'i','resources':"
                "{'requests':{'nvidia.com/gpu':'1'},'limits':{'nvidia.com/gpu':'2'}}}]",
                422, "must be equal to nvidia.com/gpu limit of 2"},
        Refusal{"'containers':[{'name':'a','image':'i','resources':"
                "{'limits':{'nvidia.com/gpu':'500m'}}}]",
                422, "must be an integer"},
        Refusal{"'containers':[{'name':'a','image':'i','resources':"
                "{'requests':{'cpu':'2'},'limits':{'cpu':'1'}}}]",
                422, "must be less than or equal to cpu limit of 1"},
        Refusal{"'containers':[{'name':'a','image':'i'}],'nodeName':'n',"
                "'schedulingGates':[{'name':'w'}]",
                422, "cannot be set until all schedulingGates have been cleared"},
        Refusal{"'containers':[{'name':'a','image':'i'}],'restartPolicy':'Sometimes'", 422,
                "Unsupported value: \"Sometimes\""},
        Refusal{"'containers':[{'name':'a','image':'i'}],'tolerations':[{'effect':'Never'}]", 422,
                "spec.tolerations[0]"}));

TEST(PodChange, TheSpecIsFixed) {
  TestCluster cluster;
  cluster.MakePod("p");
  const Answer refused =
      cluster.Patch(PathOf("p"), kMergePatch, FromText("{'spec':{'nodeName':'n1'}}"));
  EXPECT_EQ(refused.code, 422);
  EXPECT_THAT(refused.message(),
              HasSubstr("spec: Forbidden: pod updates may not change fields other than"));
}

TEST(PodChange, ImagesLabelsAndMoreTolerationsMayChange) {
  TestCluster cluster;
  cluster.MakePod("p");
  EXPECT_EQ(cluster
                .Patch(PathOf("p"), kStrategicPatch,
                       FromText("{'metadata':{'labels':{'a':'b'}},'spec':{'containers':"
                                "[{'name':'main','image':'i:2'}]}}"))
                .code,
            200);
  EXPECT_EQ(cluster
                .Patch(PathOf("p"), kJsonPatch,
                       FromText("[{'op':'add','path':'/spec/tolerations/-','value':"
                                "{'key':'k','operator':'Exists'}}]"))
                .code,
            200);
}

TEST(PodChange, APatchOfAllTolerationsKeepsThoseOfShortOutages) {
  TestCluster cluster;
  cluster.MakePod("p");
  const Answer patched =
      cluster.Patch(PathOf("p"), kStrategicPatch,
                    FromText("{'spec':{'tolerations':[{'key':'q','operator':'Exists'}]}}"));
  ASSERT_EQ(patched.code, 200) << patched.message();
  const std::vector<Json>& tolerations = patched.At("spec.tolerations").items();
  ASSERT_EQ(tolerations.size(), 3u);
  EXPECT_EQ(tolerations[0], FromText("{'key':'q','operator':'Exists'}"));
  EXPECT_EQ(tolerations[1],
            FromText("{'key':'node.kubernetes.io/not-ready','operator':'Exists','effect':"
                     "'NoExecute','tolerationSeconds':300}"));
  EXPECT_EQ(tolerations[2]["key"].AsString(), "node.kubernetes.io/unreachable");
  EXPECT_EQ(cluster.Patch(PathOf("p"), kMergePatch, FromText("{'spec':{'tolerations':null}}")).code,
            422)
      << "the toleration of q stays";
}

TEST(PodChange, GatesGoButDoNotCome) {
  TestCluster cluster;
  cluster.MakePod("p", ",'schedulingGates':[{'name':'a'},{'name':'b'}]");
  EXPECT_EQ(cluster
                .Patch(PathOf("p"), kJsonPatch,
                       FromText("[{'op':'remove','path':'/spec/schedulingGates/0'}]"))
                .code,
            200);
  const Answer refused = cluster.Patch(PathOf("p"), kMergePatch,
                                       FromText("{'spec':{'schedulingGates':"
                                                "[{'name':'b'},{'name':'c'}]}}"));
  EXPECT_EQ(refused.code, 422);
  EXPECT_THAT(refused.message(), HasSubstr("found new scheduling gate 'c'"));
}

TEST(PodChange, AGatedPodMayNarrowItsNodeSelector) {
  TestCluster cluster;
  cluster.MakePod("p", ",'nodeSelector':{'a':'1'},'schedulingGates':[{'name':'w'}]");
  EXPECT_EQ(
      cluster.Patch(PathOf("p"), kMergePatch, FromText("{'spec':{'nodeSelector':{'b':'2'}}}")).code,
      200);
  EXPECT_EQ(
      cluster.Patch(PathOf("p"), kMergePatch, FromText("{'spec':{'nodeSelector':{'a':'3'}}}")).code,
      422);
}

TEST(PodStatus, IsSeparateFromTheSpec) {
  TestCluster cluster;
  cluster.MakePod("p");
  const Answer by_status =
      cluster.Patch(PathOf("p") + "/status", kMergePatch,
                    FromText("{'spec':{'schedulerName':'other'},'status':{'phase':'Running'}}"));
  EXPECT_EQ(by_status.At("status.phase").AsString(), "Running");
  EXPECT_EQ(by_status.At("spec.schedulerName").AsString(), "default-scheduler");
  const Answer by_main =
      cluster.Patch(PathOf("p"), kMergePatch, FromText("{'status':{'phase':'Failed'}}"));
  EXPECT_EQ(by_main.At("status.phase").AsString(), "Running");
}

TEST(PodStatus, ConditionsMergeByType) {
  TestCluster cluster;
  cluster.MakePod("p");
  const std::string path = PathOf("p") + "/status";
  cluster.Patch(path, kStrategicPatch,
                FromText("{'status':{'conditions':[{'type':'PodScheduled','status':'False',"
                         "'reason':'Unschedulable'}]}}"));
  const Answer both =
      cluster.Patch(path, kStrategicPatch,
                    FromText("{'status':{'conditions':[{'type':'Other','status':'True'}]}}"));
  EXPECT_EQ(both.At("status.conditions").size(), 2);
}

TEST(PodStatus, ANominationOfABoundPodIsRefused) {
  TestCluster cluster;
  cluster.MakePod("p");
  cluster.Bind("p", "n1");
  EXPECT_EQ(cluster
                .Patch(PathOf("p") + "/status", kMergePatch,
                       FromText("{'status':{'nominatedNodeName':'n2'}}"))
                .code,
            422);
}

TEST(PodStatus, AnotherUidInAPatchIsInvalid) {
  TestCluster cluster;
  cluster.MakePod("p");
  const Answer refused = cluster.Patch(PathOf("p") + "/status", kStrategicPatch,
                                       FromText("{'metadata':{'uid':'x'},'status':{}}"));
  EXPECT_EQ(refused.code, 422);
  EXPECT_THAT(refused.message(), HasSubstr("metadata.uid"));
}

}  // namespace
}  // namespace maniple::devcluster::devcluster_pod_test
