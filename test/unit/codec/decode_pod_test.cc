// Pods and nodes: every field the scheduler reads, and every way to get it wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/codec/decode.h"
#include "api/codec/kubernetes_time.h"

namespace maniple::codec_decode_pod_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

DecodedObject Decoded(ResourceKind kind, absl::string_view body) {
  Decoder decoder;
  absl::StatusOr<DecodedObject> object = decoder.Single(kind, body);
  EXPECT_TRUE(object.ok()) << object.status() << " in " << body;
  return object.ok() ? *std::move(object) : DecodedObject{};
}

// The pod with this spec and status.
std::string PodJson(absl::string_view spec, absl::string_view status = "") {
  return absl::StrCat(R"({"metadata":{"name":"p","namespace":"n"},"spec":{)", spec,
                      R"(},"status":{)", status, "}}");
}

Pod PodOf(absl::string_view spec, absl::string_view status = "") {
  const DecodedObject object = Decoded(ResourceKind::kPod, PodJson(spec, status));
  if (const auto* invalid = std::get_if<ObjectInvalid>(&object.what)) {
    ADD_FAILURE() << invalid->problem << " in " << spec;
    return Pod{};
  }
  return std::get<Pod>(std::get<Object>(object.what));
}

std::string ProblemOf(ResourceKind kind, absl::string_view body) {
  const DecodedObject object = Decoded(kind, body);
  const auto* invalid = std::get_if<ObjectInvalid>(&object.what);
  return invalid != nullptr ? invalid->problem : "";
}

std::string PodProblem(absl::string_view spec, absl::string_view status = "") {
  return ProblemOf(ResourceKind::kPod, PodJson(spec, status));
}

std::string RequestsOf(absl::string_view spec, absl::string_view status = "") {
  std::string out;
  for (const ResourceAmount& r : PodOf(spec, status).constraints.requests) {
    absl::StrAppend(&out, out.empty() ? "" : " ", r.resource, "=", r.amount.units());
  }
  return out;
}

TEST(DecodePod, AGracePeriodOfACenturyDoesNotMakeItUnreadable) {
  for (const char* seconds : {"2147483648", "3000000000", "9223372036854775807"}) {
    const DecodedObject object =
        Decoded(ResourceKind::kPod,
                absl::StrCat(R"({"kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"u",)",
                             R"("deletionGracePeriodSeconds":)", seconds, "}}"));
    ASSERT_TRUE(std::holds_alternative<Object>(object.what)) << seconds;
    EXPECT_GT(std::get<Pod>(std::get<Object>(object.what)).meta.deletion_grace,
              absl::Hours(24 * 365 * 60));
  }
}

