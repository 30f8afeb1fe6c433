#include "api/client/line_framer.h"

#include <string>
#include <vector>

#include "api/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Framed {
  std::vector<std::string> lines;
  absl::Status status;
};

Framed FeedAll(LineFramer& framer, const std::vector<std::string>& chunks) {
  Framed out;
  for (const std::string& chunk : chunks) {
    out.status = framer.Feed(chunk, [&](absl::string_view line) {
      out.lines.emplace_back(line);
      return LineFramer::Go::kOn;
    });
    if (!out.status.ok()) break;
  }
  return out;
}

TEST(LineFramer, GivesTheSameLinesHoweverTheBytesAreChunked) {
  const std::string text = "{\"a\":1}\nsecond\n\nthe third is longer\r\nlast\nrest";
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> chunks;
    for (size_t at = 0; at < text.size();) {
      const size_t size = 1 + random.Below(9);
      chunks.push_back(text.substr(at, size));
      at += size;
    }
    LineFramer framer(1000);
    EXPECT_THAT(FeedAll(framer, chunks).lines,
                ElementsAre("{\"a\":1}", "second", "the third is longer", "last"));
    EXPECT_EQ(framer.partial(), 4u);
  }
}

TEST(LineFramer, ALineAsLongAsTheBoundPassesAndOneByteMoreFails) {
  LineFramer framer(10);
  EXPECT_THAT(FeedAll(framer, {"01234", "56789\n"}).lines, ElementsAre("0123456789"));
  const Framed longer = FeedAll(framer, {"01234", "567890"});
  EXPECT_TRUE(absl::IsResourceExhausted(longer.status)) << longer.status;
  EXPECT_EQ(framer.partial(), 0u) << "the memory of the lost line must be given back";
}

TEST(LineFramer, ATooLongLineFailsEvenWhenItsEndComesInTheSameChunk) {
  LineFramer framer(4);
  const Framed out = FeedAll(framer, {"ok\n12345\nok\n"});
  EXPECT_FALSE(out.status.ok());
  EXPECT_THAT(out.lines, ElementsAre("ok"));
}

TEST(LineFramer, StoppingDropsTheRestOfTheChunk) {
  LineFramer framer(100);
  std::vector<std::string> lines;
  const absl::Status status = framer.Feed("a\nb\nc\nd", [&](absl::string_view line) {
    lines.emplace_back(line);
    return line == "b" ? LineFramer::Go::kStop : LineFramer::Go::kOn;
  });
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(lines, ElementsAre("a", "b"));
  EXPECT_EQ(framer.partial(), 0u);
}

TEST(LineFramer, BlankLinesAreNoLines) {
  LineFramer framer(100);
  EXPECT_THAT(FeedAll(framer, {"\n\n\r\n", "\n"}).lines, IsEmpty());
}

}  // namespace
}  // namespace maniple
