#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/codec/json.h"

namespace maniple::codec_json_test {
namespace {

using ::testing::HasSubstr;

Json Parsed(absl::string_view text) {
  absl::StatusOr<Json> json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << json.status();
  return json.ok() ? *std::move(json) : Json();
}

std::string ErrorOf(absl::string_view text) {
  const absl::StatusOr<Json> json = Json::Parse(text);
  EXPECT_FALSE(json.ok()) << text;
  EXPECT_EQ(json.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(json.status().message());
}

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, ReadsEveryTypeAndWritesItBack) {
  const std::string text =
      R"({"s":"x","i":-7,"d":1.5,"t":true,"f":false,"n":null,"a":[1,[],{}],"o":{"k":"v"}})";
  EXPECT_EQ(Parsed(text).Dump(), text);
}

TEST(Json, ReadsAStringWhereverItsFirstSpecialByteStands) {
  for (const std::string special : {"\"", "\\", "\n", "\x01", "\xC3\xA9", "\x7F", ""}) {
    for (size_t length = 0; length < 40; ++length) {
      for (size_t at = 0; at <= length; ++at) {
        std::string text(length, 'x');
        text.insert(at, special);
        const Json value = Json::Object({{text, Json::Array({text, 12, text})}});
        const absl::StatusOr<Json> read = Json::Parse(value.Dump());
        ASSERT_TRUE(read.ok()) << value.Dump();
        ASSERT_EQ(*read, value) << value.Dump();
      }
    }
  }
}

TEST(Json, RefusesAStringWithARawControlByteWhereverItStands) {
  for (size_t length = 0; length < 40; ++length) {
    for (size_t at = 0; at <= length; ++at) {
      for (const char control : {'\0', '\n', '\x1F'}) {
        std::string text(length, 'x');
        text.insert(at, 1, control);
        ASSERT_FALSE(Json::Parse(absl::StrCat("\"", text, "\"")).ok()) << length << " " << at;
      }
    }
  }
}

TEST(Json, KeepsIntegersAndDecimalsApart) {
  EXPECT_EQ(Parsed("1").Dump(), "1");
  EXPECT_EQ(Parsed("1.0").Dump(), "1.0");
  EXPECT_TRUE(Parsed("1.0").type() == Json::Type::kDouble);
  EXPECT_EQ(Parsed("1"), Parsed("1.0"));
}

TEST(Json, KeepsEveryInt64AndTurnsLargerIntegersIntoDoubles) {
  EXPECT_EQ(Parsed("9223372036854775807").AsInt(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Parsed("-9223372036854775808").AsInt(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Parsed("9223372036854775808").type(), Json::Type::kDouble);
  EXPECT_EQ(Parsed("123456789012345678901234567890").type(), Json::Type::kDouble);
  EXPECT_EQ(Parsed(Parsed("0.1").Dump()).AsDouble(), 0.1);
}

TEST(Json, ARepeatedKeyReplacesTheEarlierOneInSmallAndLargeObjects) {
  EXPECT_EQ(Parsed(R"({"a":1,"b":2,"a":3})").Dump(), R"({"b":2,"a":3})");
  std::string text = "{";
  for (int i = 0; i < 40; ++i)
    text += "\"k" + std::to_string(i % 20) + "\":" + std::to_string(i) + ",";
  text.back() = '}';
  const Json json = Parsed(text);
  EXPECT_EQ(json.size(), 20u);
  EXPECT_EQ(json["k3"].AsInt(), 23);
}

TEST(Json, ManyDistinctKeysCostNoQuadraticTime) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  text.back() = '}';
  EXPECT_EQ(Parsed(text).size(), 200'000u);
}

TEST(Json, RefusesNestingBeyondTheBoundWithoutTouchingTheStack) {
  EXPECT_TRUE(Json::Parse(Nested(Json::kMaxDepth)).ok());
  EXPECT_THAT(ErrorOf(Nested(Json::kMaxDepth + 1)), HasSubstr("nested deeper than 256"));
  EXPECT_THAT(ErrorOf(std::string(10'000'000, '[')), HasSubstr("nested deeper"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(ErrorOf(objects), HasSubstr("nested deeper"));
}

TEST(Json, ErrorsNameTheByte) {
  EXPECT_THAT(ErrorOf(R"({"a":1,})"), HasSubstr("at byte 7"));
  EXPECT_THAT(ErrorOf("[1 2]"), HasSubstr("at byte 3"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("at byte 0"));
}

TEST(Json, RefusesWhatIsNotExactlyOneValue) {
  for (const absl::string_view text :
       {"",    "  ",      "{} {}",     "1 2",      "nul",     "{\"a\"}", "[1,]",
        "'a'", "NaN",     "Infinity",  "01",       "+1",      ".5",      "1.",
        "\"a", "\"\\x\"", "\"\\u12\"", "\"a\nb\"", "// c\n1", "1e999",   "{1:2}"}) {
    ErrorOf(text);
  }
  ErrorOf(absl::string_view("{}\0", 3));
  ErrorOf(absl::string_view("{}\0{}", 5));
}

TEST(Json, RefusesInvalidUtf8AndBrokenSurrogates) {
  for (const absl::string_view text :
       {"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xe2\x82\"",
        "\"\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\u0041\"", "\"\\udc00\""}) {
    ErrorOf(text);
  }
  EXPECT_EQ(Parsed("\"\\ud83d\\ude00\"").AsString(), "\xF0\x9F\x98\x80");
}

TEST(Json, EscapesWhatJsonForbidsAndRepairsInvalidUtf8WhenWriting) {
  EXPECT_EQ(Json("a\"b\\c\n\t\r\x01").Dump(), "\"a\\\"b\\\\c\\n\\t\\r\\u0001\"");
  EXPECT_EQ(Json("\xff ok \xe2\x82").Dump(), "\"\xEF\xBF\xBD ok \xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(Json("\xE2\x82\xAC").Dump(), "\"\xE2\x82\xAC\"");
  EXPECT_EQ(JsonEscaped("a\"b"), "a\\\"b");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).Dump(), "null");
}

TEST(Json, AccessorsAnswerNeutrallyForAbsentOrOtherTypes) {
  const Json json = Parsed(R"({"a":{"b":["x"]},"s":"t"})");
  EXPECT_EQ(json["a"]["nope"]["deeper"].AsString(), "");
  EXPECT_EQ(json["s"].AsInt(), 0);
  EXPECT_FALSE(json["s"].AsBool());
  EXPECT_TRUE(json["s"].items().empty());
  EXPECT_EQ(json.At("a.b").size(), 1u);
  EXPECT_TRUE(json.At("a.c.d").is_null());
  EXPECT_EQ(json.Find("zz"), nullptr);
}

TEST(Json, MutatesInPlaceKeepingTheOrderOfInsertion) {
  Json json;
  json.Set("b", 1);
  json.Set("a", "x");
  json.Set("b", 2);
  json.Mutable("list").Append(1);
  json.Mutable("list").Append("two");
  EXPECT_EQ(json.Dump(), R"({"b":2,"a":"x","list":[1,"two"]})");
  EXPECT_TRUE(json.Erase("a"));
  EXPECT_FALSE(json.Erase("a"));
  EXPECT_EQ(json.Dump(), R"({"b":2,"list":[1,"two"]})");
}

TEST(Json, EqualityIgnoresTheOrderOfMembersButNotOfItems) {
  EXPECT_EQ(Parsed(R"({"a":1,"b":[1,2]})"), Parsed(R"({"b":[1,2],"a":1})"));
  EXPECT_FALSE(Parsed("[1,2]") == Parsed("[2,1]"));
  EXPECT_FALSE(Parsed(R"({"a":1})") == Parsed(R"({"b":1})"));
  EXPECT_FALSE(Json(nullptr) == Json(false));
}

TEST(Json, PrettyOutputIndentsByTwo) {
  EXPECT_EQ(Parsed(R"({"a":[1,{}],"b":[]})").DumpPretty(),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

TEST(Json, WritesEveryByteAtEveryPlaceSoThatItReadsBack) {
  for (size_t before = 0; before < 12; ++before) {
    for (int byte = 0; byte < 0x80; ++byte) {
      const std::string text =
          std::string(before, 'x') + static_cast<char>(byte) + std::string(9, 'y');
      EXPECT_EQ(Parsed(Json(text).Dump()).AsString(), text);
    }
  }
}

TEST(Json, ACopyAndItsOriginalChangeApart) {
  Json original = Parsed(R"({"a":{"b":[{"c":1}]},"d":"x"})");
  const std::string before = original.Dump();
  Json copy = original;
  copy.Mutable("a").Mutable("b").mutable_items()[0].Set("c", 2);
  copy.Erase("d");
  EXPECT_EQ(original.Dump(), before);
  EXPECT_EQ(copy.Dump(), R"({"a":{"b":[{"c":2}]}})");
  original.Find("a")->Find("b")->Append("later");
  EXPECT_EQ(copy.Dump(), R"({"a":{"b":[{"c":2}]}})");
}

TEST(Json, APartMayTakeThePlaceOfTheWhole) {
  Json value = Parsed(R"({"a":{"b":[1,2]}})");
  value = *value.Find("a");
  EXPECT_EQ(value.Dump(), R"({"b":[1,2]})");
  value = std::move(*value.Find("b"));
  EXPECT_EQ(value.Dump(), "[1,2]");
  Json& self = value;
  value = self;
  EXPECT_EQ(value.Dump(), "[1,2]");
}

TEST(Json, WhatWasMovedFromIsEmptyAndMayBeUsedAgain) {
  Json list = Json::Array({1, 2});
  const Json taken = std::move(list);
  EXPECT_EQ(taken.size(), 2u);
  EXPECT_EQ(list.size(), 0u);  // NOLINT: that is the question
  list.Append(3);
  EXPECT_EQ(list.Dump(), "[3]");
}

}  // namespace
}  // namespace maniple::codec_json_test
