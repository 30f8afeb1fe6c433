// POST pods/binding: the exact outcomes that a scheduler must tell apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/unit/devcluster/cluster.h"

namespace maniple::devcluster {
namespace {

constexpr absl::string_view kPods = TestCluster::kPods;

std::string PathOf(absl::string_view pod) { return absl::StrCat(kPods, "/", pod); }

TEST(Binding, SetsNodeAndConditionAndClearsTheNomination) {
  TestCluster cluster;
  cluster.MakePod("p");
  cluster.Patch(PathOf("p") + "/status", kStrategicPatch,
                FromText("{'status':{'nominatedNodeName':'n2'}}"));
  const Answer bound = cluster.Bind("p", "n1");
  EXPECT_EQ(bound.code, 201);
  EXPECT_EQ(bound.body, FromText("{'kind':'Status','apiVersion':'v1','metadata':{},"
                                 "'status':'Success','code':201}"));
  const Answer pod = cluster.Get(PathOf("p"));
  EXPECT_EQ(pod.At("spec.nodeName").AsString(), "n1");
  EXPECT_TRUE(pod.At("status.nominatedNodeName").is_null());
  ASSERT_EQ(pod.At("status.conditions").size(), 1);
  const Json& condition = pod.At("status.conditions").items()[0];
  EXPECT_EQ(condition["type"].AsString(), "PodScheduled");
  EXPECT_EQ(condition["status"].AsString(), "True");
}

TEST(Binding, MergesAnnotationsIntoThePod) {
  TestCluster cluster;
  cluster.MakePod("p");
  cluster.Post(PathOf("p") + "/binding",
               FromText("{'metadata':{'name':'p','annotations':{'a':'b'}},"
                        "'target':{'name':'n1'}}"));
  EXPECT_EQ(cluster.Get(PathOf("p")).At("metadata.annotations.a").AsString(), "b");
}

TEST(Binding, ASecondOneConflictsAndNamesTheNode) {
  TestCluster cluster;
  cluster.MakePod("p");
  cluster.Bind("p", "n1");
  const Answer again = cluster.Bind("p", "n1");
  EXPECT_EQ(again.code, 409);
  EXPECT_EQ(again.reason(), "Conflict");
  EXPECT_EQ(again.message(),
            "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to "
            "node \"n1\"");
  EXPECT_EQ(again.At("details.kind").AsString(), "pods/binding");
}

TEST(Binding, AGatedPodIsRefused) {
  TestCluster cluster;
  cluster.MakePod("p", ",'schedulingGates':[{'name':'wait'}]");
  const Answer refused = cluster.Bind("p", "n1");
  EXPECT_EQ(refused.code, 409);
  EXPECT_THAT(refused.message(), testing::EndsWith("pod p has non-empty .spec.schedulingGates"));
}

TEST(Binding, ADeletedPodIsRefused) {
  TestCluster cluster;
  cluster.Make(kPods,
               "{'metadata':{'name':'p','finalizers':['x.io/keep']},"
               "'spec':{'containers':[{'name':'c','image':'i'}]}}");
  cluster.Delete(PathOf("p"));
  const Answer refused = cluster.Bind("p", "n1");
  EXPECT_EQ(refused.code, 409);
  EXPECT_THAT(refused.message(),
              testing::EndsWith("pod p is being deleted, cannot be assigned to a host"));
}

TEST(Binding, AnotherUidIsAConflictOnThePod) {
  TestCluster cluster;
  cluster.MakePod("p");
  const Answer refused = cluster.Post(
      PathOf("p") + "/binding",
      FromText("{'metadata':{'name':'p','uid':'other'},'target':{'kind':'Node','name':'n'}}"));
  EXPECT_EQ(refused.code, 409);
  EXPECT_EQ(refused.At("details.kind").AsString(), "pods");
}

TEST(Binding, AMissingPodIsNotFound) {
  TestCluster cluster;
  EXPECT_EQ(cluster.Bind("ghost", "n1").code, 404);
}

TEST(Binding, ABadTargetIsAServerErrorWithoutAReason) {
  TestCluster cluster;
  cluster.MakePod("p");
  const Answer bad = cluster.Post(PathOf("p") + "/binding",
                                  FromText("{'metadata':{'name':'p'},'target':{'kind':'Rack'}}"));
  EXPECT_EQ(bad.code, 500);
  EXPECT_EQ(bad.reason(), "");
  EXPECT_THAT(bad.message(), testing::HasSubstr("target.kind: Unsupported value: \"Rack\""));
  EXPECT_THAT(bad.message(), testing::HasSubstr("target.name: Required value"));
}

TEST(Binding, TheNameMustBeThatOfTheUrl) {
  TestCluster cluster;
  cluster.MakePod("p");
  const Answer bad = cluster.Post(PathOf("p") + "/binding",
                                  FromText("{'metadata':{'name':'q'},'target':{'name':'n'}}"));
  EXPECT_EQ(bad.code, 400);
  EXPECT_EQ(bad.message(), "name in URL does not match name in Binding object");
}

TEST(Binding, TheLegacyCollectionBindsToo) {
  TestCluster cluster;
  cluster.MakePod("p");
  EXPECT_EQ(cluster
                .Post("/api/v1/namespaces/default/bindings",
                      FromText("{'metadata':{'name':'p'},'target':{'name':'n1'}}"))
                .code,
            201);
  EXPECT_EQ(cluster.Get(PathOf("p")).At("spec.nodeName").AsString(), "n1");
}

TEST(Binding, ADryRunBindsNothing) {
  TestCluster cluster;
  cluster.MakePod("p");
  EXPECT_EQ(cluster
                .Post(PathOf("p") + "/binding?dryRun=All",
                      FromText("{'metadata':{'name':'p'},'target':{'name':'n1'}}"))
                .code,
            201);
  EXPECT_TRUE(cluster.Get(PathOf("p")).At("spec.nodeName").is_null());
}

TEST(Binding, DoesNotAskWhetherTheNodeExists) {
  TestCluster cluster;
  cluster.MakePod("p");
  EXPECT_EQ(cluster.Bind("p", "no-such-node").code, 201);
}

}  // namespace
}  // namespace maniple::devcluster
