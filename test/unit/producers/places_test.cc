// Where other projects' groups and pods ask to stand. Fear: a level that is required is dropped.
#include <gtest/gtest.h>

#include <string>

#include "test/unit/producers/fixture.h"

namespace maniple::producers_places_test {
namespace {

std::string Kai(absl::string_view spec) {
  return absl::StrCat(
      "{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g}, spec: ", spec,
      "}");
}

// "rack", or "a rack" where a sub-group alone asks.
std::string PlacesOf(const ForeignGang& gang) {
  std::string out = gang.spec.topology.required;
  for (const SubGroup& part : gang.spec.sub_groups) {
    if (!part.topology.required.empty()) {
      absl::StrAppend(&out, out.empty() ? "" : ", ", part.name, " ", part.topology.required);
    }
  }
  return absl::StrCat(out, gang.problem.empty() ? "" : absl::StrCat(" PROBLEM ", gang.problem));
}

TEST(Places, AreReadOfGroupsAndPods) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(Kai("{minMember: 2, topologyConstraint: {topology: t, requiredTopologyLevel: rack}}"));
  world.Put("p", "{annotations: {pod-group-name: g}}");
  EXPECT_EQ(world.GangOf("p")->spec.topology.topology_name, "t");
  EXPECT_EQ(world.GangOf("p")->spec.topology.required, "rack");
  world.Give(
      "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g}, spec: "
      "{minMember: 2}}");
  world.Put("q",
            "{labels: {scheduling.x-k8s.io/pod-group: g}, annotations: "
            "{kueue.x-k8s.io/podset-required-topology: block}}");
  EXPECT_EQ(world.GangOf("q")->spec.topology.required, "block");
}

// A level that several groups have in common was dropped, and they stood anywhere.
TEST(Places, OfSeveralGroupsTogetherAreKeptOrRefused) {
  const auto places = [](const std::string& group, const char* pod) {
    DirectoryWorld world;
    world.ServeAll();
    world.Give(group);
    world.Put("p", pod);
    return PlacesOf(*world.GangOf("p"));
  };
  constexpr char kInKai[] = "{annotations: {pod-group-name: g}}";
  const auto nested = [](absl::string_view more) {
    return Kai(absl::StrCat(
        "{subGroups: [{name: top, minSubGroup: 2, topologyConstraint: {requiredTopologyLevel: "
        "rack}}, {name: a, minMember: 1, parent: top}, {name: b, minMember: 2, parent: top}",
        more, "]}"));
  };
  EXPECT_EQ(places(nested(""), kInKai), "rack");
  EXPECT_EQ(places(nested(", {name: c, minMember: 1}"), kInKai),
            " PROBLEM spec.subGroups[top].topologyConstraint: some of the groups cannot be kept "
            "within one rack, only one of them or all");
  EXPECT_EQ(places(Kai("{subGroups: [{name: top, minSubGroup: 1, topologyConstraint: "
                       "{requiredTopologyLevel: rack}}, {name: a, minMember: 1, parent: top}, "
                       "{name: c, minMember: 1}]}"),
                   kInKai),
            "a rack");
  constexpr char kInGrove[] = "{labels: {grove.io/podgang: g}}";
  const auto grove = [&](absl::string_view names) {
    return places(
        absl::StrCat("{apiVersion: scheduler.grove.io/v1alpha1, kind: PodGang, metadata: {name: "
                     "g}, spec: {podgroups: [{name: a, minReplicas: 1}, {name: b, minReplicas: 2}, "
                     "{name: c, minReplicas: 1}], topologyConstraintGroupConfigs: [{name: n, "
                     "podGroupNames: [",
                     names, "], topologyConstraint: {packConstraint: {required: rack}}}]}}"),
        kInGrove);
  };
  EXPECT_EQ(grove("b"), "b rack");
  EXPECT_EQ(grove("a, b, c"), "rack");
  EXPECT_EQ(grove("a, b"),
            " PROBLEM spec.topologyConstraintGroupConfigs[0]: some of the groups cannot be kept "
            "within one rack, only one of them or all");
}

// Kueue's annotations are those of a pod set. Its leader, which stood anywhere, was bound to the
// rack of the workers.
TEST(Places, OfKueueAreThoseOfThePartsWhosePodsAsk) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(
      "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: t}, spec: "
      "{pytorchReplicaSpecs: {Master: {replicas: 1}, Worker: {replicas: 2}}}}");
  constexpr char kRack[] = ", annotations: {kueue.x-k8s.io/podset-required-topology: rack}";
  const auto put = [&](const char* name, absl::string_view part, absl::string_view more) {
    world.Put(name,
              absl::StrCat("{labels: {training.kubeflow.org/replica-type: ", part, "}", more, "}"),
              "PyTorchJob/t");
  };
  put("w", "worker", kRack);
  EXPECT_EQ(PlacesOf(*world.GangOf("w")), "worker rack");
  put("m", "master", "");
  EXPECT_EQ(PlacesOf(*world.GangOf("m")), "worker rack");
  put("m", "master", kRack);
  EXPECT_EQ(PlacesOf(*world.GangOf("m")), "rack");
}

}  // namespace
}  // namespace maniple::producers_places_test
