// The tree of Cohorts, against the forest that it was made from. Fears: a Cohort is left out, or
// comes twice; a problem of the parent hides its children; a cycle has no end; a child does not
// stand behind its parent.
#include "scheduler/cli/listing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/random.h"

namespace maniple::cli_cohort_tree_test {
namespace {

struct Cohort {
  std::string name, parent, problem;
};

struct Line {
  std::string name;
  size_t depth = 0;
};

std::vector<Line> TreeOf(const std::vector<Cohort>& cohorts) {
  Json items = Json::Array();
  for (const Cohort& cohort : cohorts) {
    items.Append(Json::Object(
        {{"name", cohort.name}, {"parent", cohort.parent}, {"problem", cohort.problem}}));
  }
  const std::string table = CohortTable(Json::Object({{"items", std::move(items)}}));
  std::vector<Line> lines;
  for (const absl::string_view line : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
    const size_t indent = line.find_first_not_of(' ');
    const absl::string_view name = line.substr(indent, line.find(' ', indent) - indent);
    if (name == "COHORT" || absl::StrContains(line, " is inactive: ")) continue;
    lines.push_back({std::string(name), indent / 2});
  }
  return lines;
}

// How many parents stand above it; 0 where there is no end, or one of them is not there.
size_t DepthOf(const std::string& name, const std::map<std::string, std::string>& parents) {
  size_t depth = 0;
  for (std::string at = parents.at(name); parents.contains(at); at = parents.at(at)) {
    if (++depth > parents.size()) return 0;
  }
  return depth;
}

TEST(CohortTree, ACohortWithAProblemKeepsItsChildrenBelowIt) {
  const std::vector<Line> lines =
      TreeOf({{"org", "", "spec.quotas: flavor \"x\" is invalid"}, {"team", "org", ""}});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].name, "team");
  EXPECT_EQ(lines[1].depth, 1u);
}

TEST(CohortTree, EveryCohortStandsOnceBehindItsParent) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    std::vector<Cohort> cohorts;
    std::map<std::string, std::string> parents;
    for (uint64_t i = 0, size = 1 + random.Below(7); i < size; ++i) {
      const std::string parent = random.OneIn(3) ? "" : absl::StrCat("c", random.Below(8));
      cohorts.push_back({absl::StrCat("c", i), parent, random.OneIn(3) ? "bad" : ""});
      parents[cohorts.back().name] = parent;
    }
    const std::vector<Line> lines = TreeOf(cohorts);
    ASSERT_EQ(lines.size(), cohorts.size()) << "seed " << seed;
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(lines[i].depth, DepthOf(lines[i].name, parents)) << "seed " << seed;
      if (lines[i].depth == 0) continue;
      size_t above = i;
      while (lines[above].depth >= lines[i].depth) ASSERT_GT(above--, 0u);
      EXPECT_EQ(lines[above].name, parents.at(lines[i].name)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace maniple::cli_cohort_tree_test
