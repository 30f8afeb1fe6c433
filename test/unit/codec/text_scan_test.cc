// The leap over a run of text. Fears: a byte that ends the run is jumped over when it stands beside
// another, at the edge of eight bytes, or at the end; a byte beyond the end is looked at.
#include "api/codec/text_scan.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "api/base/random.h"

namespace maniple::codec_text_scan_test {
namespace {

size_t Naive(const std::string& text, size_t from, bool at_non_ascii) {
  for (size_t at = from; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '"' || byte == '\\' || byte < 0x20 || (at_non_ascii && byte > 0x7F)) return at;
  }
  return text.size();
}

// Without a byte to spare, so that a tool that watches memory sees a look beyond the end.
void CheckAll(const std::string& text) {
  const auto exact = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), exact.get());
  const char* const end = exact.get() + text.size();
  for (size_t from = 0; from <= text.size(); ++from) {
    ASSERT_EQ(EndOfRun<RunEnds::kAtThose>(exact.get() + from, end) - exact.get(),
              Naive(text, from, false));
    ASSERT_EQ(EndOfRun<RunEnds::kAtNonAscii>(exact.get() + from, end) - exact.get(),
              Naive(text, from, true));
  }
}

TEST(TextScan, FindsEachByteAtEachPlaceBesideEachNeighbour) {
  const std::string near = std::string("\x00\x01\x1F", 3) + " !\"#[\\]\x7F\x80\xA0\xA2\xDC\xFF";
  for (int byte = 0; byte < 256; ++byte) {
    for (size_t place = 0; place < 10; ++place) {
      std::string text(10, 'a');
      text[place] = static_cast<char>(byte);
      for (const char neighbour : near) {
        if (place > 0) text[place - 1] = neighbour;
        ASSERT_NO_FATAL_FAILURE(CheckAll(text)) << byte << " at " << place;
      }
    }
  }
}

TEST(TextScan, EqualsALookAtEachByte) {
  Random random(1);
  const std::string bytes = std::string("\x00\x1F", 2) + " !\"#aZ[\\]\x7F\x80\xFF";
  for (int round = 0; round < 300; ++round) {
    std::string text(random.Below(40), 'x');
    for (char& c : text) {
      if (random.OneIn(6)) c = bytes[random.Below(bytes.size())];
    }
    ASSERT_NO_FATAL_FAILURE(CheckAll(text));
  }
}

}  // namespace
}  // namespace maniple::codec_text_scan_test
