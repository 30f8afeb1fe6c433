// Equality of documents in CEL. Fears: the order of a set counts below the top; a moment that is
// written in another way is another one; what is nested is compared as text.
#include "api/validation/cel_value.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/codec/json.h"
#include "api/validation/schema.h"

namespace maniple::validation_cel_equality_test {
namespace {

Json Parsed(absl::string_view text) { return *Json::Parse(text); }

// Whether CEL finds the two equal, as `self` and `oldSelf` of a property x.
bool Equal(const std::string& schema, const std::string& a, const std::string& b) {
  Json property = Parsed(schema);
  property.Set("x-kubernetes-validations",
               Parsed(R"([{"rule": "self == oldSelf", "message": "differs"}])"));
  Json whole = Parsed(R"({"type": "object"})");
  whole.Set("properties", Json::Object({{"x", std::move(property)}}));
  const auto compiled = StructuralSchema::Compile(whole);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  const Json now = Json::Object({{"x", Parsed(a)}}), before = Json::Object({{"x", Parsed(b)}});
  return compiled->Validate(now, &before).empty();
}

constexpr char kSet[] =
    R"({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}})";
constexpr char kMoment[] = R"({"type": "string", "format": "date-time"})";

TEST(CelEquality, TheOrderOfASetDoesNotCount) {
  EXPECT_TRUE(Equal(kSet, R"(["a", "b"])", R"(["b", "a"])"));
  EXPECT_FALSE(Equal(kSet, R"(["a", "b"])", R"(["a", "c"])"));
}

TEST(CelEquality, TheOrderOfASetDoesNotCountBelowTheTop) {
  const std::string schema = absl::StrCat(R"({"type": "object", "properties": {"s": )", kSet, "}}");
  EXPECT_TRUE(Equal(schema, R"({"s": ["a", "b"]})", R"({"s": ["b", "a"]})"));
  EXPECT_FALSE(Equal(schema, R"({"s": ["a", "b"]})", R"({"s": ["a"]})"));
}

TEST(CelEquality, TheOrderOfASetDoesNotCountInAKeyedList) {
  const std::string schema = absl::StrCat(
      R"({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],)",
      R"("items": {"type": "object", "required": ["k"], "properties":)",
      R"({"k": {"type": "string"}, "s": )", kSet, "}}}");
  EXPECT_TRUE(Equal(schema, R"([{"k": "1", "s": ["a", "b"]}, {"k": "2"}])",
                    R"([{"k": "2"}, {"k": "1", "s": ["b", "a"]}])"));
  EXPECT_FALSE(Equal(schema, R"([{"k": "1", "s": ["a", "b"]}])", R"([{"k": "1", "s": ["b"]}])"));
}

TEST(CelEquality, AMomentIsTheSameHoweverItIsWritten) {
  EXPECT_TRUE(Equal(kMoment, R"("2026-11-29T02:00:00Z")", R"("2026-11-29T03:00:00+01:00")"));
  const std::string schema =
      absl::StrCat(R"({"type": "object", "properties": {"t": )", kMoment, "}}");
  EXPECT_TRUE(
      Equal(schema, R"({"t": "2026-11-29T02:00:00Z"})", R"({"t": "2026-11-29T03:00:00+01:00"})"));
  EXPECT_FALSE(
      Equal(schema, R"({"t": "2026-11-29T02:00:00Z"})", R"({"t": "2026-11-29T02:00:00+01:00"})"));
}

TEST(CelEquality, MembersAreComparedByNameAndLists) {
  const std::string map = R"({"type": "object", "additionalProperties": {"type": "integer"}})";
  EXPECT_TRUE(Equal(map, R"({"a": 1, "b": 2})", R"({"b": 2, "a": 1})"));
  EXPECT_FALSE(Equal(map, R"({"a": 1})", R"({"b": 1})"));
  EXPECT_FALSE(Equal(map, R"({"a": 1})", R"({"a": 1, "b": 1})"));
  const std::string list = R"({"type": "array", "items": {"type": "integer"}})";
  EXPECT_TRUE(Equal(list, "[1, 2]", "[1, 2]"));
  EXPECT_FALSE(Equal(list, "[1, 2]", "[2, 1]"));
}

}  // namespace
}  // namespace maniple::validation_cel_equality_test
