// Words of a command in any order. Fears: a flag takes the name that stands behind its value; an
// amount beyond all bounds is taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scheduler/cli/cluster_commands.h"
#include "scheduler/cli/replay_commands.h"

namespace maniple::cli_word_order_test {
namespace {

using ::testing::ElementsAre;

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
