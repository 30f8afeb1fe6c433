// The three patches and server-side apply.
#include "api/devcluster/store/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/devcluster/types/type_registry.h"
#include "test/unit/devcluster/cluster.h"

namespace maniple::devcluster::devcluster_patch_test {
namespace {

constexpr absl::string_view kMaps = "/api/v1/namespaces/default/configmaps";

MergeRules PodRules() {
  static const auto& types = *new TypeRegistry();
  return MergeRules::OfType(*types.Find("", "v1", "pods"));
}

std::string Patched(absl::string_view target, absl::string_view patch) {
  ApiOr<Json> out = ApplyStrategicPatch(FromText(target), FromText(patch), PodRules());
  return out.ok() ? out->Dump() : out.error().message;
}

struct JsonPatchCase {
  absl::string_view target, patch, result;  // an empty result: refused with 422
};
class JsonPatchRfc6902 : public testing::TestWithParam<JsonPatchCase> {};

TEST_P(JsonPatchRfc6902, DoesWhatTheStandardSays) {
  const ApiOr<Json> out = ApplyJsonPatch(FromText(GetParam().target), FromText(GetParam().patch));
  if (GetParam().result.empty()) {
    ASSERT_FALSE(out.ok());
    EXPECT_EQ(out.error().code, 422);
  } else {
    ASSERT_TRUE(out.ok()) << out.error().message;
    EXPECT_EQ(*out, FromText(GetParam().result));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, JsonPatchRfc6902,
    testing::Values(
        JsonPatchCase{"{'a':1}", "[{'op':'add','path':'/b','value':2}]", "{'a':1,'b':2}"},
        JsonPatchCase{"{'a':[1,3]}", "[{'op':'add','path':'/a/1','value':2}]", "{'a':[1,2,3]}"},
        JsonPatchCase{"{'a':[1]}", "[{'op':'add','path':'/a/-','value':2}]", "{'a':[1,2]}"},
        JsonPatchCase{"{'a':[1]}", "[{'op':'add','path':'/a/5','value':2}]", ""},
        JsonPatchCase{"{'a':[1]}", "[{'op':'add','path':'/a/01','value':2}]", ""},
        JsonPatchCase{"{'a':1}", "[{'op':'remove','path':'/a'}]", "{}"},
        JsonPatchCase{"{'a':1}", "[{'op':'remove','path':'/b'}]", ""},
        JsonPatchCase{"{'a':1}", "[{'op':'replace','path':'/a','value':null}]", "{'a':null}"},
        JsonPatchCase{"{'a':[1]}", "[{'op':'replace','path':'/a/0','value':2}]", "{'a':[2]}"},
        JsonPatchCase{"{'a':[1]}", "[{'op':'replace','path':'/a/1','value':2}]", ""},
        JsonPatchCase{"{'a':[1]}", "[{'op':'replace','path':'/a/-','value':2}]", ""},
        JsonPatchCase{"{'a':[1]}", "[{'op':'test','path':'/a/1','value':null}]", ""},
        JsonPatchCase{"{'a':1}", "[{'op':'replace','path':'/b/c','value':1}]", ""},
        JsonPatchCase{"{'a':{'b':1}}", "[{'op':'move','from':'/a/b','path':'/c'}]",
                      "{'a':{},'c':1}"},
        JsonPatchCase{"{'a':{'b':1}}", "[{'op':'move','from':'/a','path':'/a/b'}]", ""},
        JsonPatchCase{"{'a':1}", "[{'op':'copy','from':'/a','path':'/b'}]", "{'a':1,'b':1}"},
        JsonPatchCase{"{'a':1}", "[{'op':'test','path':'/a','value':1.0}]", "{'a':1}"},
        JsonPatchCase{"{'a':1}", "[{'op':'test','path':'/a','value':2}]", ""},
        JsonPatchCase{"{'x/y':1,'m~n':2}",
                      "[{'op':'remove','path':'/x~1y'},"
                      "{'op':'remove','path':'/m~0n'}]",
                      "{}"},
        JsonPatchCase{"{'a':1}", "[{'op':'add','path':'','value':{'b':2}}]", "{'b':2}"},
        JsonPatchCase{"{'a':1}", "[{'op':'add','path':'nowhere','value':2}]", ""}));

// Where kube-apiserver is laxer than the standard, each as seen on a real one.
INSTANTIATE_TEST_SUITE_P(
    OfAbsentMembers, JsonPatchRfc6902,
    testing::Values(
        JsonPatchCase{"{'a':1}", "[{'op':'replace','path':'/b','value':1}]", "{'a':1,'b':1}"},
        JsonPatchCase{"{'a':1}", "[{'op':'test','path':'/b','value':null}]", "{'a':1}"},
        JsonPatchCase{"{'a':1}", "[{'op':'test','path':'/b'}]", "{'a':1}"},
        JsonPatchCase{"{'a':1}", "[{'op':'test','path':'/b','value':1}]", ""},
        JsonPatchCase{"{'a':1}", "[{'op':'test','path':'/b/c','value':null}]", ""},
        JsonPatchCase{"{'a':1}", "[{'op':'copy','from':'/b','path':'/c'}]", "{'a':1,'c':null}"},
        JsonPatchCase{"{'a':1}", "[{'op':'move','from':'/b','path':'/c'}]", ""}));

TEST(JsonPatch, WhatIsNoPatchIsABadRequest) {
  EXPECT_EQ(ApplyJsonPatch(Json::Object(), FromText("{'op':'add'}")).error().code, 400);
  EXPECT_EQ(ApplyJsonPatch(Json::Object(), FromText("[{'op':'eat','path':'/a'}]")).error().code,
            400);
  EXPECT_EQ(ApplyJsonPatch(Json::Object(), FromText("[{'op':'add','path':7}]")).error().code, 400);
  EXPECT_EQ(ApplyJsonPatch(Json::Object(), FromText("['add']")).error().code, 400);
}

TEST(JsonPatch, CopiesCannotGrowWithoutBound) {
  Json patch = Json::Array();
  patch.Append(FromText("{'op':'add','path':'/a','value':[1]}"));
  for (int i = 0; i < 64; ++i) patch.Append(FromText("{'op':'copy','from':'/a','path':'/a/-'}"));
  EXPECT_FALSE(ApplyJsonPatch(Json::Object(), patch).ok());
}

TEST(JsonPatch, CannotNestBeyondTheBound) {
  Json patch = Json::Array();
  std::string path;
  for (int i = 0; i < 300; ++i) {
    path += "/a";
    patch.Append(
        Json::Object({{"op", Json("add")}, {"path", Json(path)}, {"value", Json::Object()}}));
  }
  const ApiOr<Json> out = ApplyJsonPatch(Json::Object(), patch);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, 400);
}

TEST(MergePatch, FollowsRfc7386) {
  const ApiOr<Json> out =
      ApplyMergePatch(FromText("{'a':{'b':1,'c':2},'l':[1,2]}"),
                      FromText("{'a':{'b':null,'d':3},'l':[3],'n':{'x':null}}"));
  EXPECT_EQ(*out, FromText("{'a':{'c':2,'d':3},'l':[3],'n':{}}"));
}

TEST(StrategicPatch, MergesContainersByName) {
  EXPECT_EQ(Patched("{'containers':[{'name':'a','image':'1'},{'name':'b','image':'2'}]}",
                    "{'containers':[{'name':'b','image':'3'}]}"),
            FromText("{'containers':[{'name':'a','image':'1'},{'name':'b','image':'3'}]}").Dump());
}

TEST(StrategicPatch, PutsNewItemsWhereKubernetesPutsThem) {
  EXPECT_EQ(Patched("{'conditions':[{'type':'A'}]}", "{'conditions':[{'type':'B'}]}"),
            FromText("{'conditions':[{'type':'B'},{'type':'A'}]}").Dump());
  EXPECT_EQ(Patched("{'conditions':[{'type':'A'}]}",
                    "{'$setElementOrder/conditions':[{'type':'A'},{'type':'B'}],"
                    "'conditions':[{'type':'B'}]}"),
            FromText("{'conditions':[{'type':'A'},{'type':'B'}]}").Dump());
}

TEST(StrategicPatch, ReplacesAtomicListsWhole) {
  EXPECT_EQ(Patched("{'tolerations':[{'key':'a'}]}", "{'tolerations':[{'key':'b'}]}"),
            FromText("{'tolerations':[{'key':'b'}]}").Dump());
}

TEST(StrategicPatch, ObeysItsDirectives) {
  EXPECT_EQ(Patched("{'containers':[{'name':'a'},{'name':'b'}]}",
                    "{'containers':[{'name':'a','$patch':'delete'}]}"),
            FromText("{'containers':[{'name':'b'}]}").Dump());
  EXPECT_EQ(Patched("{'containers':[{'name':'a'},{'name':'b'}]}",
                    "{'containers':[{'$patch':'replace'},{'name':'c'}]}"),
            FromText("{'containers':[{'name':'c'}]}").Dump());
  EXPECT_EQ(Patched("{'nodeSelector':{'a':'1'}}", "{'nodeSelector':{'$patch':'replace','b':'2'}}"),
            FromText("{'nodeSelector':{'b':'2'}}").Dump());
  EXPECT_EQ(Patched("{'finalizers':['a','b']}", "{'$deleteFromPrimitiveList/finalizers':['a']}"),
            FromText("{'finalizers':['b']}").Dump());
  EXPECT_EQ(Patched("{'strategy':{'type':'R','rolling':{'x':1}}}",
                    "{'strategy':{'$retainKeys':['type'],'type':'Recreate'}}"),
            FromText("{'strategy':{'type':'Recreate'}}").Dump());
}

TEST(StrategicPatch, AnItemWithoutItsKeyIsRefused) {
  EXPECT_THAT(Patched("{}", "{'containers':[{'image':'x'}]}"),
              testing::HasSubstr("does not contain declared merge key: name"));
}

TEST(Patch, OfACustomObjectCannotBeStrategicNorAnyObjectPlain) {
  TestCluster cluster;
  cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  const Answer refused = cluster.Patch(absl::StrCat(kMaps, "/a"), "application/json", Json());
  EXPECT_EQ(refused.code, 415);
  EXPECT_EQ(refused.reason(), "UnsupportedMediaType");
}

TEST(Patch, WithAVersionIsOptimistic) {
  TestCluster cluster;
  cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  EXPECT_EQ(cluster
                .Patch(absl::StrCat(kMaps, "/a"), kMergePatch,
                       FromText("{'metadata':{'resourceVersion':'1'},'data':{'k':'v'}}"))
                .code,
            409);
}

TEST(Patch, CannotRenameAnObject) {
  TestCluster cluster;
  cluster.Make(kMaps, "{'metadata':{'name':'a'}}");
  EXPECT_EQ(
      cluster.Patch(absl::StrCat(kMaps, "/a"), kMergePatch, FromText("{'metadata':{'name':'b'}}"))
          .code,
      400);
}

class Apply : public testing::Test {
 protected:
  Answer By(absl::string_view manager, absl::string_view data, absl::string_view more = "") {
    return cluster_.Apply(path_, manager,
                          FromText(absl::StrCat("{'apiVersion':'v1','kind':'ConfigMap','metadata':"
                                                "{'name':'a'},'data':{",
                                                data, "}}")),
                          more);
  }
  TestCluster cluster_;
  const std::string path_ = absl::StrCat(kMaps, "/a");
};

TEST_F(Apply, CreatesAndThenChangesNothingWhenNothingChanged) {
  const Answer made = By("one", "'k':'v'");
  EXPECT_EQ(made.code, 201);
  EXPECT_EQ(By("one", "'k':'v'").body, made.body);
}

TEST_F(Apply, TakesAwayWhatTheManagerNoLongerStates) {
  By("one", "'k':'v','l':'w'");
  EXPECT_EQ(By("one", "'k':'v'").At("data").Dump(), FromText("{'k':'v'}").Dump());
}

TEST_F(Apply, LeavesWhatOthersState) {
  By("one", "'k':'v'");
  By("two", "'l':'w'");
  EXPECT_EQ(By("one", "'m':'x'").At("data"), FromText("{'l':'w','m':'x'}"));
}

TEST_F(Apply, RefusesAFieldOfAnotherManagerAndNamesIt) {
  By("one", "'k':'v'");
  const Answer refused = By("two", "'k':'mine'");
  EXPECT_EQ(refused.code, 409);
  EXPECT_EQ(refused.message(),
            "Apply failed with 1 conflict: conflict with \"one\" using v1: .data.k");
  const Json& cause = refused.At("details.causes").items()[0];
  EXPECT_EQ(cause["reason"].AsString(), "FieldManagerConflict");
  EXPECT_EQ(cause["field"].AsString(), ".data.k");
  EXPECT_EQ(By("two", "'k':'v'").code, 200) << "the same value is no conflict";
}

TEST_F(Apply, TakesItByForceAndTheOtherOwnsItNoMore) {
  By("one", "'k':'v'");
  EXPECT_EQ(By("two", "'k':'mine'", "&force=true").At("data.k").AsString(), "mine");
  EXPECT_EQ(By("one", "'l':'w'").At("data.k").AsString(), "mine");
}

TEST_F(Apply, NeedsAManager) {
  EXPECT_EQ(cluster_
                .Patch(path_, "application/apply-patch+yaml",
                       FromText("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'}}"))
                .code,
            422);
}

}  // namespace
}  // namespace maniple::devcluster::devcluster_patch_test
