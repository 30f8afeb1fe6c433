// DELETE and eviction: grace, finalizers, preconditions, budgets, namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/unit/devcluster/cluster.h"

namespace maniple::devcluster::devcluster_deletion_test {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kPods = TestCluster::kPods;
constexpr absl::string_view kMaps = "/api/v1/namespaces/default/configmaps";
constexpr absl::string_view kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

std::string PathOf(absl::string_view pod) { return absl::StrCat(kPods, "/", pod); }

void StartPod(TestCluster& cluster, absl::string_view pod) {
  cluster.Bind(pod, "n1");
  cluster.Patch(PathOf(pod) + "/status", kStrategicPatch,
                FromText("{'status':{'phase':'Running','conditions':"
                         "[{'type':'Ready','status':'True'}]}}"));
}

Answer Evict(TestCluster& cluster, absl::string_view pod, absl::string_view more = "") {
  return cluster.Post(PathOf(pod) + "/eviction",
                      FromText(absl::StrCat("{'apiVersion':'policy/v1','kind':'Eviction',"
                                            "'metadata':{'name':'",
                                            pod, "'}", more, "}")));
}

TEST(Deletion, OfAPlainObjectAnswersAStatusThatNamesIt) {
  TestCluster cluster;
  const Json made = cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  const Answer gone = cluster.Delete(absl::StrCat(kMaps, "/a"));
  EXPECT_EQ(gone.code, 200);
  EXPECT_EQ(gone.At("status").AsString(), "Success");
  EXPECT_EQ(gone.At("details.uid"), made.At("metadata.uid"));
  EXPECT_EQ(cluster.Get(absl::StrCat(kMaps, "/a")).code, 404);
}

TEST(Deletion, AnUnboundPodGoesAtOnce) {
  TestCluster cluster;
  cluster.MakePod("p");
  const Answer gone = cluster.Delete(PathOf("p"));
  EXPECT_EQ(gone.At("kind").AsString(), "Pod");
  EXPECT_EQ(gone.At("metadata.deletionGracePeriodSeconds").AsInt(), 0);
  EXPECT_EQ(cluster.Get(PathOf("p")).code, 404);
}

TEST(Deletion, ABoundPodKeepsItsPlaceUntilTheKubeletLetsItGo) {
  TestCluster cluster;
  cluster.MakePod("p");
  StartPod(cluster, "p");
  const Answer marked = cluster.Delete(PathOf("p"));
  EXPECT_EQ(marked.code, 200);
  EXPECT_EQ(marked.At("metadata.deletionTimestamp").AsString(), "2023-11-14T22:13:50Z");
  EXPECT_EQ(marked.At("metadata.deletionGracePeriodSeconds").AsInt(), 30);
  EXPECT_EQ(cluster.Get(PathOf("p")).code, 200);
  cluster.Delete(PathOf("p"), FromText("{'gracePeriodSeconds':0}"));
  EXPECT_EQ(cluster.Get(PathOf("p")).code, 404);
}

TEST(Deletion, GraceMayOnlyBecomeShorter) {
  TestCluster cluster;
  cluster.MakePod("p");
  StartPod(cluster, "p");
  cluster.Delete(PathOf("p"), FromText("{'gracePeriodSeconds':20}"));
  EXPECT_EQ(cluster.Delete(PathOf("p"), FromText("{'gracePeriodSeconds':60}"))
                .At("metadata.deletionGracePeriodSeconds")
                .AsInt(),
            20);
  EXPECT_EQ(cluster.Delete(PathOf("p"), FromText("{'gracePeriodSeconds':5}"))
                .At("metadata.deletionGracePeriodSeconds")
                .AsInt(),
            5);
}

TEST(Deletion, AFinishedPodGoesAtOnce) {
  TestCluster cluster;
  cluster.MakePod("p");
  StartPod(cluster, "p");
  cluster.Patch(PathOf("p") + "/status", kMergePatch, FromText("{'status':{'phase':'Succeeded'}}"));
  cluster.Delete(PathOf("p"));
  EXPECT_EQ(cluster.Get(PathOf("p")).code, 404);
}

TEST(Deletion, FinalizersHoldTheObjectUntilTheLastOneGoes) {
  TestCluster cluster;
  cluster.Make(kMaps, "{'metadata':{'name':'a','finalizers':['x.io/one','x.io/two']}}");
  const std::string path = absl::StrCat(kMaps, "/a");
  EXPECT_TRUE(cluster.Delete(path).At("metadata.deletionTimestamp").is_string());
  cluster.Patch(path, kMergePatch, FromText("{'metadata':{'finalizers':['x.io/two']}}"));
  EXPECT_EQ(cluster.Get(path).code, 200);
  EXPECT_EQ(
      cluster.Patch(path, kMergePatch, FromText("{'metadata':{'finalizers':['x.io/late']}}")).code,
      422);
  cluster.Patch(path, kMergePatch, FromText("{'metadata':{'finalizers':null}}"));
  EXPECT_EQ(cluster.Get(path).code, 404);
}

TEST(Deletion, PreconditionsGuardAgainstAnotherObjectOfTheName) {
  TestCluster cluster;
  const Json made = cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  const std::string path = absl::StrCat(kMaps, "/a");
  const Answer refused = cluster.Delete(path, FromText("{'preconditions':{'uid':'other'}}"));
  EXPECT_EQ(refused.code, 409);
  EXPECT_THAT(refused.message(), HasSubstr("the UID in the precondition (other) does not match"));
  EXPECT_EQ(cluster.Delete(path, FromText("{'preconditions':{'resourceVersion':'1'}}")).code, 409);
  EXPECT_EQ(cluster.Get(path).code, 200);
}

TEST(Deletion, PropagationLeavesAFinalizerForTheGarbageCollector) {
  TestCluster cluster;
  cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  cluster.Make(kMaps, "{'metadata':{'name':'b'}}");
  const Answer foreground =
      cluster.Delete(absl::StrCat(kMaps, "/a"), FromText("{'propagationPolicy':'Foreground'}"));
  EXPECT_EQ(foreground.At("metadata.finalizers").items()[0].AsString(), "foregroundDeletion");
  const Answer orphan =
      cluster.Delete(absl::StrCat(kMaps, "/b"), FromText("{'propagationPolicy':'Orphan'}"));
  EXPECT_EQ(orphan.At("metadata.finalizers").items()[0].AsString(), "orphan");
  EXPECT_EQ(cluster.Delete(absl::StrCat(kMaps, "/b"), FromText("{'propagationPolicy':'All'}")).code,
            422);
}

TEST(Deletion, ADryRunDeletesNothing) {
  TestCluster cluster;
  cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  EXPECT_EQ(cluster.Delete(absl::StrCat(kMaps, "/a"), FromText("{'dryRun':['All']}")).code, 200);
  EXPECT_EQ(cluster.Get(absl::StrCat(kMaps, "/a")).code, 200);
}

TEST(Deletion, OfACollectionTakesWhatTheSelectorNames) {
  TestCluster cluster;
  cluster.Make(kMaps, "{'metadata':{'name':'a','labels':{'x':'1'}}}");
  cluster.Make(kMaps, "{'metadata':{'name':'b','labels':{'x':'2'}}}");
  EXPECT_EQ(cluster.Delete(absl::StrCat(kMaps, "?labelSelector=x%3D1")).code, 200);
  EXPECT_EQ(cluster.Get(absl::StrCat(kMaps, "/a")).code, 404);
  EXPECT_EQ(cluster.Get(absl::StrCat(kMaps, "/b")).code, 200);
}

TEST(Deletion, ABuiltInNamespaceStays) {
  TestCluster cluster;
  const Answer refused = cluster.Delete("/api/v1/namespaces/default");
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.message(),
            "namespaces \"default\" is forbidden: this namespace may not be deleted");
}

