// Compiling schemas, defaults and pruning, updates, and hostile schemas and objects; the words of
// refusals are held in validation_recorded_test.cc.
#include "api/validation/schema.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/codec/json.h"
#include "api/codec/yaml.h"
#include "api/validation/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maniple {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Json FromYaml(const std::string& text) {
  absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
  EXPECT_TRUE(documents.ok()) << documents.status() << "\n" << text;
  return documents->front().value;
}

std::string CompileError(const std::string& yaml) {
  const auto schema = StructuralSchema::Compile(FromYaml(yaml));
  return schema.ok() ? "compiled" : std::string(schema.status().message());
}

StructuralSchema SchemaOf(const std::string& properties) {
  auto schema = StructuralSchema::Compile(
      FromYaml(absl::StrCat("{type: object, properties: {", properties, "}}")));
  EXPECT_TRUE(schema.ok()) << schema.status();
  return *std::move(schema);
}

std::vector<std::string> Paths(const std::vector<FieldError>& errors) {
  std::vector<std::string> paths;
  for (const FieldError& error : errors) paths.push_back(error.path);
  return paths;
}

TEST(SchemaCompile, WhatIsNotStructuralIsRefusedWithItsPlace) {
  const auto in_property = [](const std::string& schema) {
    return CompileError(absl::StrCat("{type: object, properties: {a: ", schema, "}}"));
  };
  EXPECT_THAT(in_property("{}"),
              HasSubstr("properties[a]: type is required: the schema is not structural"));
  EXPECT_THAT(in_property("{type: float}"), HasSubstr("properties[a]: type float is unknown"));
  EXPECT_THAT(in_property("{$ref: '#/x'}"), HasSubstr("$ref is not allowed"));
  EXPECT_THAT(in_property("{type: array}"), HasSubstr("items is required for an array"));
  EXPECT_THAT(in_property("{type: string, pattern: '('}"),
              HasSubstr("properties[a]: pattern (: missing )"));
  EXPECT_THAT(in_property("{type: string, pattern: '(?=x)'}"), HasSubstr("invalid perl operator"));
  EXPECT_THAT(in_property("{type: string, default: 5}"), HasSubstr("default 5 is refused"));
  EXPECT_THAT(in_property("{type: integer, minimum: 3, default: 2}"),
              HasSubstr("default 2 is refused"));
  EXPECT_THAT(in_property("{type: string, maxLength: -1}"), HasSubstr("maxLength must be"));
  EXPECT_THAT(in_property("{type: integer, minimum: low}"), HasSubstr("minimum must be a number"));
  EXPECT_THAT(in_property("{type: integer, x-kubernetes-int-or-string: true}"),
              HasSubstr("type must be absent"));
  EXPECT_THAT(
      in_property(
          "{type: object, properties: {b: {type: string}}, additionalProperties: {type: string}}"),
      HasSubstr("exclude each other"));
  EXPECT_THAT(in_property("{type: array, items: {type: string}, x-kubernetes-list-type: map}"),
              HasSubstr("x-kubernetes-list-map-keys"));
  EXPECT_THAT(in_property("{type: array, items: {type: string}, x-kubernetes-list-type: bag}"),
              HasSubstr("bag is unknown"));
  EXPECT_THAT(CompileError("{type: string}"), HasSubstr("the root must be of type object"));
  EXPECT_THAT(CompileError("[]"), HasSubstr("the root: must be an object"));
}

TEST(SchemaCompile, DeepSchemasAreRefused) {
  Json schema = FromYaml("{type: string}");
  for (int i = 0; i < 100; ++i) {
    schema = Json::Object({{"type", "object"}, {"properties", Json::Object({{"a", schema}})}});
  }
  EXPECT_THAT(StructuralSchema::Compile(schema).status().message(),
              HasSubstr("nested more than 64 levels"));
}