TEST(DecodePod, ReadsEveryFieldTheSchedulerUses) {
  const DecodedObject object = Decoded(ResourceKind::kPod, R"({"kind":"Pod","apiVersion":"v1",
    "metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"7","generation":2,
      "creationTimestamp":"2026-07-21T10:00:00Z","deletionTimestamp":"2026-07-21T11:00:00Z",
      "labels":{"b":"2","a":"1"},
      "annotations":{"scheduling.maniple.dev/require-nvlink":"true","kubectl.kubernetes.io/last":"{}",
                     "scheduling.k8s.io/group-name":"g","pod-group-name":"k"},
      "ownerReferences":[{"kind":"X","name":"x","uid":"1"},
                         {"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"2","controller":true},
                         {"kind":"Y","name":"y","uid":"3","controller":true}]},
    "spec":{"schedulerName":"maniple","nodeName":"node-1","priorityClassName":"high","priority":-5,
      "preemptionPolicy":"Never","schedulingGates":[{"name":"g1"},{"name":"g2"}],"activeDeadlineSeconds":60,
      "nodeSelector":{"z":"1","a":"2"}},
    "status":{"phase":"Running","reason":"Evicted","nominatedNodeName":"node-2","startTime":"2026-07-21T10:00:05Z",
      "conditions":[{"type":"Ready","status":"True"},
        {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no room"}]}})");
  ASSERT_TRUE(std::holds_alternative<Object>(object.what));
  const Pod& pod = std::get<Pod>(std::get<Object>(object.what));
  EXPECT_EQ(pod.meta.name, "p");
  EXPECT_EQ(pod.meta.namespace_name, "n");
  EXPECT_EQ(pod.meta.generation, 2);
  EXPECT_EQ(pod.meta.created, *ParseKubernetesTime("2026-07-21T10:00:00Z"));
  EXPECT_EQ(pod.meta.deleted, *ParseKubernetesTime("2026-07-21T11:00:00Z"));
  EXPECT_EQ(pod.meta.labels, StringMap({{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(pod.meta.annotations, StringMap({{"scheduling.maniple.dev/require-nvlink", "true"},
                                             {"scheduling.k8s.io/group-name", "g"},
                                             {"pod-group-name", "k"}}));
  EXPECT_EQ(pod.meta.controller, (OwnerReference{"Job", "j", "2", "batch/v1"}));
  EXPECT_EQ(pod.scheduler_name, "maniple");
  EXPECT_EQ(pod.node_name, "node-1");
  EXPECT_EQ(pod.priority_class_name, "high");
  EXPECT_EQ(pod.priority, -5);
  EXPECT_FALSE(pod.preempts);
  EXPECT_THAT(pod.scheduling_gates, ElementsAre("g1", "g2"));
  EXPECT_EQ(pod.active_deadline, absl::Seconds(60));
  EXPECT_EQ(pod.constraints.node_selector, StringMap({{"a", "2"}, {"z", "1"}}));
  EXPECT_EQ(pod.phase, PodPhase::kRunning);
  EXPECT_TRUE(pod.ready);
  EXPECT_EQ(pod.status_reason, "Evicted");
  EXPECT_EQ(pod.nominated_node_name, "node-2");
  EXPECT_EQ(pod.started, *ParseKubernetesTime("2026-07-21T10:00:05Z"));
  EXPECT_EQ(pod.scheduled_condition, (PodCondition{"False", "Unschedulable", "no room"}));
}

TEST(DecodePod, AnEmptySpecHasTheDefaultsOfTheApi) {
  const Pod pod = PodOf("");
  EXPECT_EQ(pod.phase, PodPhase::kPending);
  EXPECT_TRUE(pod.preempts);
  EXPECT_EQ(pod.priority, 0);
  EXPECT_EQ(pod.constraints, PodConstraints{});
  EXPECT_FALSE(pod.scheduled_condition.has_value());
  EXPECT_FALSE(pod.ready);
  EXPECT_FALSE(PodOf("", R"("conditions":[{"type":"Ready","status":"False"}])").ready);
  EXPECT_FALSE(pod.meta.deleted.has_value());
  EXPECT_EQ(PodOf("", R"("phase":"Novel")").phase, PodPhase::kUnknown);
}

TEST(PodRequests, SumsContainersAndCountsCpuInMilli) {
  EXPECT_EQ(RequestsOf(R"("containers":[
      {"name":"a","resources":{"requests":{"cpu":"1500m","memory":"1Gi","nvidia.com/gpu":"2"}}},
      {"name":"b","resources":{"requests":{"cpu":0.5,"memory":"100M","ephemeral-storage":"0"}}}])"),
            "cpu=2000 memory=1173741824 nvidia.com/gpu=2");
}

TEST(PodRequests, LimitsStandInForMissingRequestsResourceByResource) {
  EXPECT_EQ(RequestsOf(R"("containers":[{"resources":{"limits":{"cpu":"2","nvidia.com/gpu":"8"},
      "requests":{"cpu":"1"}}}])"),
            "cpu=1000 nvidia.com/gpu=8");
  EXPECT_EQ(
      RequestsOf(R"("containers":[{"resources":{"limits":{"cpu":"2"},"requests":{"cpu":"0"}}}])"),
      "");
}

TEST(PodRequests, InitContainersRunOneAfterAnotherSoOnlyTheLargestCounts) {
  EXPECT_EQ(
      RequestsOf(R"("containers":[{"resources":{"requests":{"cpu":"1","nvidia.com/gpu":"1"}}}],
      "initContainers":[{"resources":{"requests":{"cpu":"3","memory":"5"}}},
                        {"resources":{"requests":{"cpu":"2","nvidia.com/gpu":"1"}}}])"),
      "cpu=3000 memory=5 nvidia.com/gpu=1");
}

TEST(PodRequests, SidecarsCountBesideTheContainersAndBesideLaterInitContainers) {
  // Containers 1 + sidecars 2 + 4 = 7 against init 5 beside the first sidecar = 7, then init 6
  // beside both = 12.
  EXPECT_EQ(RequestsOf(R"("containers":[{"resources":{"requests":{"cpu":"1"}}}],
      "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},
                        {"resources":{"requests":{"cpu":"5"}}},
                        {"restartPolicy":"Always","resources":{"requests":{"cpu":"4"}}},
                        {"resources":{"requests":{"cpu":"6"}}}])"),
            "cpu=12000");
  // An init container before every sidecar stands alone.
  EXPECT_EQ(RequestsOf(R"("containers":[{"resources":{"requests":{"cpu":"1"}}}],
      "initContainers":[{"resources":{"requests":{"cpu":"5"}}},
                        {"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}])"),
            "cpu=5000");
  EXPECT_EQ(RequestsOf(R"("containers":[{"resources":{"requests":{"cpu":"4"}}}],
      "initContainers":[{"resources":{"requests":{"cpu":"5"}}},
                        {"restartPolicy":"Always","resources":{"requests":{"cpu":"2","memory":"7"}}}])"),
            "cpu=6000 memory=7");
}

TEST(PodRequests, ThePodLevelReplacesCpuMemoryAndHugePagesOnlyAndOverheadComesOnTop) {
  EXPECT_EQ(
      RequestsOf(R"("resources":{"requests":{"cpu":"10","hugepages-2Mi":"4Mi","nvidia.com/gpu":"9"},
        "limits":{"memory":"77"}},
      "overhead":{"cpu":"250m","memory":"1"},
      "containers":[{"resources":{"requests":{"cpu":"1","nvidia.com/gpu":"2"}}}])"),
      "cpu=10250 hugepages-2Mi=4194304 memory=78 nvidia.com/gpu=2");
  EXPECT_EQ(RequestsOf(R"("resources":{"limits":{"memory":"77"}},
      "containers":[{"resources":{"requests":{"memory":"5"}}}])"),
            "memory=5");
}

TEST(PodRequests, AContainerInResizeCountsAsTheLargestOfWhatItAsksHasAndWasPromised) {
  constexpr absl::string_view kSpec =
      R"("nodeName":"n","containers":[{"name":"a","resources":{"requests":{"cpu":"2"}}}])";
  EXPECT_EQ(RequestsOf(kSpec, R"("containerStatuses":[{"name":"a","allocatedResources":{"cpu":"3"},
      "resources":{"requests":{"cpu":"4"}}},{"name":"other","allocatedResources":{"cpu":"9"}}])"),
            "cpu=4000");
  constexpr absl::string_view kLarger =
      R"("nodeName":"n","containers":[{"name":"a","resources":{"requests":{"cpu":"8"}}}])";
  EXPECT_EQ(
      RequestsOf(kLarger, R"("containerStatuses":[{"name":"a","allocatedResources":{"cpu":"3"},
      "resources":{}}],
      "conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}])"),
      "cpu=3000");
}

