// Creating, reading and changing objects: names, versions, preconditions, what the server sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/unit/devcluster/cluster.h"

namespace maniple::devcluster::devcluster_objects_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::string_view kMaps = "/api/v1/namespaces/default/configmaps";

TEST(Objects, ACreatedObjectIsReadBackWithWhatTheServerSets) {
  TestCluster cluster;
  const Answer made = cluster.Post(kMaps, FromText("{'metadata':{'name':'a'},'data':{'k':'v'}}"));
  EXPECT_EQ(made.code, 201);
  EXPECT_EQ(made.At("kind").AsString(), "ConfigMap");
  EXPECT_EQ(made.At("metadata.namespace").AsString(), "default");
  EXPECT_EQ(made.At("metadata.uid").AsString().size(), 36);
  EXPECT_EQ(made.At("metadata.creationTimestamp").AsString(), "2023-11-14T22:13:20Z");
  EXPECT_EQ(cluster.Get(absl::StrCat(kMaps, "/a")).body, made.body);
}

TEST(Objects, UnknownFieldsSurviveAWriteAndARead) {
  TestCluster cluster;
  cluster.Make(kMaps, "{'metadata':{'name':'a'},'newerField':{'x':1.5}}");
  EXPECT_EQ(cluster.Get(absl::StrCat(kMaps, "/a")).At("newerField.x").AsDouble(), 1.5);
}

TEST(Objects, ASecondOneOfTheSameNameAlreadyExists) {
  TestCluster cluster;
  cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  const Answer again = cluster.Post(kMaps, FromText("{'metadata':{'name':'a'}}"));
  EXPECT_EQ(again.code, 409);
  EXPECT_EQ(again.reason(), "AlreadyExists");
  EXPECT_EQ(again.message(), "configmaps \"a\" already exists");
  EXPECT_EQ(again.At("details.kind").AsString(), "configmaps");
}

TEST(Objects, AMissingOneIsNotFoundInTheWordsOfKubernetes) {
  TestCluster cluster;
  const Answer missing = cluster.Get("/apis/apps/v1/namespaces/default/deployments/web");
  EXPECT_EQ(missing.body,
            FromText("{'kind':'Status','apiVersion':'v1','metadata':{},"
                     "'status':'Failure','reason':'NotFound','code':404,"
                     "'message':'deployments.apps \\'web\\' not found',"
                     "'details':{'name':'web','group':'apps','kind':'deployments'}}"));
}

TEST(Objects, GenerateNameAppendsFiveLetters) {
  TestCluster cluster;
  const Json made = cluster.Make(kMaps, "{'metadata':{'generateName':'job-'}}");
  const std::string& name = made.At("metadata.name").AsString();
  EXPECT_THAT(name, StartsWith("job-"));
  EXPECT_EQ(name.size(), 9);
}

TEST(Objects, ABadNameIsInvalidWithItsCause) {
  TestCluster cluster;
  const Answer bad = cluster.Post(kMaps, FromText("{'metadata':{'name':'Bad_Name'}}"));
  EXPECT_EQ(bad.code, 422);
  EXPECT_EQ(bad.reason(), "Invalid");
  EXPECT_THAT(bad.message(),
              StartsWith("ConfigMap \"Bad_Name\" is invalid: metadata.name: Invalid value: "
                         "\"Bad_Name\": a lowercase RFC 1123 subdomain must consist of"));
  ASSERT_EQ(bad.At("details.causes").size(), 1);
  EXPECT_EQ(bad.At("details.causes").items()[0]["field"].AsString(), "metadata.name");
  EXPECT_EQ(bad.At("details.causes").items()[0]["reason"].AsString(), "FieldValueInvalid");
}

TEST(Objects, WithoutANameOneIsRequired) {
  TestCluster cluster;
  const Answer bad = cluster.Post(kMaps, FromText("{'metadata':{}}"));
  EXPECT_EQ(bad.code, 422);
  EXPECT_THAT(bad.message(), EndsWith("Required value: name or generateName is required"));
}