TEST(SchemaCompile, RulesOutsideTheSubsetAreNamedAndDoNotRefuseTheSchema) {
  const StructuralSchema schema = SchemaOf(
      "a: {type: string, x-kubernetes-validations: [{rule: \"url(self).getHost() == 'x'\"},"
      " {rule: \"self != 'bad'\"}]}");
  EXPECT_THAT(schema.unenforced_rules(),
              ElementsAre(HasSubstr("properties[a]: url(self).getHost() == 'x': function url")));
  EXPECT_THAT(Paths(schema.Validate(FromYaml("{a: bad}"))), ElementsAre("a"));
  EXPECT_THAT(schema.Validate(FromYaml("{a: good}")), IsEmpty());
}

TEST(SchemaDefault, FillsWhatIsAbsentOrNullDeeply) {
  const StructuralSchema schema = SchemaOf(
      "a: {type: object, default: {}, properties: {b: {type: integer, default: 3}}},"
      "list: {type: array, items: {type: object, properties: {c: {type: string, default: x}}}},"
      "map: {type: object, additionalProperties: {type: object, properties: {d: {type: boolean, "
      "default: true}}}},"
      "keep: {type: string, nullable: true, default: y}, drop: {type: string}");
  Json object = FromYaml("{list: [{}, {c: z}], map: {k: {}}, keep: null, drop: null}");
  schema.Default(object);
  EXPECT_EQ(object,
            FromYaml("{a: {b: 3}, list: [{c: x}, {c: z}], map: {k: {d: true}}, keep: null}"));
}

TEST(SchemaPrune, DropsTheUnknownAndKeepsWhatIsPreserved) {
  const StructuralSchema schema = SchemaOf(
      "a: {type: object, properties: {b: {type: string}}},"
      "free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {o: {type: "
      "object}}},"
      "pod: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: "
      "object}}}");
  Json object = FromYaml(
      "{apiVersion: v1, kind: K, metadata: {any: 1}, a: {b: x, c: 1}, z: 1, free: {q: {r: 1}, o: "
      "{p: 1}},"
      " pod: {apiVersion: v1, kind: P, metadata: {x: 1}, spec: {y: 1}, w: 1}}");
  EXPECT_THAT(schema.UnknownFields(object),
              ElementsAre("a.c", "z", "free.o.p", "pod.spec.y", "pod.w"));
  schema.Prune(object);
  EXPECT_EQ(
      object,
      FromYaml("{apiVersion: v1, kind: K, metadata: {any: 1}, a: {b: x}, free: {q: {r: 1}, o: {}},"
               " pod: {apiVersion: v1, kind: P, metadata: {x: 1}, spec: {}}}"));
}

TEST(SchemaUpdate, WhatDidNotChangeIsTolerated) {
  const StructuralSchema schema = SchemaOf(
      "a: {type: integer, minimum: 5}, b: {type: integer, x-kubernetes-validations: [{rule: self > "
      "5}]},"
      "l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k],"
      " items: {type: object, properties: {k: {type: string}, v: {type: integer, maximum: 1}}}}");
  const Json old = FromYaml("{a: 1, b: 1, l: [{k: x, v: 9}]}");
  EXPECT_THAT(schema.Validate(old), SizeIs(3));
  EXPECT_THAT(schema.Validate(FromYaml("{a: 1, b: 1, l: [{k: new, v: 0}, {k: x, v: 9}]}"), &old),
              IsEmpty());
  EXPECT_THAT(Paths(schema.Validate(FromYaml("{a: 2, b: 2, l: [{k: x, v: 8}]}"), &old)),
              ElementsAre("a", "l[0].v", "b"));
}

TEST(SchemaUpdate, TransitionRulesRunEvenWhereNothingChanged) {
  const StructuralSchema schema =
      SchemaOf("a: {type: integer, x-kubernetes-validations: [{rule: self > oldSelf}]}");
  const Json old = FromYaml("{a: 1}");
  EXPECT_THAT(schema.Validate(old), IsEmpty());
  EXPECT_THAT(Paths(schema.Validate(old, &old)), ElementsAre("a"));
}

