// Words of a command in any order. Fears: a flag takes the name that stands behind its value; an
// amount beyond all bounds is taken; who says "all namespaces" acts in one, or the other way round.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "scheduler/cli/cluster_commands.h"
#include "scheduler/cli/command_line.h"
#include "scheduler/cli/replay_commands.h"
#include "scheduler/cli/view_commands.h"

namespace maniple::cli_word_order_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What is wrong with the words; "" = the command has run, and reached nobody.
std::string ProblemOf(absl::string_view line) {
  CLI::App app;
  app.fallthrough();
  const AdminClientOptions client{.admin = "unix:/nowhere", .kubeconfig = "/nowhere"};
  const std::string output;
  std::string space;
  int result = 0;
  AddNamespaceFlags(app, space);
  ViewRequest view;
  AddViewCommands(app, {client, output, space}, view, result);
  ClusterRequests asked;
  AddClusterCommands(app, {client, output, space}, asked, result);
  std::vector<std::string> words = absl::StrSplit(line, ' ');
  std::ranges::reverse(words);  // as CLI11 takes them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  EXPECT_EQ(result, 1) << line;
  return "";
}

TEST(WordOrder, AVerbAboutOneNamespaceRefusesAll) {
  for (const char* line :
       {"hold x -A", "-A release x", "requeue x -A", "explain x -A", "whatif x --all-namespaces"}) {
    EXPECT_THAT(ProblemOf(line), HasSubstr("is about one namespace")) << line;
  }
}

TEST(WordOrder, AllNamespacesAndOneExcludeEachOtherWhereverTheyStand) {
  for (const char* line : {"-A -n foo gangs", "-A gangs -n foo", "-n foo gangs -A",
                           "gangs -n foo -A", "-A -n foo nodes", "usage -A -n foo"}) {
    EXPECT_THAT(ProblemOf(line), HasSubstr("-n")) << line;
  }
  EXPECT_THAT(ProblemOf("-A log x"), HasSubstr("excludes GANG"));
}

TEST(WordOrder, ASnapshotIsOfTheWholeCluster) {
  EXPECT_THAT(ProblemOf("snapshot -n foo file"), HasSubstr("the whole cluster"));
  EXPECT_EQ(ProblemOf("snapshot -A file"), "");
}

TEST(WordOrder, NamespacesStandBeforeTheVerbAndBesideOneThatHasNone) {
  for (const char* line : {"-A gangs", "gangs -A", "-n foo gangs", "hold x -n foo", "-n foo hold x",
                           "nodes -A", "queues -n foo", "-A log"}) {
    EXPECT_EQ(ProblemOf(line), "") << line;
  }
}

TEST(WordOrder, AFlagThatMayBeRepeatedTakesOneWordAtATime) {
  CLI::App app;
  const AdminClientOptions client;
  const std::string output, space;
  ClusterRequests asked;
  int result = 0;
  AddClusterCommands(app, {client, output, space}, asked, result);
  std::vector<std::string> words = {"whatif", "--snapshot",  "/nowhere", "--add-nodes", "1:like=n",
                                    "one",    "--add-nodes", "2:like=m", "two"};
  std::ranges::reverse(words);  // as CLI11 takes them
  app.parse(words);
  EXPECT_EQ(result, 1);  // no such snapshot
  EXPECT_THAT(asked.what_if.gangs, ElementsAre("one", "two"));
  EXPECT_THAT(asked.what_if.nodes, ElementsAre("1:like=n", "2:like=m"));
}

TEST(WhatIfWords, NoAmountOfQuotaIsBeyondItsBounds) {
  for (const char* text : {"q=-9223372036854775808", "q=-1000000001", "q=1000000001", "q="}) {
    EXPECT_FALSE(ParseAddedQuota(text).ok()) << text;
  }
  EXPECT_EQ(ParseAddedQuota("q/cpu=-8")->amount, -8);
}

TEST(WhatIfWords, AFlavorStandsBehindItsResource) {
  const absl::StatusOr<AddedQuota> more = ParseAddedQuota("q/nvidia.com/gpu@a100=+8");
  ASSERT_TRUE(more.ok()) << more.status();
  EXPECT_EQ(more->resource, "nvidia.com/gpu");
  EXPECT_EQ(more->flavor, "a100");
  EXPECT_EQ(more->amount, 8);
}

}  // namespace
}  // namespace maniple::cli_word_order_test