TEST(Deletion, ATerminatingNamespaceAcceptsNothingNewUntilItIsFinalized) {
  TestCluster cluster;
  cluster.Make("/api/v1/namespaces", "{'metadata':{'name':'n'}}");
  Answer ns = cluster.Delete("/api/v1/namespaces/n");
  EXPECT_EQ(ns.At("status.phase").AsString(), "Terminating");
  const Answer refused =
      cluster.Post("/api/v1/namespaces/n/configmaps", FromText("{'metadata':{'name':'a'}}"));
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.At("details.causes").items()[0]["reason"].AsString(), "NamespaceTerminating");
  ns.body.Set("spec", Json::Object());
  EXPECT_EQ(cluster.Put("/api/v1/namespaces/n/finalize", ns.body).code, 200);
  EXPECT_EQ(cluster.Get("/api/v1/namespaces/n").code, 404);
}

TEST(Eviction, APendingPodNeedsNoBudget) {
  TestCluster cluster;
  cluster.MakePod("p");
  EXPECT_EQ(Evict(cluster, "p").code, 201);
  EXPECT_EQ(cluster.Get(PathOf("p")).code, 404);
}

TEST(Eviction, MarksTheDisruptionAndDeletesGracefully) {
  TestCluster cluster;
  cluster.MakePod("p");
  StartPod(cluster, "p");
  EXPECT_EQ(Evict(cluster, "p").code, 201);
  const Answer pod = cluster.Get(PathOf("p"));
  EXPECT_TRUE(pod.At("metadata.deletionTimestamp").is_string());
  const Json& condition = pod.At("status.conditions").items().back();
  EXPECT_EQ(condition["type"].AsString(), "DisruptionTarget");
  EXPECT_EQ(condition["reason"].AsString(), "EvictionByEvictionAPI");
}

