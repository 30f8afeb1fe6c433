// What we say to an object is what kube-apiserver said when the cases were recorded: same fields,
// reasons, messages.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/codec/json.h"
#include "api/codec/yaml.h"
#include "api/validation/schema.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maniple {
namespace {

std::string ReadFile(const std::string& name) {
  std::ifstream file("test/unit/data/validation/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Json OnlyDocument(const std::string& name) {
  absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(ReadFile(name));
  EXPECT_TRUE(documents.ok()) << documents.status();
  EXPECT_EQ(documents->size(), 1u);
  return documents->front().value;
}

Json ThingWith(const Json& spec) {
  return Json::Object({{"apiVersion", "example.com/v1"},
                       {"kind", "Thing"},
                       {"metadata", Json::Object({{"name", "x"}})},
                       {"spec", spec}});
}

std::vector<std::string> Sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> RecordedCauses(const Json& recorded) {
  std::vector<std::string> causes;
  for (const Json& cause : recorded["causes"].items()) {
    causes.push_back(absl::StrCat(cause.items()[0].AsString(), " | ", cause.items()[1].AsString(),
                                  " | ", cause.items()[2].AsString()));
  }
  return Sorted(causes);
}

class RecordedTest : public testing::Test {
 protected:
  RecordedTest() {
    const Json crd = OnlyDocument("thing_crd.yaml");
    absl::StatusOr<StructuralSchema> schema =
        StructuralSchema::Compile(crd.At("spec.versions").items()[0].At("schema.openAPIV3Schema"));
    EXPECT_TRUE(schema.ok()) << schema.status();
    EXPECT_THAT(schema->unenforced_rules(), testing::IsEmpty());
    schema_ = std::make_unique<StructuralSchema>(*std::move(schema));
  }

  Json Accepted(const Json& spec) const {
    Json thing = ThingWith(spec);
    schema_->Prune(thing);
    schema_->Default(thing);
    return thing;
  }

  std::unique_ptr<StructuralSchema> schema_;
};

TEST_F(RecordedTest, EveryRecordedAnswerIsOurs) {
  const Json cases = OnlyDocument("thing_cases.yaml");
  ASSERT_GT(cases.size(), 100u);
  for (const Json& recorded : cases.items()) {
    SCOPED_TRACE(recorded["spec"].Dump());
    const std::vector<std::string> unknown = schema_->UnknownFields(ThingWith(recorded["spec"]));
    if (recorded.Has("refused")) {
      const std::string expected = absl::StrCat(
          "Thing in version \"v1\" cannot be handled as a Thing: strict decoding error: unknown "
          "field \"",
          absl::StrJoin(unknown, "\", unknown field \""), "\"");
      EXPECT_EQ(recorded["refused"].AsString(), expected);
      continue;
    }
    EXPECT_THAT(unknown, testing::IsEmpty());
    const Json thing = Accepted(recorded["spec"]);
    const Json old = Accepted(recorded["old"]);
    std::vector<std::string> causes;
    for (const FieldError& error : schema_->Validate(thing, recorded.Has("old") ? &old : nullptr)) {
      causes.push_back(absl::StrCat(error.path, " | ", FieldErrorReasonName(error.reason), " | ",
                                    error.message));
    }
    EXPECT_EQ(Sorted(causes), RecordedCauses(recorded));
    if (recorded.Has("stored")) {
      EXPECT_EQ(thing["spec"], recorded["stored"])
          << "\n  ours " << thing["spec"].Dump() << "\n  recorded " << recorded["stored"].Dump();
    }
  }
}

}  // namespace
}  // namespace maniple
