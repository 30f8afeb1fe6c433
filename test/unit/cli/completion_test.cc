// Scripts that complete commands, read as their shells read them. Fears: a description with an
// apostrophe ends its quotes, and the whole script is none; a command or a flag is left out, be it
// of the program, or a short one; flags before the verb hide it.
#include "scheduler/cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/files.h"
#include "test/support/temp_folder.h"

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
    app_.add_option("--output,-o", text_, "How")->check(CLI::IsMember({"table", "json"}));
    app_.add_option("-A", text_)->group("");
    CLI::App* gangs = app_.add_subcommand("gangs", "The scheduler's gangs");
    gangs->add_option("--namespace,-n", text_, "A gang's \\ namespace");
    app_.add_subcommand("nodes", "All nodes")->add_flag("--map", flag_, "Drawn");
    CLI::App* completion = app_.add_subcommand("completion", "A script");
    completion->add_option("SHELL", text_, "Which")->check(CLI::IsMember({"bash", "fish"}));
  }

  // What bash offers behind these words, of which it takes the last for begun.
  [[nodiscard]] std::string OfferedBehind(const std::string& words) const {
    const TempFolder folder;
    const std::string file =
        folder.Write("script", absl::StrCat(CompletionScript(app_, "bash"), "COMP_WORDS=(", words,
                                            ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_maniple\n",
                                            "echo \"${COMPREPLY[*]}\" >", folder.In("offered")));
    EXPECT_EQ(std::system(absl::StrCat("cd ", folder.path().string(), " && bash ", file).c_str()),
              0);
    return *ReadWholeFile(folder.In("offered"));
  }

  std::string text_;
  bool flag_ = false;
  CLI::App app_;
};

TEST_F(CompletionTest, FishReadsEveryLineWholeWithItsDescription) {
  const std::string script = CompletionScript(app_, "fish");
  std::vector<std::string> descriptions;
  for (const absl::string_view line : absl::StrSplit(script, '\n', absl::SkipEmpty())) {
    if (line == "complete -c kubectl-maniple -w maniple") continue;
    const auto words = FishWords(line);
    ASSERT_TRUE(words.has_value()) << line;
    EXPECT_EQ(words->front(), "complete") << line;
    ASSERT_EQ(words->at(words->size() - 2), "-d") << line;
    if (!absl::StrContains(words->back(), "help")) descriptions.push_back(words->back());
  }
  EXPECT_THAT(descriptions, ElementsAre("How", "The scheduler's gangs", "A gang's \\ namespace",
                                        "All nodes", "Drawn", "A script", "Which"));
}

TEST_F(CompletionTest, FishKnowsFlagsOfTheProgramShortOnesAndTheirWords) {
  const std::string script = CompletionScript(app_, "fish");
  EXPECT_THAT(script, HasSubstr("complete -c maniple -l output -s o -x -a 'table json' -d 'How'"));
  EXPECT_THAT(script, HasSubstr("from gangs' -l namespace -s n -d "));
  EXPECT_THAT(script, HasSubstr("from completion' -a 'bash fish' -d 'Which'"));
  EXPECT_THAT(script, HasSubstr("complete -c kubectl-maniple -w maniple\n"));
}

TEST_F(CompletionTest, BashKnowsTheFlagsOfEachCommand) {
  const std::string script = CompletionScript(app_, "bash");
  EXPECT_THAT(script, HasSubstr("words=\"gangs nodes "));
  EXPECT_THAT(script, HasSubstr("    nodes) words=\"--help -h --map "));
  EXPECT_THAT(script, HasSubstr("--namespace"));
  EXPECT_THAT(CompletionScript(app_, "zsh"), ::testing::EndsWith(script));
}

TEST_F(CompletionTest, BashFindsTheVerbBehindFlags) {
  EXPECT_EQ(OfferedBehind("maniple nodes --m"), "--map\n");
  EXPECT_EQ(OfferedBehind("maniple -o json nodes --m"), "--map\n");
  EXPECT_EQ(OfferedBehind("maniple -o json no"), "nodes\n");
}

TEST_F(CompletionTest, BashOffersTheWordsThatAFlagOrACommandTakes) {
  EXPECT_EQ(OfferedBehind("maniple nodes -o ''"), "table json\n");
  EXPECT_EQ(OfferedBehind("maniple --output j"), "json\n");
  EXPECT_EQ(OfferedBehind("maniple completion b"), "bash\n");
}

}  // namespace
}  // namespace maniple::cli_completion_test
