// The five CRDs: they compile whole, and take and refuse the sample objects at the fields where
// kube-apiserver does (test/unit/data/crds/check.py asks a real one).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/codec/encode.h"
#include "api/codec/json.h"
#include "api/codec/yaml.h"
#include "api/validation/crds.h"
#include "api/validation/schema.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maniple {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> SamplesIn(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("test/unit/data/crds/" + folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Json ObjectIn(absl::string_view text) {
  absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
  EXPECT_TRUE(documents.ok()) << documents.status();
  return documents->front().value;
}

// The lines "# refused: PATH" of a sample.
std::vector<std::string> ExpectedPaths(const std::string& text) {
  constexpr absl::string_view kMark = "# refused: ";
  std::vector<std::string> paths;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, kMark)) paths.emplace_back(line.substr(kMark.size()));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// As the server answers under strict field validation: unknown fields alone, else what is invalid.
std::vector<std::string> RefusedPaths(const StructuralSchema& schema, Json object) {
  std::vector<std::string> paths;
  for (const std::string& path : schema.UnknownFields(object)) {
    paths.push_back(absl::StrCat("unknown ", path));
  }
  if (paths.empty()) {
    schema.Default(object);
    for (const FieldError& error : schema.Validate(object)) {
      if (!absl::StrContains(error.message, "rules were not checked")) paths.push_back(error.path);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class CrdsTest : public testing::Test {
 protected:
  CrdsTest() : schemas_(*ManipleSchemas::Load()) {}

  const StructuralSchema& SchemaOf(const Json& object) const {
    const StructuralSchema* schema = schemas_.Find(object["kind"].AsString());
    EXPECT_NE(schema, nullptr) << object["kind"].AsString();
    return *schema;
  }

  ManipleSchemas schemas_;
};

TEST_F(CrdsTest, AllFiveCompileAndEveryRuleIsEnforced) {
  EXPECT_EQ(EmbeddedCrds().size(), 5u);
  for (absl::string_view kind : {"PodGroup", "Queue", "Cohort", "ResourceFlavor", "Topology"}) {
    const StructuralSchema* schema = schemas_.Find(kind);
    ASSERT_NE(schema, nullptr) << kind;
    EXPECT_THAT(schema->unenforced_rules(), IsEmpty()) << kind;
    EXPECT_EQ(schemas_.IsNamespaced(kind), kind == "PodGroup");
  }
}

TEST_F(CrdsTest, EveryCrdHasStatusShortNameAndColumns) {
  for (const EmbeddedCrd& crd : EmbeddedCrds()) {
    const Json object = ObjectIn(crd.yaml);
    const Json& version = object.At("spec.versions").items().front();
    EXPECT_EQ(version["name"].AsString(), "v1alpha1") << crd.file;
    EXPECT_TRUE(version.At("subresources.status").is_object()) << crd.file;
    EXPECT_EQ(object.At("spec.names.shortNames").size(), 1u) << crd.file;
    EXPECT_GE(version["additionalPrinterColumns"].size(), 2u) << crd.file;
    EXPECT_EQ(object.At("metadata.name").AsString(),
              absl::StrCat(object.At("spec.names.plural").AsString(), ".scheduling.maniple.dev"));
  }
}

TEST_F(CrdsTest, GoodObjectsAreTaken) {
  const std::vector<std::filesystem::path> samples = SamplesIn("good");
  ASSERT_GE(samples.size(), 10u);
  for (const std::filesystem::path& path : samples) {
    const Json object = ObjectIn(ReadFile(path));
    EXPECT_THAT(RefusedPaths(SchemaOf(object), object), IsEmpty()) << path;
  }
}

TEST_F(CrdsTest, WhateverAProducerSaysCanBeStoredAsAPodGroup) {
  const auto refused = [&](const PodGroupSpec& spec) {
    const Json object = *Json::Parse(EncodePodGroup({.namespace_name = "n", .spec = spec}));
    return RefusedPaths(SchemaOf(object), object);
  };
  const std::string text(400, 'x');
  PodGroupSpec spec{.queue = text, .min_member = 2'000'000, .priority_class_name = text};
  spec.sub_groups = {{"a/b", 1}, {"", 1}, {text, 1}, {"-a", 1}};
  spec.topology.topology_name = "t";
  spec.source = {text, text, "", text, text};
  for (int i = 0; i < 254; ++i) spec.source.name += "é";
  const PodGroupSpec stored = StorableSpec(spec);
  EXPECT_THAT(refused(spec), IsEmpty());
  EXPECT_THAT(stored.sub_groups, IsEmpty());
  EXPECT_EQ(StorableSpec(stored), stored);
  spec.source.uid += "y";
  EXPECT_NE(StorableSpec(spec).source.uid, stored.source.uid);
  spec.sub_groups = {{"a", 2'000'000}, {"a", 1}, {"b", -1, {.required = text, .slice_size = 1}}};
  EXPECT_THAT(refused(spec), IsEmpty());
  EXPECT_THAT(StorableSpec(spec).sub_groups, SizeIs(2));
}

TEST_F(CrdsTest, BadObjectsAreRefusedAtTheSameFieldsAsByKubeApiserver) {
  const std::vector<std::filesystem::path> samples = SamplesIn("bad");
  ASSERT_GE(samples.size(), 30u);
  for (const std::filesystem::path& path : samples) {
    const std::string text = ReadFile(path);
    const Json object = ObjectIn(text);
    ASSERT_FALSE(ExpectedPaths(text).empty()) << path;
    EXPECT_EQ(RefusedPaths(SchemaOf(object), object), ExpectedPaths(text)) << path;
  }
}

TEST_F(CrdsTest, DefaultsAreThoseOfTheDocumentation) {
  Json group =
      ObjectIn("{kind: PodGroup, spec: {preemption: {}, quorumLoss: {}, subGroups: [{name: a}]}}");
  SchemaOf(group).Default(group);
  EXPECT_EQ(group["spec"],
            ObjectIn("{minMember: 1, scheduleTimeoutSeconds: 60,"
                     " preemption: {policy: PreemptLowerPriority, protectedRuntimeSeconds: 0},"
                     " quorumLoss: {action: Evict, gracePeriodSeconds: 300},"
                     " subGroups: [{name: a, minMember: 1}]}"));
  Json queue =
      ObjectIn("{kind: Queue, spec: {preemption: {borrowWithinCohort: {}}, fairShare: {}}}");
  SchemaOf(queue).Default(queue);
  EXPECT_EQ(queue["spec"],
            ObjectIn("{ordering: BestEffortFIFO, stopPolicy: None, fairShare: {weight: 1},"
                     " preemption: {withinQueue: Never, reclaimWithinCohort: Never,"
                     " borrowWithinCohort: {policy: Never}, minRuntimeSeconds: 0,"
                     " maxProtectedRuntimeSeconds: 0}}"));
}

TEST_F(CrdsTest, StatusOfALaterVersionSurvivesPruning) {
  Json group =
      ObjectIn("{kind: PodGroup, spec: {later: 1}, status: {phase: Dreaming, later: {a: [1]}}}");
  SchemaOf(group).Prune(group);
  EXPECT_FALSE(group["spec"].Has("later"));
  EXPECT_TRUE(group["status"].Has("later"));
  EXPECT_THAT(SchemaOf(group).Validate(group), IsEmpty());
}

}  // namespace
}  // namespace maniple