class EvictionUnderBudget : public testing::Test {
 protected:
  EvictionUnderBudget() {
    for (const absl::string_view name : {"a", "b"}) {
      cluster_.Make(kPods, absl::StrCat("{'metadata':{'name':'", name,
                                        "','labels':{'app':'x'}},'spec':{'containers':"
                                        "[{'name':'c','image':'i'}]}}"));
      StartPod(cluster_, name);
    }
    cluster_.Make(kBudgets,
                  "{'metadata':{'name':'keep'},'spec':{'minAvailable':1,'selector':"
                  "{'matchLabels':{'app':'x'}}}}");
  }
  void Allow(int disruptions) {
    cluster_.Patch(absl::StrCat(kBudgets, "/keep/status"), kMergePatch,
                   FromText(absl::StrCat("{'status':{'observedGeneration':1,'disruptionsAllowed':",
                                         disruptions, ",'currentHealthy':1,'desiredHealthy':1}}")));
  }
  TestCluster cluster_;
};

TEST_F(EvictionUnderBudget, WaitsForTheController) {
  const Answer refused = Evict(cluster_, "a");
  EXPECT_EQ(refused.code, 429);
  EXPECT_THAT(refused.At("details.causes").items()[0]["message"].AsString(),
              HasSubstr("is still being processed by the server"));
  ASSERT_FALSE(refused.reply.headers.empty());
  EXPECT_EQ(refused.reply.headers[0].first, "Retry-After");
}

TEST_F(EvictionUnderBudget, IsRefusedWhenNothingIsLeftOfIt) {
  Allow(0);
  const Answer refused = Evict(cluster_, "a");
  EXPECT_EQ(refused.code, 429);
  EXPECT_EQ(refused.reason(), "TooManyRequests");
  EXPECT_EQ(refused.message(), "Cannot evict pod as it would violate the pod's disruption budget.");
  const Json& cause = refused.At("details.causes").items()[0];
  EXPECT_EQ(cause["reason"].AsString(), "DisruptionBudget");
  EXPECT_EQ(cause["message"].AsString(),
            "The disruption budget keep needs 1 healthy pods and has 1 currently");
}

TEST_F(EvictionUnderBudget, TakesFromIt) {
  Allow(1);
  EXPECT_EQ(Evict(cluster_, "a").code, 201);
  EXPECT_EQ(cluster_.Get(absl::StrCat(kBudgets, "/keep")).At("status.disruptionsAllowed").AsInt(),
            0);
  EXPECT_EQ(Evict(cluster_, "b").code, 429);
}

TEST_F(EvictionUnderBudget, TwoBudgetsForOnePodAreAServerError) {
  cluster_.Make(kBudgets,
                "{'metadata':{'name':'too'},'spec':{'minAvailable':1,'selector':"
                "{'matchLabels':{'app':'x'}}}}");
  const Answer refused = Evict(cluster_, "a");
  EXPECT_EQ(refused.code, 500);
  EXPECT_THAT(refused.message(), HasSubstr("more than one PodDisruptionBudget"));
}

TEST_F(EvictionUnderBudget, AnotherUidLeavesThePodAlone) {
  Allow(1);
  EXPECT_EQ(Evict(cluster_, "a", ",'deleteOptions':{'preconditions':{'uid':'x'}}").code, 409);
  EXPECT_TRUE(cluster_.Get(PathOf("a")).At("metadata.deletionTimestamp").is_null());
}

}  // namespace
}  // namespace maniple::devcluster::devcluster_deletion_test