TEST(SchemaValidate, ErrorsAreBounded) {
  const StructuralSchema schema = SchemaOf("l: {type: array, items: {type: string}}");
  Json list = Json::Array();
  for (int i = 0; i < 10'000; ++i) list.Append(i);
  EXPECT_THAT(schema.Validate(Json::Object({{"l", list}})), SizeIs(100));
}

TEST(SchemaValidate, DeepObjectsDoNotExhaustTheStack) {
  const StructuralSchema schema = SchemaOf(
      "free: {type: object, x-kubernetes-preserve-unknown-fields: true,"
      " x-kubernetes-validations: [{rule: self == self}]}");
  Json deep = Json::Object({{"end", 1}});
  for (int i = 0; i < Json::kMaxDepth - 10; ++i) deep = Json::Object({{"a", std::move(deep)}});
  Json object = Json::Object({{"free", deep}});
  schema.Prune(object);
  schema.Default(object);
  EXPECT_THAT(schema.Validate(object), IsEmpty());
  EXPECT_THAT(schema.UnknownFields(object), IsEmpty());
}

TEST(SchemaValidate, RulesOfOneObjectAreBoundedInCost) {
  const StructuralSchema schema = SchemaOf(
      "l: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true,"
      " x-kubernetes-validations: [{rule: 'self.l.all(a, self.l.all(b, a + b >= 0))'}]}}");
  Json numbers = Json::Array();
  for (int i = 0; i < 400; ++i) numbers.Append(i);
  Json list = Json::Array();
  for (int i = 0; i < 1'000; ++i) list.Append(Json::Object({{"l", numbers}}));
  const std::vector<FieldError> errors = schema.Validate(Json::Object({{"l", std::move(list)}}));
  ASSERT_FALSE(errors.empty());
  EXPECT_THAT(errors.back().message, HasSubstr("cost limit"));
}

TEST(Formats, AreAsStrictAsKubernetes) {
  struct Row {
    const char* format;
    std::vector<const char*> good, bad;
  };
  const Row rows[] = {
      {"date-time",
       {"2026-01-02T03:04:05Z", "2026-01-02t03:04:05.5+01:00"},
       {"2026-01-02", "", "2026-13-01T00:00:00Z"}},
      {"date", {"2026-01-02"}, {"2026-1-2", "2026-02-30"}},
      {"duration",
       {"1h30m", "300ms", "-5s", "0", "3 days", "1us"},
       {"", "5", "inf", "1x", "forever"}},
      {"ipv4", {"10.0.0.1"}, {"10.0.0", "10.0.0.256", "10.0.0.1.1", "a.b.c.d"}},
      {"ipv6",
       {"::1", "fe80::1:2", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4"},
       {"1:2:3", ":::", "g::1", "1.2.3.4"}},
      {"cidr", {"10.0.0.0/8", "fd00::/64"}, {"10.0.0.0", "10.0.0.0/33", "10.0.0.0/x"}},
      {"hostname", {"a-b.example.com"}, {"-a", "a..b", ""}},
      {"uuid",
       {"123e4567-e89b-12d3-a456-426614174000"},
       {"123e4567", "x23e4567-e89b-12d3-a456-426614174000"}},
      {"byte", {"YWJj", ""}, {"YWJ", "!!!!"}},
      {"email", {"a@example.com"}, {"a", "@example.com", "a b@example.com"}},
      {"no-such-format", {"anything"}, {}},
  };
  for (const Row& row : rows) {
    const StringFormat format = StringFormatOf(row.format);
    for (const char* text : row.good)
      EXPECT_TRUE(MatchesFormat(format, text)) << row.format << " " << text;
    for (const char* text : row.bad)
      EXPECT_FALSE(MatchesFormat(format, text)) << row.format << " " << text;
  }
}

}  // namespace
}  // namespace maniple
