// Whatever comes in, the server answers with a Status and goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/random.h"
#include "api/devcluster/rest/field_check.h"
#include "api/devcluster/types/quantity_form.h"
#include "test/unit/devcluster/cluster.h"

namespace maniple::devcluster::devcluster_hostile_test {
namespace {

constexpr absl::string_view kPods = TestCluster::kPods;

TEST(Hostile, BodiesThatAreNoObjectsAreBadRequests) {
  TestCluster cluster;
  for (const absl::string_view body :
       {"", "{", "null", "[]", "7", "\"x\"", "{\"metadata\":7}", "{\"metadata\":{\"name\":7}}",
        "\xff\xfe", "{\"kind\":\"Node\"}", "{\"apiVersion\":\"v9\"}"}) {
    const Answer refused = cluster.Do({.method = "POST",
                                       .target = std::string(kPods),
                                       .content_type = "application/json",
                                       .body = std::string(body)});
    EXPECT_EQ(refused.code, 400) << body;
    EXPECT_EQ(refused.reason(), "BadRequest") << body;
  }
}

// The server was gone with them.
TEST(Hostile, OptionsOfADeletionThatAreNoObjectDeleteNothing) {
  TestCluster cluster;
  cluster.MakePod("p");
  for (const absl::string_view body : {"null", "[]", "7", "\"x\""}) {
    EXPECT_EQ(cluster
                  .Do({.method = "DELETE",
                       .target = absl::StrCat(kPods, "/p"),
                       .content_type = "application/json",
                       .body = std::string(body)})
                  .code,
              400)
        << body;
  }
  EXPECT_EQ(cluster.Get(absl::StrCat(kPods, "/p")).code, 200);
}

// A dry run scaled, and so did whatever was not a GET.
TEST(Hostile, AScaleIsReadReplacedOrPatchedAndTriedDry) {
  TestCluster cluster;
  constexpr absl::string_view kSets = "/apis/apps/v1/namespaces/default/deployments";
  cluster.Make(kSets,
               "{'metadata':{'name':'d'},'spec':{'replicas':2,'selector':{"
               "'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':"
               "'b'}},'spec':{'containers':[{'name':'c','image':'i'}]}}}}");
  const std::string scale = absl::StrCat(kSets, "/d/scale");
  const Json five = FromText("{'metadata':{'name':'d'},'spec':{'replicas':5}}");
  EXPECT_EQ(cluster.Delete(scale).code, 405);
  EXPECT_EQ(cluster.Post(scale, five).code, 405);
  EXPECT_EQ(cluster.Put(absl::StrCat(scale, "?dryRun=All"), five).code, 200);
  EXPECT_EQ(cluster.Get(scale).At("spec.replicas").AsInt(), 2);
  EXPECT_EQ(cluster.Put(scale, five).code, 200);
  EXPECT_EQ(cluster.Get(scale).At("spec.replicas").AsInt(), 5);
}

TEST(Hostile, DeepNestingIsRefusedInEveryFormat) {
  TestCluster cluster;
  // Whole in every other way, so that it is its depth that is refused.
  const std::string deep =
      absl::StrCat(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]},)",
                   R"("deep":)", std::string(300, '['), std::string(300, ']'), "}");
  for (const absl::string_view type : {"application/json", "application/yaml"}) {
    EXPECT_EQ(cluster
                  .Do({.method = "POST",
                       .target = std::string(kPods),
                       .content_type = std::string(type),
                       .body = deep})
                  .code,
              400)
        << type;
  }
}

TEST(Hostile, ATooLargeBodyIsRefused) {
  TestCluster cluster;
  const Answer refused = cluster.Do({.method = "POST",
                                     .target = std::string(kPods),
                                     .content_type = "application/json",
                                     .body = std::string(4 * 1024 * 1024, ' ')});
  EXPECT_EQ(refused.code, 413);
}

TEST(Hostile, UnknownMediaTypesAndMethodsAreNamed) {
  TestCluster cluster;
  EXPECT_EQ(cluster
                .Do({.method = "POST",
                     .target = std::string(kPods),
                     .content_type = "text/plain",
                     .body = "x"})
                .code,
            415);
  EXPECT_EQ(cluster.Do({.method = "BREW", .target = std::string(kPods)}).code, 405);
  EXPECT_EQ(cluster.Do({.method = "PUT", .target = std::string(kPods)}).code, 405);
  EXPECT_EQ(cluster.Do({.method = "POST", .target = absl::StrCat(kPods, "/x")}).code, 405);
}

TEST(Hostile, PathsThatLeadNowhereAreNotFound) {
  TestCluster cluster;
  for (const absl::string_view path :
       {"/api/v1", "/api/v1/dragons", "/apis/no.such/v1/things", "/api/v1/nodes/a/b/c/d",
        "/api/v1/namespaces/default/nodes/n", "/api/v1/pods/p", "/%00", "/api/v1/%2F%2F",
        "/api//v1///pods/x/y/z/w", "%", "x"}) {
    const Answer answer = cluster.Get(path);
    if (path == "/api/v1") continue;  // discovery
    EXPECT_EQ(answer.code, 404) << path;
  }
}

