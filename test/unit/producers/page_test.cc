// The page for users says of each producer what the scheduler does.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/files.h"
#include "test/unit/producers/quorum_rules.h"

namespace maniple {
namespace {

TEST(ProducersPage, SaysTheQuorumOfEveryProducer) {
  const absl::StatusOr<std::string> page = ReadWholeFile("deploy/producers.md");
  ASSERT_TRUE(page.ok()) << page.status();
  for (const QuorumRule& rule : QuorumRules()) {
    const std::string row = absl::StrCat("| ", rule.producer, " | ", rule.quorum, " |");
    EXPECT_TRUE(absl::StrContains(*page, row)) << "deploy/producers.md lacks the row\n" << row;
  }
}

}  // namespace
}  // namespace maniple