TEST(PodRequests, WhatTheKubeletPromisesCountsOnceItSaysWhatTheContainerHasAndThePodIsBound) {
  EXPECT_EQ(RequestsOf(R"("nodeName":"n","containers":[{"name":"a"}])",
                       R"("containerStatuses":[{"name":"a","allocatedResources":{"cpu":"3"}}])"),
            "");
  EXPECT_EQ(
      RequestsOf(R"("containers":[{"name":"a"}])",
                 R"("containerStatuses":[{"name":"a","resources":{"requests":{"cpu":"3"}}}])"),
      "");
}

TEST(PodRequests, APodInResizeAtItsOwnLevelCountsAsTheLargestOfWhatItAsksHasAndWasPromised) {
  constexpr absl::string_view kStatus =
      R"("resources":{"requests":{"cpu":"3"}},"allocatedResources":{"cpu":"4","memory":"9"})";
  EXPECT_EQ(
      RequestsOf(R"("nodeName":"n","resources":{"requests":{"cpu":"2","memory":"5"}})", kStatus),
      "cpu=4000 memory=9");
  EXPECT_EQ(
      RequestsOf(R"("nodeName":"n","resources":{"requests":{"cpu":"8","hugepages-2Mi":"2Mi"}})",
                 absl::StrCat(kStatus, R"(,
      "conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}])")),
      "cpu=4000");
  // A pod that asks nothing at its own level is its containers.
  EXPECT_EQ(RequestsOf(R"("nodeName":"n","containers":[{"resources":{"requests":{"cpu":"1"}}}])",
                       kStatus),
            "cpu=1000");
}