// Mutations of a good pod: the server must answer, whatever stands where.
TEST(Hostile, RandomlyBrokenPodsNeverCrash) {
  const std::vector<Json> odd = {Json(),
                                 Json(7),
                                 Json(-1),
                                 Json(1.5),
                                 Json(true),
                                 Json(""),
                                 Json("x"),
                                 Json::Array(),
                                 Json::Array({Json()}),
                                 Json::Object(),
                                 FromText("{'a':{'b':[]}}"),
                                 FromText("[[],{}]")};
  const Json good = FromText(
      "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','labels':{'a':'b'},'finalizers':[],"
      "'ownerReferences':[{'kind':'X','apiVersion':'v1','name':'n','uid':'u'}]},"
      "'spec':{'nodeSelector':{'a':'b'},'tolerations':[{'key':'k'}],'runtimeClassName':'',"
      "'priorityClassName':'','overhead':{},'schedulingGates':[{'name':'g'}],'volumes':[{'name':"
      "'v','secret':{}}],'containers':[{'name':'c','image':'i','ports':[{'containerPort':80}],"
      "'env':[{'name':'e','valueFrom':{'fieldRef':{}}}],'livenessProbe':{'httpGet':{}},"
      "'resources':{'limits':{'cpu':'1'},'requests':{'cpu':'1'}}}]},'status':{'conditions':[]}}");
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    TestCluster cluster;
    Json pod = good;
    for (uint64_t n = 1 + random.Below(3); n > 0; --n) {
      Json* at = &pod;
      while (at->size() > 0 && !random.OneIn(4)) {
        const size_t index = random.Below(at->size());
        at = at->is_object() ? &at->mutable_members()[index].second : &at->mutable_items()[index];
      }
      *at = odd[random.Below(odd.size())];
    }
    const Answer made = cluster.Post(kPods, pod);
    EXPECT_TRUE(made.code == 201 || made.code == 400 || made.code == 422 || made.code == 403)
        << made.code << " " << pod.Dump();
    cluster.MakePod("q");
    const std::string path = absl::StrCat(kPods, "/q");
    for (const absl::string_view type : {kMergePatch, kStrategicPatch}) {
      (void)cluster.Patch(path, type, pod);
      (void)cluster.Patch(path + "/status", type, pod);
    }
    (void)cluster.Post(path + "/binding", pod);
    (void)cluster.Post(path + "/eviction", pod);
    (void)cluster.Delete(path, pod);
    (void)cluster.Apply(absl::StrCat(kPods, "/p"), "m", pod);
    (void)cluster.server().Load({pod}, cluster.now());
  }
}

TEST(Hostile, ABindingOfWrongTypesLeavesThePodAlone) {
  TestCluster cluster;
  cluster.MakePod("p");
  EXPECT_EQ(cluster
                .Post(absl::StrCat(kPods, "/p/binding"),
                      FromText("{'metadata':{'name':'p','annotations':{'a':7}},"
                               "'target':{'name':'n'}}"))
                .code,
            400);
  EXPECT_TRUE(cluster.Get(absl::StrCat(kPods, "/p")).At("spec.nodeName").is_null());
}

TEST(DuplicateFields, AreFoundWhereverTheyStand) {
  EXPECT_EQ(DuplicateFields(R"({"a":1,"b":{"c":1,"c":2},"l":[{"x":1},{"x":1,"x":2}],"a":2})"),
            (std::vector<std::string>{"b.c", "l[1].x", "a"}));
  EXPECT_TRUE(DuplicateFields(R"({"a":"{\"a\":1,\"a\":2}","b":["a","a"]})").empty());
  EXPECT_TRUE(DuplicateFields("").empty());
}

struct Form {
  absl::string_view text, canonical;
};
class CanonicalForm : public testing::TestWithParam<Form> {};

TEST_P(CanonicalForm, IsTheOneThatGoWrites) {
  EXPECT_EQ(CanonicalQuantity(GetParam().text), GetParam().canonical);
}

INSTANTIATE_TEST_SUITE_P(
    All, CanonicalForm,
    testing::Values(Form{"1000m", "1"}, Form{"1.5", "1500m"}, Form{"0.5Gi", "512Mi"},
                    Form{"1.5Gi", "1536Mi"}, Form{"1024Mi", "1Gi"}, Form{"1000", "1k"},
                    Form{"110", "110"}, Form{"0", "0"}, Form{"0Gi", "0"}, Form{"-0.5", "-500m"},
                    Form{"1e3", "1e3"}, Form{"512", "512"}, Form{"1Ki", "1Ki"},
                    Form{"0.3Ki", "307200m"}, Form{"100n", "1m"}, Form{"1500000", "1500k"},
                    Form{"9223372036854775807", "9223372036854775807"}, Form{"lots", "lots"},
                    Form{"99999999999999999999999", "99999999999999999999999"}, Form{"", ""}));

}  // namespace
}  // namespace maniple::devcluster::devcluster_hostile_test
