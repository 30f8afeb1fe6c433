// The definitions in deploy/crds/producers: objects come back as their controllers wrote them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/files.h"
#include "api/codec/yaml.h"
#include "test/unit/devcluster/cluster.h"

namespace maniple::devcluster::devcluster_producers_test {
namespace {

constexpr absl::string_view kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// Installs the definition and makes an object of it.
Answer MakePodGroup(TestCluster& cluster, absl::string_view group, absl::string_view version,
                    absl::string_view spec) {
  const absl::StatusOr<std::string> text =
      ReadWholeFile(absl::StrCat("deploy/crds/producers/podgroups.", group, ".yaml"));
  EXPECT_TRUE(text.ok()) << text.status();
  const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(*text);
  EXPECT_TRUE(documents.ok()) << documents.status();
  const Answer defined = cluster.Post(kCrds, documents->front().value);
  EXPECT_EQ(defined.code, 201) << defined.message();
  Answer made = cluster.Post(
      absl::StrCat("/apis/", group, "/", version, "/namespaces/default/podgroups"),
      FromText(absl::StrCat("{'apiVersion':'", group, "/", version,
                            "','kind':'PodGroup','metadata':{'name':'g'},'spec':", spec, "}")));
  EXPECT_EQ(made.code, 201) << made.message();
  return made;
}

constexpr absl::string_view kXk8sSpec =
    "{'minMember':3,'minResources':{'cpu':2,'nvidia.com/gpu':'8'},'scheduleTimeoutSeconds':0}";
constexpr absl::string_view kVolcanoSpec =
    "{'minMember':0,'minTaskMember':{'worker':2},'minResources':{'cpu':'500m'},'queue':'q',"
    "'priorityClassName':'high','networkTopology':{'mode':'soft','highestTierAllowed':1}}";

TEST(Producers, AnXk8sGroupComesBackAsWrittenAndHasAStatus) {
  TestCluster cluster;
  const Answer made = MakePodGroup(cluster, "scheduling.x-k8s.io", "v1alpha1", kXk8sSpec);
  EXPECT_EQ(made.At("spec"), FromText(kXk8sSpec));
  const Answer status =
      cluster.Patch("/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups/g/status",
                    kMergePatch, FromText("{'status':{'phase':'Scheduling'}}"));
  EXPECT_EQ(status.At("status.phase").AsString(), "Scheduling");
  EXPECT_EQ(status.At("metadata.generation").AsInt(), 1);
}

TEST(Producers, AVolcanoGroupComesBackAsWrittenAndKeepsItsStatusInItself) {
  TestCluster cluster;
  const Answer made = MakePodGroup(cluster, "scheduling.volcano.sh", "v1beta1", kVolcanoSpec);
  EXPECT_EQ(made.At("spec"), FromText(kVolcanoSpec));
  const std::string path = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/g";
  const Json inqueue = FromText("{'status':{'phase':'Inqueue'}}");
  EXPECT_EQ(cluster.Patch(path + "/status", kMergePatch, inqueue).code, 404);
  EXPECT_EQ(cluster.Patch(path, kMergePatch, inqueue).At("status.phase").AsString(), "Inqueue");
  EXPECT_EQ(cluster.Patch(path, kMergePatch, FromText("{'status':{'phase':'Other'}}")).code, 422);
}

TEST(Producers, AVolcanoGroupHasTheDefaultsOfVolcano) {
  TestCluster cluster;
  const Answer made = MakePodGroup(cluster, "scheduling.volcano.sh", "v1beta1",
                                   "{'networkTopology':{},'subGroupPolicy':[{'name':'a'}]}");
  EXPECT_EQ(made.At("spec"),
            FromText("{'queue':'default','networkTopology':{'mode':'hard'},"
                     "'subGroupPolicy':[{'name':'a','subGroupSize':1,'minSubGroups':0}]}"));
}

}  // namespace
}  // namespace maniple::devcluster::devcluster_producers_test
