// Replays the corpus through the fuzz targets: every file as it is, cut off at every byte, and
// mutated from fixed seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "api/base/random.h"
#include "test/fuzz/codec_targets.h"

namespace maniple {
namespace {

using Target = std::string (*)(absl::string_view);

struct Suite {
  std::string folder;
  Target target;
  // Bytes that mean something in this language: random ones rarely do.
  std::string alphabet;
  int mutations;
};

std::vector<std::string> Corpus(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("test/fuzz/corpus/" + folder)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> out;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    out.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return out;
}

std::string Mutated(std::string text, const std::string& alphabet, Random& random) {
  for (uint64_t edits = 1 + random.Below(4); edits > 0; --edits) {
    const size_t at = text.empty() ? 0 : random.Below(text.size());
    const size_t run = 1 + random.Below(8);
    switch (random.Below(6)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(random.Next());
        break;
      case 1:
        if (!text.empty()) text[at] = alphabet[random.Below(alphabet.size())];
        break;
      case 2:
        text.insert(at, 1, alphabet[random.Below(alphabet.size())]);
        break;
      case 3:
        text.erase(at, run);
        break;
      case 4:
        text.insert(at, text.substr(random.Below(text.size() + 1), run * 4));
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

class CodecFuzz : public ::testing::TestWithParam<Suite> {};

TEST_P(CodecFuzz, TheCorpusHoldsTheOracle) {
  const std::vector<std::string> corpus = Corpus(GetParam().folder);
  ASSERT_GE(corpus.size(), 3u);
  for (const std::string& text : corpus) EXPECT_EQ(GetParam().target(text), "") << text;
}

TEST_P(CodecFuzz, EveryTruncationHoldsTheOracle) {
  for (const std::string& text : Corpus(GetParam().folder)) {
    for (size_t size = 0; size < text.size(); ++size) {
      const absl::string_view cut(text.data(), size);
      ASSERT_EQ(GetParam().target(cut), "") << absl::CEscape(cut);
    }
  }
}

TEST_P(CodecFuzz, SeededMutationsHoldTheOracle) {
  uint64_t seed = 1;
  for (const std::string& text : Corpus(GetParam().folder)) {
    Random random(seed++);
    for (int i = 0; i < GetParam().mutations; ++i) {
      const std::string mutated = Mutated(text, GetParam().alphabet, random);
      ASSERT_EQ(GetParam().target(mutated), "") << absl::CEscape(mutated);
    }
  }
}

constexpr char kJsonAlphabet[] = "{}[]\",:\\0123456789.-+eEtrufalsn \n\xff\x80\xed";

INSTANTIATE_TEST_SUITE_P(
    Targets, CodecFuzz,
    ::testing::Values(Suite{"json", FuzzJson, kJsonAlphabet, 3000},
                      Suite{"yaml", FuzzYaml, "{}[]&*!|>'\"%@`#:-?,~<= \t\n0.xe\xff", 1500},
                      Suite{"quantity", FuzzQuantity, "0123456789.+-eEKMGTPinumk \n", 5000},
                      Suite{"watch", FuzzWatchLine, kJsonAlphabet, 1500},
                      Suite{"list", FuzzList, kJsonAlphabet, 1500}),
    [](const ::testing::TestParamInfo<Suite>& info) { return info.param.folder; });

}  // namespace
}  // namespace maniple
