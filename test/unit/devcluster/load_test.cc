#include "api/devcluster/shell/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/codec/yaml.h"
#include "api/devcluster/shell/kubeconfig_text.h"
#include "api/http/tls_identity.h"
#include "test/support/temp_folder.h"

namespace maniple::devcluster {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class LoadTest : public testing::Test {
 protected:
  static std::vector<std::string> NamesOf(const std::vector<LoadedObject>& objects) {
    std::vector<std::string> names;
    for (const LoadedObject& one : objects) {
      names.push_back(one.object["metadata"]["name"].AsString());
    }
    return names;
  }

  const TempFolder folder_;
};

TEST_F(LoadTest, ManyDocumentsListsAndFoldersBecomeOneListInAnOrderThatCanBeCreated) {
  folder_.Write("b.yaml",
                "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n---\n# nothing here\n---\n"
                "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n");
  folder_.Write(
      "a.json",
      R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}},
            {"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"}}]})");
  folder_.Write(
      "deep/c.yml",
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
      "crd}\n");
  folder_.Write("notes.txt", "not: [a manifest");
  const absl::StatusOr<std::vector<LoadedObject>> objects = LoadManifests({folder_.path()});
  ASSERT_TRUE(objects.ok()) << objects.status();
  EXPECT_THAT(NamesOf(*objects), ElementsAre("crd", "ns", "n1", "n2", "p"));
}

TEST_F(LoadTest, AMissingFieldIsNamedWithFileLineAndPath) {
  const std::string file = folder_.Write(
      "bad.yaml",
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n---\napiVersion: v1\nkind: Pod\n"
      "metadata:\n  labels: {}\n");
  const absl::StatusOr<std::vector<LoadedObject>> objects = LoadManifests({file});
  ASSERT_FALSE(objects.ok());
  EXPECT_THAT(std::string(objects.status().message()),
              AllOf(HasSubstr("bad.yaml:8: "), HasSubstr("metadata.name: missing")));
}

TEST_F(LoadTest, ABadItemOfAListIsNamedByItsIndex) {
  const std::string file = folder_.Write(
      "list.yaml",
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n"
      "- apiVersion: v1\n  kind: Pod\n  metadata: {}\n");
  const absl::StatusOr<std::vector<LoadedObject>> objects = LoadManifests({file});
  ASSERT_FALSE(objects.ok());
  EXPECT_THAT(std::string(objects.status().message()),
              AllOf(HasSubstr("list.yaml:9: "), HasSubstr("items[1].metadata.name: missing")));
}

TEST_F(LoadTest, BrokenYamlIsNamedWithItsFile) {
  const std::string file = folder_.Write("broken.yaml", "a: [1, 2\nb: }\n");
  const absl::StatusOr<std::vector<LoadedObject>> objects = LoadManifests({file});
  ASSERT_FALSE(objects.ok());
  EXPECT_THAT(std::string(objects.status().message()), HasSubstr("broken.yaml"));
}

TEST_F(LoadTest, WhatIsNotThereOrHasNoManifestIsAnError) {
  EXPECT_THAT(std::string(LoadManifests({folder_.In("nowhere")}).status().message()),
              HasSubstr("no such file"));
  EXPECT_THAT(std::string(LoadManifests({folder_.path()}).status().message()),
              HasSubstr("no *.yaml"));
}

TEST_F(LoadTest, ADocumentThatIsNoObjectIsRefused) {
  EXPECT_FALSE(LoadManifests({folder_.Write("text.yaml", "just words\n")}).ok());
}

TEST(TlsIdentity, IsMadeOnceAndReadAgain) {
  const TempFolder folder;
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  const absl::StatusOr<TlsIdentity> first =
      LoadOrMakeTlsIdentity(folder.path(), {"example.test"}, now);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(first->server_certificate, HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_THAT(first->server_key.Reveal(), HasSubstr("PRIVATE KEY"));
  const absl::StatusOr<TlsIdentity> second = LoadOrMakeTlsIdentity(folder.path(), {}, now);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->server_certificate, first->server_certificate);
  EXPECT_EQ(std::filesystem::status(folder.In("tls.key")).permissions() &
                (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
            std::filesystem::perms::none);
}

TEST(Kubeconfig, LeadsToTheServerAndHasNoEmptyCredentials) {
  const std::string text = KubeconfigText(
      {.server = "http://127.0.0.1:1", .authority_certificate = "", .token = Secret()});
  const absl::StatusOr<std::vector<YamlDocument>> parsed = ParseYaml(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const Json& config = parsed->at(0).value;
  EXPECT_EQ(config["clusters"].items().at(0)["cluster"]["server"].AsString(), "http://127.0.0.1:1");
  EXPECT_THAT(text, AllOf(Not(HasSubstr("token")), Not(HasSubstr("certificate-authority"))));
}

}  // namespace
}  // namespace maniple::devcluster