TEST(PodRequests, ALimitAtThePodLevelMakesRequestsThereAsTheApiServerDoes) {
  // Huge pages cannot be overcommitted: the limit is the request.
  EXPECT_EQ(RequestsOf(R"("resources":{"limits":{"hugepages-2Mi":"8Mi","cpu":"4"}},
      "containers":[{"resources":{"requests":{"cpu":"1","hugepages-2Mi":"2Mi"}}}])"),
            "cpu=1000 hugepages-2Mi=8388608");
  // What the containers asked when the pod was made stays its request, whatever they have later.
  EXPECT_EQ(
      RequestsOf(R"("nodeName":"n","resources":{"limits":{"cpu":"4"}},
      "containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}])",
                 R"("containerStatuses":[{"name":"a","resources":{"requests":{"cpu":"3"}}}])"),
      "cpu=1000");
}

TEST(PodRequests, PartsOfUnitsAreAddedBeforeTheSumIsRoundedUp) {
  EXPECT_EQ(RequestsOf(R"("containers":[{"resources":{"requests":{"cpu":"500u","memory":"500m"}}},
      {"resources":{"requests":{"cpu":"500u","memory":"400m"}}}])"),
            "cpu=1 memory=1");
}

TEST(PodRequests, RefusesNegativeAndFractionalAmountsWithTheirPath) {
  const auto with = [](absl::string_view requests) {
    return PodProblem(
        absl::StrCat(R"("containers":[{},{"resources":{"requests":{)", requests, "}}}]"));
  };
  EXPECT_EQ(with(R"("cpu":"-1")"),
            "spec.containers[1].resources.requests.cpu: must not be negative");
  EXPECT_EQ(with(R"("memory":-5)"),
            "spec.containers[1].resources.requests.memory: must not be negative");
  EXPECT_EQ(with(R"("nvidia.com/gpu":"500m")"),
            "spec.containers[1].resources.requests[nvidia.com/gpu]: an extended resource must be a "
            "whole number");
  EXPECT_EQ(with(R"("cpu":"lots")"),
            "spec.containers[1].resources.requests.cpu: \"lots\" is no quantity (like 100m, 1.5Gi "
            "or 2e3)");
  EXPECT_EQ(with(R"("cpu":true)"), "spec.containers[1].resources.requests.cpu: must be a text");
  EXPECT_EQ(with(R"("cpu":"1e3000000000")"), "");  // saturates
  EXPECT_EQ(with(R"("attach.kubernetes.io/x":"500m")"), "");
}