TEST(Objects, BadLabelsAreRefused) {
  TestCluster cluster;
  EXPECT_EQ(cluster.Post(kMaps, FromText("{'metadata':{'name':'a','labels':{'x y':'z'}}}")).code,
            422);
  EXPECT_EQ(cluster.Post(kMaps, FromText("{'metadata':{'name':'a','labels':{'x':'a/b'}}}")).code,
            422);
  EXPECT_EQ(cluster.Post(kMaps, FromText("{'metadata':{'name':'a','labels':{'x':7}}}")).code, 400);
}

TEST(Objects, AFinalizerOfABuiltInKindNamesItsDomain) {
  TestCluster cluster;
  const Answer bad = cluster.Post(
      kMaps, FromText("{'metadata':{'name':'a','finalizers':['x.io/hold','orphan','hold']}}"));
  ASSERT_EQ(bad.code, 422);
  ASSERT_EQ(bad.At("details.causes").size(), 1);
  EXPECT_EQ(bad.At("details.causes").items()[0]["field"].AsString(), "metadata.finalizers[2]");
  EXPECT_EQ(bad.At("details.causes").items()[0]["message"].AsString(),
            "Invalid value: \"hold\": name is neither a standard finalizer name nor is it fully "
            "qualified");
  cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  EXPECT_EQ(cluster
                .Patch(absl::StrCat(kMaps, "/a"), kMergePatch,
                       FromText("{'metadata':{'finalizers':['hold']}}"))
                .code,
            422);
  // Kubernetes does not ask for it here.
  cluster.Make("/apis/coordination.k8s.io/v1/namespaces/default/leases",
               "{'metadata':{'name':'a','finalizers':['hold']},'spec':{}}");
}

TEST(Objects, ANamespaceMustExist) {
  TestCluster cluster;
  const Answer bad =
      cluster.Post("/api/v1/namespaces/nowhere/configmaps", FromText("{'metadata':{'name':'a'}}"));
  EXPECT_EQ(bad.code, 404);
  EXPECT_EQ(bad.message(), "namespaces \"nowhere\" not found");
}

