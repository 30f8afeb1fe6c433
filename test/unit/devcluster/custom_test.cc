// CustomResourceDefinitions: served at once, defaulted, pruned, validated, and gone with their
// objects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/unit/devcluster/cluster.h"

namespace maniple::devcluster {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr absl::string_view kWidgets = "/apis/example.com/v1/namespaces/default/widgets";

std::string Crd(absl::string_view properties) {
  return absl::StrCat(
      "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com',"
      "'names':{'plural':'widgets','kind':'Widget'},'scope':'Namespaced','versions':[{'name':'v1',"
      "'served':true,'storage':true,'subresources':{'status':{}},'schema':{'openAPIV3Schema':"
      "{'type':'object','properties':{'spec':{'type':'object','properties':{",
      properties, "}},'status':{'type':'object','properties':{'ready':{'type':'boolean'}}}}}}}]}}");
}

constexpr absl::string_view kProperties =
    "'size':{'type':'integer','minimum':1,'default':3},'color':{'type':'string'}";

Json Widget(absl::string_view spec) {
  return FromText(
      absl::StrCat("{'apiVersion':'example.com/v1','kind':'Widget','metadata':"
                   "{'name':'w'},'spec':{",
                   spec, "}}"));
}

TEST(Custom, TypesAreServedAsSoonAsTheyAreDefined) {
  TestCluster cluster;
  EXPECT_EQ(cluster.Get(kWidgets).code, 404);
  const Json crd = cluster.Make(kCrds, Crd(kProperties));
  bool established = false;
  for (const Json& condition : crd.At("status.conditions").items()) {
    established |=
        condition["type"].AsString() == "Established" && condition["status"].AsString() == "True";
  }
  EXPECT_TRUE(established);
  EXPECT_EQ(crd.At("spec.names.listKind").AsString(), "WidgetList");
  EXPECT_EQ(cluster.Get(kWidgets).At("kind").AsString(), "WidgetList");
}

TEST(Custom, ADefinitionThatServesNothingGoesAsOthersDo) {
  TestCluster cluster;
  cluster.Make(kCrds,
               "{'metadata':{'name':'widgets.example.com','finalizers':["
               "'customresourcecleanup.apiextensions.k8s.io']},'spec':{'group':'example.com',"
               "'names':{'plural':'widgets','kind':'Widget'},'scope':'Namespaced','versions':[{"
               "'name':'v1','served':false,'storage':true,'schema':{'openAPIV3Schema':{'type':"
               "'object'}}}]}}");
  const std::string crd = absl::StrCat(kCrds, "/widgets.example.com");
  EXPECT_EQ(cluster.Get(kWidgets).code, 404);
  EXPECT_EQ(cluster.Delete(crd).code, 200);
  cluster.Advance(absl::Seconds(1));
  EXPECT_EQ(cluster.Get(crd).code, 404);
}

TEST(Custom, MetadataOfADefinitionHasTheTypesOfAnyMetadata) {
  TestCluster cluster;
  Json crd = FromText(Crd(kProperties));
  crd.Mutable("metadata").Set("managedFields", Json::Array({Json("x")}));
  EXPECT_EQ(cluster.Post(kCrds, crd).code, 400);
}

TEST(Custom, ObjectsAreDefaultedPrunedAndValidated) {
  TestCluster cluster;
  cluster.Make(kCrds, Crd(kProperties));
  const Answer made = cluster.Post(kWidgets, Widget("'color':'red','taste':'sweet'"));
  EXPECT_EQ(made.code, 201);
  EXPECT_EQ(made.At("spec"), FromText("{'color':'red','size':3}"));
  ASSERT_FALSE(made.reply.headers.empty());
  EXPECT_EQ(made.reply.headers[0].second, "299 - \"unknown field \\\"spec.taste\\\"\"");
  const Answer refused =
      cluster.Patch(absl::StrCat(kWidgets, "/w"), kMergePatch, FromText("{'spec':{'size':0}}"));
  EXPECT_EQ(refused.code, 422);
  EXPECT_THAT(refused.message(), HasSubstr("Widget.example.com \"w\" is invalid: spec.size"));
}

TEST(Custom, StrictValidationRefusesWhatIsUnknownOrTwice) {
  TestCluster cluster;
  cluster.Make(kCrds, Crd(kProperties));
  const Answer refused =
      cluster.Post(absl::StrCat(kWidgets, "?fieldValidation=Strict"), Widget("'taste':'sweet'"));
  EXPECT_EQ(refused.code, 400);
  EXPECT_THAT(refused.message(), HasSubstr("strict decoding error: unknown field \"spec.taste\""));
  const Answer twice =
      cluster.Do({.method = "POST",
                  .target = absl::StrCat(kWidgets, "?fieldValidation=Strict"),
                  .content_type = "application/json",
                  .body = R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},
                   "spec":{"color":"red","color":"blue"}})"});
  EXPECT_EQ(twice.code, 400);
  EXPECT_THAT(twice.message(), HasSubstr("duplicate field \"spec.color\""));
}