TEST(PodRequests, AbsurdAmountsSaturate) {
  EXPECT_EQ(RequestsOf(R"("containers":[{"resources":{"requests":{"memory":"9Ei"}}},
      {"resources":{"requests":{"memory":"9Ei"}}}])"),
            absl::StrCat("memory=", Amount::Max().units()));
}

TEST(PodRequests, ManyContainersWithManyResourcesTakeNoQuadraticTime) {
  std::string spec = R"("containers":[)";
  for (int i = 0; i < 20'000; ++i) {
    absl::StrAppend(&spec, i > 0 ? "," : "", R"({"resources":{"requests":{"a.b/c)", i,
                    R"(":"1"}}})");
  }
  EXPECT_EQ(PodOf(spec + "]").constraints.requests.size(), 20'000u);
}

std::string MostPerContainerOf(absl::string_view spec) {
  std::string out;
  for (const ResourceAmount& r : PodOf(spec).constraints.most_per_container) {
    absl::StrAppend(&out, out.empty() ? "" : " ", r.resource, "=", r.amount.units());
  }
  return out;
}

TEST(PodRequests, TellsGpusOfOneContainerFromThoseOfTwo) {
  constexpr char kOne[] = R"({"resources":{"limits":{"nvidia.com/gpu":"1","cpu":"1"}}})";
  constexpr char kTwo[] = R"({"resources":{"limits":{"nvidia.com/gpu":"2"}}})";
  const auto containers = [](absl::string_view a, absl::string_view b) {
    return absl::StrCat(R"("containers":[)", a, ",", b, "]");
  };
  EXPECT_EQ(MostPerContainerOf(containers(kOne, kOne)), "nvidia.com/gpu=1");
  EXPECT_EQ(MostPerContainerOf(containers(kTwo, kOne)), "nvidia.com/gpu=2");
  EXPECT_EQ(MostPerContainerOf(containers(kTwo, "{}")), "");
  EXPECT_EQ(MostPerContainerOf(R"("containers":[{"resources":{"limits":{"cpu":"2"}}},
                                                {"resources":{"limits":{"cpu":"1"}}}])"),
            "");
  // Init containers hand their GPUs on: two at once, never more than one in a container.
  EXPECT_EQ(
      MostPerContainerOf(absl::StrCat(R"("initContainers":[)", kTwo, "],", containers(kOne, kOne))),
      "");
}

Pod AnnotatedPod(absl::string_view annotation, absl::string_view resource) {
  const DecodedObject object = Decoded(
      ResourceKind::kPod, absl::StrCat(R"({"metadata":{"name":"p","namespace":"n","annotations":{)",
                                       R"("scheduling.maniple.dev/require-nvlink":")", annotation,
                                       R"("}},"spec":{"containers":[{"resources":{"limits":{")",
                                       resource, R"(":"2"}}}]}})"));
  return std::get<Pod>(std::get<Object>(object.what));
}

TEST(PodConstraints, NvlinkIsPartOfTheShapeOnlyWhereGpusAreAsked) {
  EXPECT_TRUE(AnnotatedPod("true", "nvidia.com/gpu").constraints.requires_nvlink);
  EXPECT_FALSE(AnnotatedPod("false", "nvidia.com/gpu").constraints.requires_nvlink);
  EXPECT_EQ(AnnotatedPod("true", "cpu").constraints, AnnotatedPod("false", "cpu").constraints);
  EXPECT_THAT(AnnotatedPod("yes", "nvidia.com/gpu").constraints.unsupported,
              ElementsAre("metadata.annotations[scheduling.maniple.dev/require-nvlink]"));
}

