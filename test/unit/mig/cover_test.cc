// Fear: the search gives up what brute force finds, or says "proven" of what is not.
#include "scheduler/mig/cover.h"

#include <algorithm>

#include "api/base/random.h"
#include "gmock/gmock.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;

struct Score {
  int64_t met = 0, changes = 0;
  friend bool operator==(const Score&, const Score&) = default;
};

Score ScoreOf(const CoverProblem& problem, const std::vector<std::vector<int32_t>>& nodes) {
  Score score;
  std::vector<int64_t> total(problem.demand.size(), 0);
  for (size_t g = 0; g < problem.groups.size(); ++g) {
    const CoverGroup& group = problem.groups[g];
    int64_t as_is = group.nodes;
    for (size_t s = 1; s < group.settings.size(); ++s) {
      as_is -= nodes[g][s];
      for (size_t k = 0; k < total.size(); ++k) {
        total[k] += int64_t{nodes[g][s]} * group.settings[s].gives[k];
      }
      if (group.settings[s].changes) score.changes += nodes[g][s];
    }
    EXPECT_GE(as_is, 0);
    for (size_t k = 0; k < total.size(); ++k) total[k] += as_is * group.settings[0].gives[k];
  }
  for (size_t k = 0; k < total.size(); ++k) score.met += std::min(total[k], problem.demand[k]);
  return score;
}

// Tries everything.
void BruteForce(const CoverProblem& problem, size_t g, size_t s, int32_t left,
                std::vector<std::vector<int32_t>>& nodes, Score& best) {
  if (g == problem.groups.size()) {
    const Score score = ScoreOf(problem, nodes);
    if (score.met > best.met || (score.met == best.met && score.changes < best.changes)) {
      best = score;
    }
    return;
  }
  if (s == problem.groups[g].settings.size()) {
    const int32_t next = g + 1 < problem.groups.size() ? problem.groups[g + 1].nodes : 0;
    return BruteForce(problem, g + 1, 1, next, nodes, best);
  }
  for (int32_t n = 0; n <= left; ++n) {
    nodes[g][s] = n;
    BruteForce(problem, g, s + 1, left - n, nodes, best);
  }
  nodes[g][s] = 0;
}

CoverProblem RandomProblem(Random& random) {
  CoverProblem problem{.most_steps = 1'000'000};
  const size_t kinds = 1 + random.Below(4);
  for (size_t k = 0; k < kinds; ++k) {
    problem.demand.push_back(static_cast<int64_t>(random.Below(random.OneIn(2) ? 8 : 40)));
  }
  const size_t groups = 1 + random.Below(3);
  for (size_t g = 0; g < groups; ++g) {
    CoverGroup group{.nodes = static_cast<int32_t>(random.Below(4))};
    const size_t settings = 1 + random.Below(4);
    for (size_t s = 0; s < settings; ++s) {
      CoverSetting setting{.changes = s > 0 && !random.OneIn(5)};
      for (size_t k = 0; k < kinds; ++k) {
        setting.gives.push_back(random.OneIn(2) ? 0 : static_cast<int32_t>(random.Below(16)));
      }
      group.settings.push_back(std::move(setting));
    }
    problem.groups.push_back(std::move(group));
  }
  return problem;
}

TEST(Cover, MeetsAsMuchByAsFewChangesAsTryingEverything) {
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    const CoverProblem problem = RandomProblem(random);
    const CoverAnswer answer = SolveCover(problem);
    ASSERT_TRUE(answer.proven) << "case " << i;
    std::vector<std::vector<int32_t>> nodes = answer.nodes;
    EXPECT_EQ(ScoreOf(problem, nodes), (Score{answer.met, answer.changes})) << "case " << i;
    for (std::vector<int32_t>& group : nodes) std::fill(group.begin(), group.end(), 0);
    EXPECT_EQ(ScoreOf(problem, nodes).met, answer.met_before);
    Score best{.met = -1};
    BruteForce(problem, 0, 1, problem.groups[0].nodes, nodes, best);
    ASSERT_EQ((Score{answer.met, answer.changes}), best) << "case " << i;
  }
}

TEST(Cover, WhatIsFoundWithinTheLimitIsSaidNotToBeProven) {
  CoverProblem problem{.demand = {20, 20, 20}, .most_steps = 3};
  problem.groups.push_back({.nodes = 30,
                            .settings = {{.gives = {0, 0, 0}},
                                         {.gives = {3, 1, 0}, .changes = true},
                                         {.gives = {0, 3, 1}, .changes = true},
                                         {.gives = {1, 0, 3}, .changes = true}}});
  const CoverAnswer answer = SolveCover(problem);
  EXPECT_FALSE(answer.proven);
  EXPECT_EQ(answer.met, 60) << "greed finds that";
}

TEST(Cover, NothingIsChangedWhereNothingMoreIsMet) {
  const CoverProblem problem{
      .demand = {4},
      .groups = {{.nodes = 2, .settings = {{.gives = {2}}, {.gives = {9}, .changes = true}}}}};
  const CoverAnswer answer = SolveCover(problem);
  EXPECT_EQ(answer.met_before, 4);
  EXPECT_EQ(answer.changes, 0);
  EXPECT_THAT(answer.nodes, ElementsAre(ElementsAre(0, 0)));
}

TEST(Cover, OfEqualsTheFirstIsTaken) {
  const CoverProblem problem{
      .demand = {4},
      .groups = {{.nodes = 1, .settings = {{.gives = {0}}, {.gives = {4}, .changes = true}}},
                 {.nodes = 1, .settings = {{.gives = {0}}, {.gives = {4}, .changes = true}}}}};
  EXPECT_THAT(SolveCover(problem).nodes, ElementsAre(ElementsAre(0, 1), ElementsAre(0, 0)));
}

TEST(Cover, NoGroupsAndNoDemandAreNoTrouble) {
  EXPECT_EQ(SolveCover({}).met, 0);
  EXPECT_EQ(SolveCover({.demand = {5}}).met, 0);
  EXPECT_EQ(SolveCover({.demand = {}, .groups = {{.nodes = 3, .settings = {{}}}}}).changes, 0);
}

}  // namespace
}  // namespace maniple
