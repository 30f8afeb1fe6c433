// UTF-8. Fears: an overlong form, a surrogate or half a character passes; what is shown on one line
// moves a terminal's cursor or ends the line; a prefix ends inside a character.
#include "api/codec/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "api/base/random.h"
#include "api/codec/decode.h"

namespace maniple::codec_utf8_test {
namespace {

// As RFC 3629 writes a character.
std::string Written(uint32_t code) {
  const auto byte = [](uint32_t value) { return static_cast<char>(value); };
  const auto tail = [&](int shift) { return byte(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6), tail(0)};
  if (code < 0x10000) return {byte(0xE0 | code >> 12), tail(6), tail(0)};
  return {byte(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

bool IsSurrogate(uint32_t code) { return code >= 0xD800 && code <= 0xDFFF; }

// The character that begins at `at`, found by writing what the bytes seem to mean.
std::optional<uint32_t> NaiveAt(const std::string& text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint32_t code = length == 1 ? lead : lead & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (at + i >= text.size()) return std::nullopt;
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  }
  const bool same = text.compare(at, length, Written(code)) == 0;
  return same && !IsSurrogate(code) && code <= 0x10FFFF ? std::optional(code) : std::nullopt;
}

std::string NaivePrintable(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const std::optional<uint32_t> code = NaiveAt(text, at);
    const bool control = code && (*code < 0x20 || (*code >= 0x7F && *code < 0xA0));
    out += !code ? Written(0xFFFD) : control ? " " : Written(*code);
    at += code ? Written(*code).size() : 1;
  }
  return out;
}

size_t NaiveInvalid(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const std::optional<uint32_t> code = NaiveAt(text, at);
    if (!code) return at;
    at += Written(*code).size();
  }
  return std::string::npos;
}

// Characters of all lengths, the edges of their ranges, and bytes that stand alone.
std::string Drawn(Random& random) {
  static constexpr uint32_t kEdges[] = {0,      0x1F,   0x7E,   0x7F,   0x80,    0x85,
                                        0x9B,   0x9F,   0xA0,   0x7FF,  0x800,   0xD7FF,
                                        0xD800, 0xDFFF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
  std::string out;
  for (uint64_t left = random.Below(12); left > 0; --left) {
    switch (random.Below(4)) {
      case 0:
        out += Written(kEdges[random.Below(std::size(kEdges))]);
        break;
      case 1:
        out += static_cast<char>(random.Below(256));
        break;
      case 2:
        out.append(random.Below(10), 'a');
        break;
      default:
        out += Written(static_cast<uint32_t>(random.Below(0x110000)));
    }
  }
  return out;
}

TEST(CodecUtf8, AgreesWithANaiveReaderOnRandomBytes) {
  Random random(9);
  for (int round = 0; round < 5000; ++round) {
    const std::string text = Drawn(random);
    EXPECT_EQ(FindInvalidUtf8(text), NaiveInvalid(text));
    EXPECT_EQ(Printable(text), NaivePrintable(text));
    EXPECT_TRUE(IsUtf8(Printable(text)));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(CodecUtf8, EveryCharacterIsReadAndOnlyControlsAreReplaced) {
  for (uint32_t code = 0; code <= 0x10FFFF; code += code < 0x3000 ? 1 : 251) {
    const std::string text = Written(code);
    ASSERT_EQ(IsUtf8(text), !IsSurrogate(code)) << code;
    ASSERT_EQ(HasEncodedSurrogate(text), IsSurrogate(code)) << code;
    ASSERT_EQ(Printable(text), NaivePrintable(text)) << code;
  }
}

TEST(CodecUtf8, APrefixIsTheLongestThatEndsBetweenTwoCharacters) {
  Random random(10);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    while (text.size() < 20) {
      const auto code = static_cast<uint32_t>(random.Below(random.OneIn(2) ? 0x80 : 0x110000));
      if (!IsSurrogate(code)) text += Written(code);
    }
    for (size_t limit = 0; limit <= text.size() + 1; ++limit) {
      const absl::string_view prefix = Utf8Prefix(text, limit);
      ASSERT_LE(prefix.size(), limit);
      ASSERT_TRUE(IsUtf8(prefix));
      ASSERT_TRUE(prefix.size() + 4 > limit || prefix.size() == text.size());
    }
  }
}

TEST(CodecUtf8, AnAnnotationThatIsKeptHasAKeyOfUtf8) {
  Decoder decoder;
  const absl::StatusOr<DecodedObject> pod = decoder.Single(
      ResourceKind::kPod,
      "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"annotations\":{"
      "\"scheduling.maniple.dev/\xFF\":\"x\"}}}");
  ASSERT_TRUE(pod.ok()) << pod.status();
  const auto* invalid = std::get_if<ObjectInvalid>(&pod->what);
  ASSERT_NE(invalid, nullptr);
  EXPECT_NE(invalid->problem.find("the key is no valid UTF-8"), std::string::npos);
}

}  // namespace
}  // namespace maniple::codec_utf8_test
