// gzip. Fears: a file that is cut off, damaged or followed by something else is read in part and
// taken for the whole; a small file fills the memory; an empty text has no file.
#include "api/codec/gzip.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::codec_gzip_test {
namespace {

constexpr size_t kMost = size_t{1} << 20;

// Half of it is hard to pack.
std::string Drawn(Random& random, size_t size) {
  std::string out;
  while (out.size() < size) {
    out.append(1 + random.Below(50), static_cast<char>(random.Below(256)));
    if (random.OneIn(2)) out += absl::StrCat(random.Next());
  }
  return out.substr(0, size);
}

TEST(CodecGzip, ATextComesBackWhateverItsSize) {
  Random random(5);
  for (const size_t size : {0, 1, 2, 100, 65'535, 65'536, 65'537, 300'000}) {
    const std::string text = Drawn(random, size);
    const std::string packed = Gzip(text);
    EXPECT_TRUE(IsGzip(packed));
    const absl::StatusOr<std::string> back = Gunzip(packed, kMost);
    ASSERT_TRUE(back.ok()) << size << ": " << back.status();
    EXPECT_EQ(*back, text) << size;
  }
}

TEST(CodecGzip, WhatIsCutOffAnywhereIsRefused) {
  Random random(6);
  const std::string packed = Gzip(Drawn(random, 500));
  for (size_t size = 0; size < packed.size(); ++size) {
    EXPECT_FALSE(Gunzip(packed.substr(0, size), kMost).ok()) << size;
  }
}

TEST(CodecGzip, ADamagedByteIsRefusedOrChangesNothing) {
  Random random(7);
  const std::string text = Drawn(random, 500);
  const std::string packed = Gzip(text);
  for (size_t at = 0; at < packed.size(); ++at) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.Below(8)));
    const absl::StatusOr<std::string> back = Gunzip(damaged, kMost);
    // gzip's head tells times and systems.
    EXPECT_EQ(back.value_or(text), text) << at;
  }
}

TEST(CodecGzip, SeveralFilesBehindEachOtherAreAllRead) {
  Random random(8);
  for (int round = 0; round < 20; ++round) {
    std::string packed, text;
    for (uint64_t left = 1 + random.Below(4); left > 0; --left) {
      const std::string part = Drawn(random, random.Below(1000));
      packed += Gzip(part);
      text += part;
    }
    const absl::StatusOr<std::string> back = Gunzip(packed, kMost);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, text);
    EXPECT_FALSE(Gunzip(packed.substr(0, packed.size() - 1), kMost).ok());
  }
}

TEST(CodecGzip, WhatFollowsAndIsNoFileIsRefused) {
  for (const char* more : {"x", "text behind it", "\x1f", "\x1f\x8b"}) {
    EXPECT_FALSE(Gunzip(absl::StrCat(Gzip("text"), more), kMost).ok()) << more;
  }
}

TEST(CodecGzip, TheBoundHoldsToTheByteAndOverAllFiles) {
  const std::string packed = Gzip(std::string(1000, 'a'));
  EXPECT_TRUE(Gunzip(packed, 1000).ok());
  EXPECT_FALSE(Gunzip(packed, 999).ok());
  EXPECT_TRUE(Gunzip(packed + packed, 2000).ok());
  EXPECT_FALSE(Gunzip(packed + packed, 1999).ok());
  const std::string bomb = Gzip(std::string(size_t{8} << 20, 'a'));
  EXPECT_TRUE(absl::StrContains(Gunzip(bomb, kMost).status().message(), "more than 1 MiB"));
}

}  // namespace
}  // namespace maniple::codec_gzip_test