TEST(Custom, StatusAndSpecAreWrittenApart) {
  TestCluster cluster;
  cluster.Make(kCrds, Crd(kProperties));
  Json widget = Widget("");
  widget.Set("status", FromText("{'ready':true}"));
  const Answer made = cluster.Post(kWidgets, widget);
  EXPECT_FALSE(made.body.Has("status"));
  const Answer status = cluster.Patch(absl::StrCat(kWidgets, "/w/status"), kMergePatch,
                                      FromText("{'spec':{'size':9},'status':{'ready':true}}"));
  EXPECT_EQ(status.At("spec.size").AsInt(), 3);
  EXPECT_TRUE(status.At("status.ready").AsBool());
  EXPECT_EQ(status.At("metadata.generation").AsInt(), 1);
  const Answer main = cluster.Patch(absl::StrCat(kWidgets, "/w"), kMergePatch,
                                    FromText("{'spec':{'size':9},'status':{'ready':false}}"));
  EXPECT_TRUE(main.At("status.ready").AsBool());
  EXPECT_EQ(main.At("metadata.generation").AsInt(), 2);
}

TEST(Custom, StrategicPatchesAreUnsupported) {
  TestCluster cluster;
  cluster.Make(kCrds, Crd(kProperties));
  cluster.Post(kWidgets, Widget(""));
  EXPECT_EQ(cluster.Patch(absl::StrCat(kWidgets, "/w"), kStrategicPatch, Json::Object()).code, 415);
}

TEST(Custom, AnUpdateNeedsAVersion) {
  TestCluster cluster;
  cluster.Make(kCrds, Crd(kProperties));
  cluster.Post(kWidgets, Widget(""));
  EXPECT_EQ(cluster.Put(absl::StrCat(kWidgets, "/w"), Widget("'size':4")).code, 422);
}

TEST(Custom, ADefinitionThatChangesIsServedAnew) {
  TestCluster cluster;
  Json crd = cluster.Make(kCrds, Crd(kProperties));
  Json next = FromText(Crd("'size':{'type':'integer'},'taste':{'type':'string'}"));
  next.Mutable("metadata").Set("resourceVersion", crd.At("metadata.resourceVersion"));
  EXPECT_EQ(cluster.Put(absl::StrCat(kCrds, "/widgets.example.com"), next).code, 200);
  EXPECT_EQ(cluster.Post(kWidgets, Widget("'taste':'sweet'")).At("spec.taste").AsString(), "sweet");
}

