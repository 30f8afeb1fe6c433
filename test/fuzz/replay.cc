#include "test/fuzz/replay.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "absl/strings/escaping.h"
#include "api/base/random.h"

namespace maniple {
namespace {

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

}  // namespace

TEST_P(FuzzReplay, TheCorpusHoldsTheOracle) {
  const std::vector<std::string> corpus = Corpus(GetParam().folder);
  ASSERT_GE(corpus.size(), 3u);
  for (const std::string& text : corpus) EXPECT_EQ(GetParam().target(text), "") << text;
}

TEST_P(FuzzReplay, EveryTruncationHoldsTheOracle) {
  for (const std::string& text : Corpus(GetParam().folder)) {
    // Of a long one, the test has no time for every byte.
    const size_t step = 1 + text.size() / static_cast<size_t>(GetParam().truncations);
    for (size_t size = 0; size < text.size(); size += step) {
      const absl::string_view cut(text.data(), size);
      ASSERT_EQ(GetParam().target(cut), "") << absl::CEscape(cut);
    }
  }
}

TEST_P(FuzzReplay, SeededMutationsHoldTheOracle) {
  uint64_t seed = 1;
  for (const std::string& text : Corpus(GetParam().folder)) {
    Random random(seed++);
    for (int i = 0; i < GetParam().mutations; ++i) {
      const std::string mutated = Mutated(text, GetParam().alphabet, random);
      ASSERT_EQ(GetParam().target(mutated), "") << absl::CEscape(mutated);
    }
  }
}

}  // namespace maniple