TEST(PodConstraints, ReadsNodeAffinityInACanonicalForm) {
  const Pod pod = PodOf(R"("affinity":{"nodeAffinity":{
    "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"z","operator":"In","values":["b","a","b"]},{"key":"a","operator":"Gt","values":["5"]}]},
      {"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]},{}]},
    "preferredDuringSchedulingIgnoredDuringExecution":[
      {"weight":10,"preference":{"matchExpressions":[{"key":"k","operator":"Exists"}]}},
      {"weight":1,"preference":{"matchExpressions":[{"key":"k","operator":"DoesNotExist"}]}}]}})");
  using enum SelectorOperator;
  const SelectorRequirement a{"a", kGt, {"5"}};
  const SelectorRequirement z{"z", kIn, {"a", "b"}};
  const SelectorRequirement name{"metadata.name", kIn, {"n1"}};
  ASSERT_TRUE(pod.constraints.required_node_terms.has_value());
  EXPECT_THAT(
      *pod.constraints.required_node_terms,
      ElementsAre(NodeSelectorTerm{}, NodeSelectorTerm{{}, {name}}, NodeSelectorTerm{{a, z}, {}}));
  ASSERT_EQ(pod.constraints.preferred_node_terms.size(), 2u);
  EXPECT_EQ(pod.constraints.preferred_node_terms[0].weight, 1);
}

TEST(PodConstraints, PresentButEmptyTermsAreNotAbsent) {
  constexpr absl::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const auto terms = [&](absl::string_view value) {
    return PodOf(absl::StrCat(R"("affinity":{"nodeAffinity":{")", kRequired, "\":", value, "}}"))
        .constraints.required_node_terms;
  };
  EXPECT_EQ(terms(R"({"nodeSelectorTerms":[]})"), std::vector<NodeSelectorTerm>{});
  EXPECT_EQ(terms("null"), std::nullopt);
}

TEST(PodConstraints, RefusesUnknownOperatorsAndMissingKeys) {
  const auto with = [](absl::string_view expression) {
    return PodProblem(absl::StrCat(
        R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)",
        R"({"nodeSelectorTerms":[{"matchExpressions":[)", expression, "]}]}}}"));
  };
  EXPECT_THAT(
      with(R"({"key":"a","operator":"Near"})"),
      HasSubstr("nodeSelectorTerms[0].matchExpressions[0].operator: must be one of In, NotIn"));
  EXPECT_THAT(with(R"({"operator":"Exists"})"), HasSubstr("matchExpressions[0]: has no key"));
  EXPECT_THAT(with(R"({"key":"a"})"), HasSubstr("matchExpressions[0]: has no operator"));
}

TEST(PodConstraints, ReadsTolerationsSortedAndDropsThoseThatCanNeverMatch) {
  const Pod pod = PodOf(R"("tolerations":[
    {"key":"b","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},
    {"key":"a","value":"v","effect":"NoSchedule"},{"operator":"Exists"},{"key":"a","value":"v","effect":"NoSchedule"},
    {"key":"x","operator":"Lt","value":"5"},{"key":"y","operator":"Exists","effect":"NoNetwork"}])");
  using enum TolerationOperator;
  EXPECT_THAT(pod.constraints.tolerations,
              ElementsAre(Toleration{"", kExists, "", std::nullopt},
                          Toleration{"a", kEqual, "v", TaintEffect::kNoSchedule},
                          Toleration{"b", kExists, "", TaintEffect::kNoExecute}));
}

TEST(PodConstraints, ReadsHostPortsOfContainersAndSidecarsOnly) {
  const Pod pod =
      PodOf(R"("containers":[{"ports":[{"containerPort":80},{"containerPort":443,"hostPort":8443},
        {"containerPort":53,"hostPort":53,"protocol":"UDP","hostIP":"10.0.0.1"}]}],
      "initContainers":[{"ports":[{"hostPort":1}]},{"restartPolicy":"Always","ports":[{"hostPort":2}]}])");
  EXPECT_THAT(pod.constraints.host_ports,
              ElementsAre(HostPort{"0.0.0.0", "TCP", 2}, HostPort{"0.0.0.0", "TCP", 8443},
                          HostPort{"10.0.0.1", "UDP", 53}));
  EXPECT_THAT(PodOf(R"("containers":[{"ports":[{"containerPort":80}]}],"hostNetwork":true)")
                  .constraints.host_ports,
              ElementsAre(HostPort{"0.0.0.0", "TCP", 80}));
  EXPECT_THAT(
      PodProblem(R"("containers":[{"ports":[{"hostPort":65536}]}])"),
      HasSubstr("spec.containers[0].ports[0].hostPort: must be a whole number from 0 to 65535"));
}