TEST(Custom, AStatusWithoutSubresourceIsPartOfTheObject) {
  TestCluster cluster;
  Json crd = FromText(Crd(kProperties));
  const Json with_status = crd;
  Json& version = crd.Mutable("spec").Mutable("versions").mutable_items().at(0);
  version.Erase("subresources");
  Json made = cluster.Post(kCrds, crd).body;
  cluster.Post(kWidgets, Widget(""));
  const std::string widget = absl::StrCat(kWidgets, "/w");
  const Json ready = FromText("{'status':{'ready':true}}");
  EXPECT_EQ(cluster.Patch(absl::StrCat(widget, "/status"), kMergePatch, ready).code, 404);
  const Answer patched = cluster.Patch(widget, kMergePatch, ready);
  EXPECT_TRUE(patched.At("status.ready").AsBool());
  EXPECT_EQ(patched.At("metadata.generation").AsInt(), 2) << "a write of any field";
  Json next = with_status;
  next.Mutable("metadata").Set("resourceVersion", made.At("metadata.resourceVersion"));
  EXPECT_EQ(cluster.Put(absl::StrCat(kCrds, "/widgets.example.com"), next).code, 200);
  EXPECT_EQ(cluster.Patch(absl::StrCat(widget, "/status"), kMergePatch, ready).code, 200);
}

TEST(Custom, ADefinitionThatComesAgainIsServedEmpty) {
  TestCluster cluster;
  for (int i = 0; i < 2; ++i) {
    cluster.Make(kCrds, Crd(kProperties));
    EXPECT_EQ(cluster.Get(kWidgets).At("items").size(), 0u);
    EXPECT_EQ(cluster.Post(kWidgets, Widget("")).code, 201);
    cluster.Delete(absl::StrCat(kCrds, "/widgets.example.com"));
    EXPECT_EQ(cluster.Get(kWidgets).code, 404);
  }
}

TEST(Custom, ADeletedDefinitionTakesItsObjectsAndWatchesAlong) {
  TestCluster cluster;
  cluster.Make(kCrds, Crd(kProperties));
  cluster.Post(kWidgets, Widget(""));
  const WatchId watch = cluster.Watch(absl::StrCat(kWidgets, "?watch=true"));
  EXPECT_EQ(cluster.Told(watch), "ADDED w");
  EXPECT_EQ(cluster.Delete(absl::StrCat(kCrds, "/widgets.example.com")).code, 200);
  EXPECT_EQ(cluster.Told(watch), "DELETED w");
  EXPECT_TRUE(cluster.ended());
  EXPECT_EQ(cluster.Get(kWidgets).code, 404);
}

TEST(Custom, ADefinitionWaitsForObjectsThatFinalizersHold) {
  TestCluster cluster;
  cluster.Make(kCrds, Crd(kProperties));
  Json held = Widget("");
  held.Mutable("metadata").Set("finalizers", FromText("['x.io/hold']"));
  cluster.Post(kWidgets, held);
  const std::string path = absl::StrCat(kCrds, "/widgets.example.com");
  EXPECT_TRUE(cluster.Delete(path).At("metadata.deletionTimestamp").is_string());
  EXPECT_EQ(cluster.Get(path).code, 200);
  cluster.Patch(absl::StrCat(kWidgets, "/w"), kMergePatch,
                FromText("{'metadata':{'finalizers':[]}}"));
  EXPECT_EQ(cluster.Get(path).code, 404);
}

TEST(Custom, ABadDefinitionIsRefusedAndNothingIsServed) {
  TestCluster cluster;
  const Answer untyped = cluster.Post(kCrds, FromText(Crd("'size':{'minimum':1}")));
  EXPECT_EQ(untyped.code, 422);
  Json misnamed = FromText(Crd(kProperties));
  misnamed.Mutable("metadata").Set("name", "gadgets.example.com");
  const Answer refused = cluster.Post(kCrds, misnamed);
  EXPECT_EQ(refused.code, 422);
  EXPECT_THAT(refused.message(), HasSubstr("must be spec.names.plural+\".\"+spec.group"));
  EXPECT_EQ(cluster.Get(kWidgets).code, 404);
}

TEST(Custom, AnEmptyDefinitionIsRefusedWithoutHarm) {
  TestCluster cluster;
  EXPECT_EQ(cluster.Post(kCrds, FromText("{'metadata':{'name':'x'}}")).code, 422);
  EXPECT_EQ(cluster.Post(kCrds, FromText("{'metadata':{'name':'x'},'spec':{'names':'y'}}")).code,
            422);
}

}  // namespace
}  // namespace maniple::devcluster
