// Replays a corpus through a fuzz target in an ordinary test: every file as it is, cut off, and
// mutated from fixed seeds. So every compiler's build guards what the fuzzers have found.
//
//   INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay,
//                            ::testing::Values(FuzzSuite{"json", FuzzJson, kJsonAlphabet, 3000}),
//                            FolderOf);
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// Bytes that mean something in JSON.
inline constexpr char kJsonAlphabet[] = "{}[]\",:\\0123456789.-+eEtrufalsn \n\xff\x80\xed";
inline constexpr char kYamlAlphabet[] = "{}[]&*!|>'\"%@`#:-?,~<= \t\n0.xe\xff";

struct FuzzSuite {
  std::string folder;  // of test/fuzz/corpus
  std::string (*target)(absl::string_view);
  // Bytes that mean something in this language: random ones rarely do.
  std::string alphabet;
  // Of each file.
  int mutations;
  int truncations = 2048;
};

class FuzzReplay : public ::testing::TestWithParam<FuzzSuite> {};

inline std::string FolderOf(const ::testing::TestParamInfo<FuzzSuite>& info) {
  return info.param.folder;
}

}  // namespace maniple