TEST(Objects, TheNamespaceOfTheBodyMustBeThatOfThePath) {
  TestCluster cluster;
  const Answer bad =
      cluster.Post(kMaps, FromText("{'metadata':{'name':'a','namespace':'kube-system'}}"));
  EXPECT_EQ(bad.code, 400);
  EXPECT_EQ(bad.message(),
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
}

TEST(Objects, AnUpdateWithAnOldVersionConflicts) {
  TestCluster cluster;
  Json object = cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  object.Set("data", FromText("{'k':'1'}"));
  ASSERT_EQ(cluster.Put(absl::StrCat(kMaps, "/a"), object).code, 200);
  object.Set("data", FromText("{'k':'2'}"));
  const Answer stale = cluster.Put(absl::StrCat(kMaps, "/a"), object);
  EXPECT_EQ(stale.code, 409);
  EXPECT_EQ(stale.reason(), "Conflict");
  EXPECT_EQ(stale.message(),
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; "
            "please apply your changes to the latest version and try again");
}

TEST(Objects, AnUpdateWithoutAVersionIsUnconditionalWhereKubernetesAllowsIt) {
  TestCluster cluster;
  cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  EXPECT_EQ(cluster.Put(absl::StrCat(kMaps, "/a"), FromText("{'metadata':{'name':'a'}}")).code,
            200);
  constexpr absl::string_view kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  cluster.Make(kLeases, "{'metadata':{'name':'l'},'spec':{}}");
  const Answer bad =
      cluster.Put(absl::StrCat(kLeases, "/l"), FromText("{'metadata':{'name':'l'},'spec':{}}"));
  EXPECT_EQ(bad.code, 422);
  EXPECT_THAT(bad.message(),
              HasSubstr("metadata.resourceVersion: Invalid value: 0: must be specified for an "
                        "update"));
}

TEST(Objects, AnUpdateOfAnotherUidConflicts) {
  TestCluster cluster;
  Json object = cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  object.Mutable("metadata").Set("uid", "00000000-0000-4000-8000-000000000000");
  EXPECT_EQ(cluster.Put(absl::StrCat(kMaps, "/a"), object).code, 409);
}

TEST(Objects, AnUpdateThatChangesNothingKeepsTheVersion) {
  TestCluster cluster;
  const Json object = cluster.Make(kMaps, "{'metadata':{'name':'a'},'data':{'k':'v'}}");
  EXPECT_EQ(cluster.Put(absl::StrCat(kMaps, "/a"), object).body, object);
}

TEST(Objects, WhatTheServerSetsNoUpdateCanChange) {
  TestCluster cluster;
  Json object = cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  Json forged = object;
  forged.Mutable("metadata").Set("creationTimestamp", "1999-01-01T00:00:00Z");
  forged.Mutable("metadata").Set("deletionTimestamp", "1999-01-01T00:00:00Z");
  const Answer put = cluster.Put(absl::StrCat(kMaps, "/a"), forged);
  EXPECT_EQ(put.code, 200);
  EXPECT_EQ(put.body, object);
}

TEST(Objects, TheNameInTheBodyMustBeThatOfTheUrl) {
  TestCluster cluster;
  cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  const Answer bad = cluster.Put(absl::StrCat(kMaps, "/a"), FromText("{'metadata':{'name':'b'}}"));
  EXPECT_EQ(bad.code, 400);
  EXPECT_EQ(bad.message(), "the name of the object (b) does not match the name on the URL (a)");
}

TEST(Objects, ADryRunTellsTheResultAndKeepsNothing) {
  TestCluster cluster;
  const Answer made =
      cluster.Post(absl::StrCat(kMaps, "?dryRun=All"), FromText("{'metadata':{'name':'a'}}"));
  EXPECT_EQ(made.code, 201);
  EXPECT_EQ(cluster.Get(absl::StrCat(kMaps, "/a")).code, 404);
  EXPECT_EQ(cluster.Post(absl::StrCat(kMaps, "?dryRun=Maybe"), FromText("{'metadata':{}}")).code,
            422);
}

TEST(Objects, GenerationGrowsWithTheSpecOnly) {
  TestCluster cluster;
  constexpr absl::string_view kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  cluster.Make(kBudgets, "{'metadata':{'name':'b'},'spec':{'minAvailable':1}}");
  const std::string path = absl::StrCat(kBudgets, "/b");
  EXPECT_EQ(cluster.Get(path).At("metadata.generation").AsInt(), 1);
  EXPECT_EQ(cluster.Patch(path, kMergePatch, FromText("{'metadata':{'labels':{'x':'y'}}}"))
                .At("metadata.generation")
                .AsInt(),
            1);
  EXPECT_EQ(cluster.Patch(path, kMergePatch, FromText("{'spec':{'minAvailable':2}}"))
                .At("metadata.generation")
                .AsInt(),
            2);
}

TEST(Objects, EveryClusterHasItsNamespacesAndSystemPriorities) {
  TestCluster cluster;
  EXPECT_EQ(cluster.Get("/api/v1/namespaces").body["items"].size(), 4);
  EXPECT_EQ(cluster.Get("/api/v1/namespaces/default").At("status.phase").AsString(), "Active");
  EXPECT_EQ(cluster.Get("/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical")
                .At("value")
                .AsInt(),
            2000001000);
}

TEST(Objects, SecretsKeepWhatWasGivenInClear) {
  TestCluster cluster;
  const Json secret = cluster.Make("/api/v1/namespaces/default/secrets",
                                   "{'metadata':{'name':'s'},'stringData':{'k':'value'}}");
  EXPECT_EQ(secret.At("data.k").AsString(), "dmFsdWU=");
  EXPECT_FALSE(secret.Has("stringData"));
}

TEST(Objects, ASnapshotLoadedAgainHoldsTheSameObjects) {
  TestCluster cluster;
  cluster.MakePod("p");
  cluster.Make(kMaps, "{'metadata':{'name':'a'},'data':{'k':'v'}}");
  TestCluster restored;
  ASSERT_TRUE(restored.server().Load(cluster.server().Dump(), cluster.now()).ok());
  EXPECT_EQ(restored.Get(absl::StrCat(kMaps, "/a")).At("data.k").AsString(), "v");
  EXPECT_EQ(restored.Get(absl::StrCat(TestCluster::kPods, "/p")).At("spec").Dump(),
            cluster.Get(absl::StrCat(TestCluster::kPods, "/p")).At("spec").Dump());
}

}  // namespace
}  // namespace maniple::devcluster::devcluster_objects_test
