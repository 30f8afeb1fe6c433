// The scanner against another reader of JSON, and the sharing of copies.
#include "api/codec/json_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/codec/json.h"
#include "api/codec/utf8.h"
#include "rapidjson/memorystream.h"
#include "rapidjson/reader.h"

namespace maniple {
namespace {

// What a reader tells, in one line.
class Told {
 public:
  const std::string& text() const { return text_; }

 protected:
  bool Say(absl::string_view what, absl::string_view of = "") {
    absl::StrAppend(&text_, what, "<", of, ">");
    return true;
  }

 private:
  std::string text_;
};

struct Ours final : Told {
  bool Null() { return Say("null"); }
  bool Bool(bool value) { return Say(value ? "true" : "false"); }
  bool Number(absl::string_view text) { return Say("number", text); }
  bool String(absl::string_view text, TextLasts) { return Say("string", text); }
  bool Key(absl::string_view text, TextLasts) { return Say("key", text); }
  bool PassesOver(absl::string_view) { return false; }
  bool Open(Bracket bracket) { return Say(bracket == Bracket::kArray ? "[" : "{"); }
  bool Close(Bracket bracket) { return Say(bracket == Bracket::kArray ? "]" : "}"); }
};

struct Theirs final : Told {
  using Size = rapidjson::SizeType;
  bool Null() { return Say("null"); }
  bool Bool(bool value) { return Say(value ? "true" : "false"); }
  bool RawNumber(const char* text, Size size, bool) { return Say("number", {text, size}); }
  bool String(const char* text, Size size, bool) { return Say("string", {text, size}); }
  bool Key(const char* text, Size size, bool) { return Say("key", {text, size}); }
  bool StartObject() { return Say("{"); }
  bool EndObject(Size) { return Say("}"); }
  bool StartArray() { return Say("["); }
  bool EndArray(Size) { return Say("]"); }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }
};

std::string OursOf(absl::string_view text) {
  // On the heap and of its exact size, so that a look behind the end is found.
  const std::vector<char> bytes(text.begin(), text.end());
  ScanMemory memory;
  Ours sink;
  JsonScan<Ours> scan(absl::string_view(bytes.data(), bytes.size()), memory, sink);
  return scan.Run() ? sink.text() : "refused";
}

std::string TheirsOf(absl::string_view text) {
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  Theirs sink;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, sink);
  return result.IsError() || stream.Tell() != text.size() ? "refused" : sink.text();
}

TEST(JsonScan, TellsWhatAnotherReaderTellsOfMutilatedDocuments) {
  const std::string whole =
      R"({"kind":"Pod","n":[0,-1,1.5e-3,10E+2],"e":"a\"\\\/\b\f\n\r\té\ud83d\ude00z",)"
      R"( "long":"0123456789abcdef0123456789","t":true,"f":false,"z":null,"o":{"":{}})"
      R"(,"l":[[],[{}]]})";
  const std::string alphabet =
      "{}[]\",:\\/ \n\t\x01\x7f\xc3\xa9"
      "0123456789-+.eEtfnuldabz";
  ASSERT_NE(OursOf(whole), "refused");
  Random random(1);
  for (int i = 0; i < 200'000; ++i) {
    std::string text = whole;
    for (uint64_t edits = 1 + random.Below(3); edits > 0 && !text.empty(); --edits) {
      const size_t at = random.Below(text.size());
      switch (random.Below(4)) {
        case 0:
          text.erase(at, 1 + random.Below(4));
          break;
        case 1:
          text.insert(at, 1, alphabet[random.Below(alphabet.size())]);
          break;
        case 2:
          text.resize(at + 1);
          break;
        default:
          text[at] = alphabet[random.Below(alphabet.size())];
      }
    }
    ASSERT_EQ(OursOf(text), TheirsOf(text)) << text;
  }
}

TEST(JsonScan, FindsTheEndOfAStringAtEveryDistanceFromTheEndOfTheText) {
  for (size_t size = 0; size < 40; ++size) {
    const std::string plain(size, 'x');
    EXPECT_EQ(OursOf(absl::StrCat("\"", plain, "\"")), absl::StrCat("string<", plain, ">"));
    EXPECT_EQ(OursOf(absl::StrCat("\"", plain)), "refused");
    EXPECT_EQ(OursOf(absl::StrCat("\"", plain, "\\")), "refused");
    EXPECT_EQ(OursOf(absl::StrCat("\"", plain, "\\u12")), "refused");
    for (const char control : {'\0', '\x1f', '\n'}) {
      EXPECT_EQ(OursOf(absl::StrCat("\"", plain, std::string(1, control), "\"")), "refused");
    }
  }
}

TEST(Json, WritesEveryByteAtEveryPlaceSoThatItReadsBack) {
  for (size_t before = 0; before < 12; ++before) {
    for (int byte = 0; byte < 0x80; ++byte) {
      const std::string text =
          std::string(before, 'x') + static_cast<char>(byte) + std::string(9, 'y');
      const absl::StatusOr<Json> back = Json::Parse(Json(text).Dump());
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(back->AsString(), text);
    }
  }
}

TEST(Json, ACopyAndItsOriginalChangeApart) {
  Json original = *Json::Parse(R"({"a":{"b":[{"c":1}]},"d":"x"})");
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
  Json value = *Json::Parse(R"({"a":{"b":[1,2]}})");
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
}  // namespace maniple
