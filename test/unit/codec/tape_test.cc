// Tapes. Fears: a token of the last text shows in the next; a value that is passed over takes its
// neighbour along; a text that is cut off is half read; an element of a list is lost or joined.
#include "api/codec/tape.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/codec/cursor.h"
#include "api/codec/json.h"

namespace maniple::codec_tape_test {
namespace {

// What the cursor shows, as JSON with every number and word as its text.
Json Shown(const Cursor& at) {
  switch (at.type()) {
    case TokenType::kNull:
    case TokenType::kKey:
      return Json();
    case TokenType::kBool:
    case TokenType::kNumber:
    case TokenType::kString:
      return Json(at.token().view());
    case TokenType::kArray: {
      Json out = Json::Array();
      for (const Cursor& item : at.Items()) out.Append(Shown(item));
      return out;
    }
    case TokenType::kObject: {
      Json out = Json::Object();
      for (const Cursor& member : at.Members()) out.Set(member.key(), Shown(member));
      return out;
    }
  }
  return Json();
}

Json Shown(const Tape& tape) {
  Problem problem;
  return Shown(Cursor(tape.root(), problem));
}

// A text and what a reader shall see of it.
struct Drawn {
  std::string text;
  Json seen;
};

std::string Space(Random& random) {
  static constexpr absl::string_view kSpaces[] = {"", "", " ", "\n\t", "\r\n  "};
  return std::string(kSpaces[random.Below(5)]);
}

Drawn DrawnText(Random& random) {
  static constexpr absl::string_view kPieces[] = {
      "a",    "\"",   "\\", "}", "]", ",", "\n", "\x01", "\xC3\xA9", "\xF0\x9F\x98\x80",
      "null", "long "};
  std::string text;
  for (uint64_t left = random.Below(9); left > 0; --left) {
    absl::StrAppend(&text, kPieces[random.Below(12)]);
  }
  return {absl::StrCat("\"", JsonEscaped(text), "\""), Json(text)};
}

Drawn DrawnValue(Random& random, int depth);

Drawn DrawnObject(Random& random, int depth) {
  static constexpr absl::string_view kKeys[] = {"env", "state", "items", "args", "x", "y\n", ""};
  Drawn out{absl::StrCat("{", Space(random)), Json::Object()};
  for (size_t key = random.Below(8), first = key; key < 7; ++key) {
    const Drawn value = DrawnValue(random, depth - 1);
    absl::StrAppend(&out.text, key > first ? "," : "", Space(random), "\"", JsonEscaped(kKeys[key]),
                    "\"", Space(random), ":", Space(random), value.text, Space(random));
    const bool passed_over = kKeys[key] == "env" || kKeys[key] == "state" || kKeys[key] == "args";
    const bool container = value.text[0] == '{' || value.text[0] == '[';
    if (value.seen.is_null() || (passed_over && container)) continue;
    out.seen.Set(kKeys[key], value.seen);
  }
  out.text += "}";
  return out;
}

Drawn DrawnValue(Random& random, int depth) {
  static constexpr absl::string_view kPlain[] = {"true", "false", "0",
                                                 "-1",   "1.5e3", "12345678901"};
  const uint64_t what = random.Below(depth > 0 ? 6 : 4);
  if (what == 0) return {"null", Json()};
  if (what == 1) {
    const absl::string_view plain = kPlain[random.Below(6)];
    return {std::string(plain), Json(plain)};
  }
  if (what < 4) return DrawnText(random);
  if (what == 4) return DrawnObject(random, depth);
  Drawn out{"[", Json::Array()};
  for (uint64_t left = random.Below(4), first = left; left > 0; --left) {
    const Drawn item = DrawnValue(random, depth - 1);
    absl::StrAppend(&out.text, left < first ? "," : "", Space(random), item.text, Space(random));
    out.seen.Append(item.seen);
  }
  out.text += "]";
  return out;
}

TEST(CodecTape, ShowsWhatTheTextSaysWhateverWasReadBefore) {
  Random random(12);
  TapeReader reader;
  Tape tape;
  for (int round = 0; round < 2000; ++round) {
    const Drawn drawn = DrawnValue(random, 4);
    const std::string text = Space(random) + drawn.text + Space(random);
    ASSERT_TRUE(reader.Read(text, tape).ok()) << text;
    ASSERT_EQ(Shown(tape), drawn.seen) << text;
    // A failure leaves nothing behind.
    ASSERT_FALSE(reader.Read(text + "]", tape).ok()) << text;
  }
}

TEST(CodecTape, ATextThatIsCutAnywhereIsRefused) {
  Random random(13);
  TapeReader reader;
  Tape tape;
  for (int round = 0; round < 150; ++round) {
    const std::string text = DrawnObject(random, 3).text;
    for (size_t size = 0; size < text.size(); ++size) {
      const std::string cut = text.substr(0, size);  // of its own, so that tools see what is read
      ASSERT_FALSE(reader.Read(cut, tape).ok()) << cut;
    }
  }
}

TEST(CodecTape, AListHandsOverEachElementOnceAndShowsTheRestAsTheHead) {
  Random random(14);
  TapeReader reader;
  Tape head, item;
  for (int round = 0; round < 500; ++round) {
    std::vector<Json> expected, got;
    std::string items;
    for (uint64_t left = random.Below(5); left > 0; --left) {
      const Drawn value = DrawnValue(random, 3);
      absl::StrAppend(&items, expected.empty() ? "" : ",", Space(random), value.text);
      expected.push_back(value.seen);
    }
    const Drawn meta = DrawnObject(random, 2);
    const std::string text = absl::StrCat("{\"metadata\":", meta.text, ",\"items\":", Space(random),
                                          "[", items, "],\"kind\":\"PodList\"}");
    const absl::Status status = reader.ReadList(
        text, {.head = head, .item = item}, [&](const Tape& one) { got.push_back(Shown(one)); });
    ASSERT_TRUE(status.ok()) << status << text;
    ASSERT_EQ(got, expected) << text;
    const Json rest = Json::Object({{"metadata", meta.seen}, {"kind", "PodList"}});
    ASSERT_EQ(Shown(head), rest) << text;
  }
}

}  // namespace
}  // namespace maniple::codec_tape_test
