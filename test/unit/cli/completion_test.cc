// Scripts that complete commands, read as their shells read them. Fears: a description with an
// apostrophe ends its quotes, and the whole script is none; a command or a flag is left out.
#include "scheduler/cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace maniple::cli_completion_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The words of a line of fish; nothing: a quote does not end. In single quotes a backslash stands
// before a quote or a backslash.
std::optional<std::vector<std::string>> FishWords(absl::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false, begun = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool escapes =
        quoted && c == '\\' && i + 1 < line.size() && (line[i + 1] == '\'' || line[i + 1] == '\\');
    if (escapes) {
      word += line[++i];
    } else if (c == '\'') {
      quoted = !quoted;
      begun = true;
    } else if (c == ' ' && !quoted) {
      if (begun) words.push_back(std::exchange(word, ""));
      begun = false;
    } else {
      word += c;
      begun = true;
    }
  }
  if (begun) words.push_back(word);
  if (quoted) return std::nullopt;
  return words;
}

class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() : app_("For tests", "maniple") {
    CLI::App* gangs = app_.add_subcommand("gangs", "The scheduler's gangs");
    gangs->add_option("--namespace,-n", text_, "A gang's \\ namespace");
    app_.add_subcommand("nodes", "All nodes")->add_flag("--map", flag_, "Drawn");
  }

  std::string text_;
  bool flag_ = false;
  CLI::App app_;
};

TEST_F(CompletionTest, FishReadsEveryLineWholeWithItsDescription) {
  const std::string script = CompletionScript(app_, "fish");
  std::vector<std::string> descriptions;
  for (const absl::string_view line : absl::StrSplit(script, '\n', absl::SkipEmpty())) {
    const auto words = FishWords(line);
    ASSERT_TRUE(words.has_value()) << line;
    EXPECT_EQ(words->front(), "complete") << line;
    ASSERT_EQ(words->at(words->size() - 2), "-d") << line;
    if (!absl::StrContains(words->back(), "help")) descriptions.push_back(words->back());
  }
  EXPECT_THAT(descriptions,
              ElementsAre("The scheduler's gangs", "A gang's \\ namespace", "All nodes", "Drawn"));
}

TEST_F(CompletionTest, BashKnowsTheFlagsOfEachCommand) {
  const std::string script = CompletionScript(app_, "bash");
  EXPECT_THAT(script, HasSubstr("words=\"gangs nodes "));
  EXPECT_THAT(script, HasSubstr("    nodes) words=\"--help -h --map "));
  EXPECT_THAT(script, HasSubstr("--namespace"));
  EXPECT_THAT(CompletionScript(app_, "zsh"), ::testing::EndsWith(script));
}

}  // namespace
}  // namespace maniple::cli_completion_test