TEST(PodConstraints, NamesTheImagesOfAllContainersInFull) {
  const Pod pod =
      PodOf(R"("containers":[{"image":"app"},{"image":"host:5000/team/app"},{"image":"app"}],
      "initContainers":[{"image":"host:5000/app:v1"},{"image":"app@sha256:aa"}])");
  EXPECT_THAT(pod.constraints.images, ElementsAre("app:latest", "app:latest", "app@sha256:aa",
                                                  "host:5000/app:v1", "host:5000/team/app:latest"));
}

TEST(PodVolumes, AreTheClaimsAndTheDisksThatTieThePodToNodes) {
  const Pod pod = PodOf(R"("volumes":[{"name":"s","emptyDir":{}},
      {"name":"z","persistentVolumeClaim":{"claimName":"z"}},
      {"name":"d","persistentVolumeClaim":{"claimName":"c","readOnly":true}},
      {"name":"d2","persistentVolumeClaim":{"claimName":"c"}},
      {"name":"e","ephemeral":{"volumeClaimTemplate":{"spec":{}}}},
      {"name":"g","gcePersistentDisk":{"pdName":"disk","readOnly":true}},
      {"name":"w","awsElasticBlockStore":{"volumeID":"vol"}},
      {"name":"i","iscsi":{"iqn":"q","targetPortal":"t"}},
      {"name":"r","rbd":{"image":"img","pool":"p","monitors":["m2","m1"]}}])");
  EXPECT_THAT(pod.volumes.claims,
              ElementsAre(ClaimUse{"z"}, ClaimUse{"c"},
                          ClaimUse{.claim = pod.meta.name + "-e", .ephemeral = true}));
  using enum DiskKind;
  EXPECT_THAT(
      pod.volumes.disks,
      ElementsAre(Disk{.kind = kGcePersistentDisk, .name = "disk", .read_only = true},
                  Disk{.kind = kAwsElasticBlockStore, .name = "vol"},
                  Disk{.kind = kIscsi, .name = "q"},
                  Disk{.kind = kRbd, .name = "img", .pool = "p", .monitors = {"m1", "m2"}}));
  EXPECT_THAT(pod.volumes.attached, ElementsAre(CsiVolume{"ebs.csi.aws.com", "vol"},
                                                CsiVolume{"pd.csi.storage.gke.io", "disk"}));
  EXPECT_THAT(pod.constraints.unsupported, IsEmpty());
  EXPECT_THAT(PodProblem(R"("volumes":[{"persistentVolumeClaim":{"claimName":7}}])"),
              HasSubstr("spec.volumes[0].persistentVolumeClaim.claimName"));
}

TEST(PodConstraints, ListsWhatThisVersionCannotHonour) {
  const Pod pod = PodOf(R"("resourceClaims":[{"name":"c"}],
    "volumes":[{"name":"s","emptyDir":{}},{"name":"d","persistentVolumeClaim":{"claimName":"c"}},
               {"name":"e","ephemeral":{}}])");
  EXPECT_THAT(pod.constraints.unsupported, ElementsAre("spec.resourceClaims"));
  EXPECT_THAT(PodOf(R"("resourceClaims":[],"volumes":[{"secret":{"secretName":"x"}}])")
                  .constraints.unsupported,
              IsEmpty());
}

