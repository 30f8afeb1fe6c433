#include "api/devcluster/rest/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/devcluster/rest/discovery_documents.h"
#include "api/devcluster/types/type_registry.h"

namespace maniple::devcluster {
namespace {

using ::testing::HasSubstr;

constexpr const char* kKubectlAccept =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

class DiscoveryTest : public testing::Test {
 protected:
  ApiReply Get(const std::string& target, const std::string& accept = "application/json",
               const std::string& tag = "") {
    ApiRequest request;
    request.method = "GET";
    request.target = target;
    request.accept = accept;
    request.if_none_match = tag;
    std::optional<ApiReply> reply = HandleDiscovery(request, registry_);
    if (!reply.has_value()) {
      reply.emplace();
      reply->status = 404;
    }
    return *reply;
  }
  Json GetJson(const std::string& target, const std::string& accept = "application/json") {
    const ApiReply reply = Get(target, accept);
    EXPECT_EQ(reply.status, 200) << target;
    const absl::StatusOr<Json> json = Json::Parse(reply.body);
    EXPECT_TRUE(json.ok()) << json.status();
    return json.ok() ? *json : Json();
  }
  static std::string Header(const ApiReply& reply, const std::string& name) {
    for (const auto& [key, value] : reply.headers) {
      if (key == name) return value;
    }
    return "";
  }
  void DefineToy() {
    const absl::StatusOr<Json> crd = Json::Parse(R"({
      "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
      "metadata": {"name": "toys.example.com"},
      "spec": {"group": "example.com", "scope": "Namespaced",
        "names": {"plural": "toys", "singular": "toy", "kind": "Toy", "listKind": "ToyList", "shortNames": ["ty"]},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
          {"type": "object", "properties": {"spec": {"type": "object", "description": "What it is to be.",
           "properties": {"size": {"type": "integer"}}}}}}}]}})");
    ASSERT_TRUE(crd.ok());
    ASSERT_FALSE(registry_.DefineCustom(*crd).has_value());
  }

  TypeRegistry registry_;
};

// The resource of an aggregated document, or null.
Json FindResource(const Json& document, absl::string_view group, absl::string_view plural) {
  for (const Json& item : document["items"].items()) {
    if (item["metadata"]["name"].AsString() != group) continue;
    for (const Json& version : item["versions"].items()) {
      for (const Json& resource : version["resources"].items()) {
        if (resource["resource"].AsString() == plural) return resource;
      }
    }
  }
  return Json();
}