TEST(DecodePod, EveryFieldOfAWrongTypeIsRefusedWithItsPath) {
  for (const absl::string_view field :
       {"schedulerName", "nodeName", "priorityClassName", "priority", "preemptionPolicy",
        "schedulingGates", "activeDeadlineSeconds", "containers", "initContainers", "nodeSelector",
        "affinity", "tolerations", "overhead", "resources", "topologySpreadConstraints", "volumes",
        "hostNetwork"}) {
    for (const absl::string_view value : {"1.5", "[[]]", "{\"x\":[]}", "true", "[7]"}) {
      if (field == "hostNetwork" && value == "true") continue;
      const std::string problem = PodProblem(absl::StrCat("\"", field, "\":", value));
      // An object of unknown fields is no mistake where an object is expected.
      const bool tolerated = value == "{\"x\":[]}" && (field == "affinity" || field == "resources");
      if (tolerated) continue;
      EXPECT_THAT(problem, StartsWith(absl::StrCat("spec.", field))) << value;
    }
    EXPECT_EQ(PodProblem(absl::StrCat("\"", field, "\":null")), "");
  }
  EXPECT_EQ(PodProblem(R"("priority":1e3)"),
            "spec.priority: must be a whole number from -2147483648 to 2147483647");
  EXPECT_THAT(PodProblem(R"("priority":2147483648)"), StartsWith("spec.priority"));
  EXPECT_THAT(PodProblem("", R"("startTime":"yesterday")"), StartsWith("status.startTime"));
}

TEST(DecodeNode, ReadsTaintsReadinessAndAllocatable) {
  const DecodedObject object =
      Decoded(ResourceKind::kNode, R"({"metadata":{"name":"n1","labels":{"r":"1"}},
    "spec":{"unschedulable":true,"taints":[{"key":"b","effect":"NoExecute","timeAdded":"2026-07-21T10:00:00Z"},
                                           {"key":"a","value":"v","effect":"NoSchedule"}]},
    "status":{"capacity":{"cpu":"99"},"allocatable":{"pods":"110","cpu":"95500m","memory":"1Gi","nvidia.com/gpu":"8","zero":"0"},
      "conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":"Unknown"}],
      "images":[{"names":["x:1","a@sha256:b"],"sizeBytes":7},{"names":null,"sizeBytes":8},{"names":["x:1"]}]}})");
  const Node& node = std::get<Node>(std::get<Object>(object.what));
  EXPECT_TRUE(node.unschedulable);
  EXPECT_FALSE(node.ready);
  EXPECT_THAT(node.taints, ElementsAre(Taint{"a", "v", TaintEffect::kNoSchedule},
                                       Taint{"b", "", TaintEffect::kNoExecute}));
  EXPECT_THAT(node.allocatable, ElementsAre(ResourceAmount{"cpu", Amount(95500)},
                                            ResourceAmount{"memory", Amount(1 << 30)},
                                            ResourceAmount{"nvidia.com/gpu", Amount(8)},
                                            ResourceAmount{"pods", Amount(110)}));
  EXPECT_THAT(node.images, ElementsAre(NodeImage{"a@sha256:b", 7}, NodeImage{"x:1", 0}));
}

TEST(DecodeNode, RefusesATaintItDoesNotUnderstandAndAbsurdAmounts) {
  const auto with = [](absl::string_view rest) {
    return ProblemOf(ResourceKind::kNode, absl::StrCat(R"({"metadata":{"name":"n1"},)", rest, "}"));
  };
  EXPECT_EQ(with(R"("spec":{"taints":[{"key":"a","effect":"NoNetwork"}]})"),
            "spec.taints[0]: has no known effect");
  EXPECT_EQ(with(R"("status":{"allocatable":{"nvidia.com/gpu":"-1"}})"),
            "status.allocatable[nvidia.com/gpu]: must not be negative");
  EXPECT_THAT(with(R"("status":{"allocatable":{"memory":"1ZiB"}})"), HasSubstr("is no quantity"));
}

}  // namespace
}  // namespace maniple::codec_decode_pod_test