TEST_F(DiscoveryTest, KubectlGetsTheAggregatedFormItAsksForFirst) {
  const ApiReply reply = Get("/apis?timeout=32s", kKubectlAccept);
  EXPECT_EQ(reply.content_type,
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  const Json document = GetJson("/apis", kKubectlAccept);
  EXPECT_EQ(document["apiVersion"].AsString(), "apidiscovery.k8s.io/v2");
  EXPECT_EQ(FindResource(document, "batch", "jobs")["responseKind"]["kind"].AsString(), "Job");
  const Json core = GetJson("/api", kKubectlAccept);
  const Json pods = FindResource(core, "", "pods");
  EXPECT_EQ(pods["scope"].AsString(), "Namespaced");
  EXPECT_EQ(pods["shortNames"].items().at(0).AsString(), "po");
  EXPECT_TRUE(FindResource(core, "batch", "jobs").is_null());
}

TEST_F(DiscoveryTest, AnOlderKubectlGetsV2beta1AndAnOldOneThePlainLists) {
  const std::string beta =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
  EXPECT_EQ(GetJson("/apis", beta)["apiVersion"].AsString(), "apidiscovery.k8s.io/v2beta1");
  EXPECT_EQ(GetJson("/apis")["kind"].AsString(), "APIGroupList");
  EXPECT_EQ(GetJson("/api", "*/*")["kind"].AsString(), "APIVersions");
  EXPECT_EQ(GetJson("/apis/batch")["preferredVersion"]["groupVersion"].AsString(), "batch/v1");
  const Json core = GetJson("/api/v1");
  EXPECT_EQ(core["kind"].AsString(), "APIResourceList");
  const std::vector<Json>& resources = core["resources"].items();
  EXPECT_TRUE(std::any_of(resources.begin(), resources.end(), [](const Json& resource) {
    return resource["name"].AsString() == "pods/eviction" &&
           resource["group"].AsString() == "policy";
  }));
}

TEST_F(DiscoveryTest, AnUnchangedDocumentIs304WithItsOwnContentType) {
  const ApiReply first = Get("/apis", kKubectlAccept);
  const std::string tag = Header(first, "ETag");
  ASSERT_FALSE(tag.empty());
  const ApiReply second = Get("/apis", kKubectlAccept, tag);
  EXPECT_EQ(second.status, 304);
  EXPECT_EQ(second.content_type, first.content_type);
  EXPECT_EQ(second.body, "");
  EXPECT_EQ(Get("/apis", kKubectlAccept, "\"other\"").status, 200);
}

TEST_F(DiscoveryTest, ACustomTypeChangesTheTagAndAppearsEverywhere) {
  const std::string before = Header(Get("/apis", kKubectlAccept), "ETag");
  DefineToy();
  EXPECT_NE(Header(Get("/apis", kKubectlAccept), "ETag"), before);
  EXPECT_EQ(FindResource(GetJson("/apis", kKubectlAccept), "example.com", "toys")["shortNames"]
                .items()
                .at(0)
                .AsString(),
            "ty");
  const Json root = GetJson("/openapi/v3");
  const std::string url = root["paths"]["apis/example.com/v1"]["serverRelativeURL"].AsString();
  EXPECT_THAT(url, HasSubstr("?hash="));
  const Json document = GetJson(url);
  EXPECT_EQ(document["components"]["schemas"]["com.example.v1.Toy"]["properties"]["spec"]
                    ["properties"]["size"]["type"]
                        .AsString(),
            "integer");
}

TEST_F(DiscoveryTest, EveryKindHasAPatchThatSpeaksOfFieldValidationButNotOfStrategicMerge) {
  const Json document = GetJson("/openapi/v3/api/v1");
  const Json& patch = document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"];
  EXPECT_EQ(patch["x-kubernetes-group-version-kind"]["kind"].AsString(), "Pod");
  EXPECT_THAT(patch["parameters"].Dump(), HasSubstr("fieldValidation"));
  EXPECT_FALSE(patch["requestBody"]["content"].Has("application/strategic-merge-patch+json"));
}

TEST_F(DiscoveryTest, EveryReferenceOfEveryOpenApiDocumentLeadsSomewhere) {
  DefineToy();
  const Json root = GetJson("/openapi/v3");
  size_t references = 0;
  for (const auto& [key, entry] : root["paths"].members()) {
    const std::string text = Get("/openapi/v3/" + key).body;
    const absl::StatusOr<Json> document = Json::Parse(text);
    ASSERT_TRUE(document.ok()) << key;
    const std::string mark = "\"#/components/schemas/";
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
      const size_t start = at + mark.size();
      const std::string name = text.substr(start, text.find('"', start) - start);
      EXPECT_TRUE((*document)["components"]["schemas"].Has(name)) << key << ": " << name;
      ++references;
    }
  }
  EXPECT_GT(references, 100u);
}

TEST_F(DiscoveryTest, OpenApiV2NamesNoTypeSoThatKubectlAcceptsAList) {
  const Json document = GetJson("/openapi/v2");
  EXPECT_EQ(document["swagger"].AsString(), "2.0");
  EXPECT_EQ(document.At("info.title").AsString(), "Kubernetes");
  EXPECT_FALSE(document.Has("definitions"));

  const ApiReply reply =
      Get("/openapi/v2?timeout=32s", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
  EXPECT_EQ(reply.content_type, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  const std::string version = document.At("info.version").AsString();
  ASSERT_EQ(version.size(), 4u) << "the lengths below are of 1.36";
  EXPECT_EQ(reply.body, absl::StrCat("\x0a\x03"
                                     "2.0\x12\x12\x0a\x0a"
                                     "Kubernetes\x12\x04",
                                     version, absl::string_view("B\0", 2)));
}

TEST_F(DiscoveryTest, HealthAndVersionAreServedAndObjectsAreNotOurs) {
  EXPECT_EQ(Get("/readyz?verbose").body, "ok");
  EXPECT_EQ(Get("/livez/ping").body, "ok");
  EXPECT_EQ(GetJson("/version")["major"].AsString(), "1");
  for (const char* target :
       {"/api/v1/pods", "/apis/batch/v1/jobs", "/apis/nobody", "/apis/batch/v9", "/openapi/v2/x",
        "/openapi/v3/apis/nobody/v1", "/metrics", "relative"}) {
    EXPECT_EQ(Get(target).status, 404) << target;
  }
}

TEST(PreferredVersion, IsTheMostStableThenTheNewest) {
  std::vector<std::string> versions = {"v1alpha1", "v10", "foo", "v1beta2", "v2", "v1beta10", "v1"};
  std::sort(versions.begin(), versions.end(), PreferredVersion);
  EXPECT_THAT(versions,
              testing::ElementsAre("v10", "v2", "v1", "v1beta10", "v1beta2", "v1alpha1", "foo"));
}

}  // namespace
}  // namespace maniple::devcluster
