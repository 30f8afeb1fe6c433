// The choice of members that make the quorum. Fears: a shortage is called proven though some
// members would do; the least of a kind is more than some quorum takes; a choice breaks a limit,
// the budget or a need; a later member is taken where an earlier one would do; a quorum that quota
// covers is said to be beyond it.
#include "scheduler/cycle/question/quorum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::cycle_quorum_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Subset = uint32_t;  // bit i: want i

// A few members of so many kinds, in two sub-groups with needs and one without.
class World final {
 public:
  enum class Parts : uint8_t { kNone, kSome };
  World(Random& random, uint32_t kinds, Parts parts) {
    std::vector<uint32_t> kind_of_want;
    for (uint64_t i = random.Below(8); i > 0; --i) {
      const auto part = static_cast<int32_t>(random.Below(4)) - 1;
      request_.wants.push_back({.pod = {}, .shape = {}, .sub_group = part});
      kind_of_want.push_back(static_cast<uint32_t>(random.Below(kinds)));
    }
    request_.need.total = static_cast<int32_t>(random.Below(6));
    for (int part = 0; parts == Parts::kSome && part < 2; ++part) {
      request_.need.sub_groups.push_back(static_cast<int32_t>(random.Below(4)) - 1);
    }
    problem = ProblemOf(request_, kind_of_want, kinds);
    for (uint32_t k = 0; k < kinds; ++k) {
      limits.push_back(static_cast<int64_t>(random.Below(5)));
      costs.push_back(static_cast<int64_t>(random.Below(3)));
    }
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // One cell of quota for all kinds, each at its cost; and perhaps another, in which those that
  // cost most in the first cost least.
  void SetQuota(int64_t quota, std::optional<int64_t> other = std::nullopt) {
    QuotaNodeSpec queue;
    queue.limits = {{.cell = QuotaCellId(0), .nominal = Amount(quota)},
                    {.cell = QuotaCellId(1), .nominal = Amount(other.value_or(0))}};
    std::vector<QuotaOption> options(costs.size());
    std::vector<const QuotaOption*> option_of_kind;
    for (size_t k = 0; k < costs.size(); ++k) {
      if (costs[k] > 0) options[k].each = {{QuotaCellId(0), Amount(costs[k])}};
      if (other.has_value())
        options[k].each.push_back({QuotaCellId(1), Amount(kOtherCost - costs[k])});
      option_of_kind.push_back(&options[k]);
    }
    problem.budget = QuotaBudget(QuotaTree({queue}, {0, 0}), QuotaNodeId(0), option_of_kind,
                                 QuotaBudget::Of::kNow);
    quota_ = quota;
    other_quota_ = other;
  }

  [[nodiscard]] Subset End() const { return Subset{1} << request_.wants.size(); }
  [[nodiscard]] int64_t CountIn(Subset subset, uint32_t kind) const {
    int64_t count = 0;
    for (size_t i = 0; i < problem.kinds.size(); ++i) {
      if (problem.kinds[i] == kind) count += subset >> i & 1;
    }
    return count;
  }
  [[nodiscard]] bool IsQuorum(Subset subset) const {
    std::vector<int64_t> missing(request_.need.sub_groups.begin(), request_.need.sub_groups.end());
    for (size_t i = 0; i < request_.wants.size(); ++i) {
      const int32_t part = request_.wants[i].sub_group;
      if ((subset >> i & 1) == 0 || part < 0 || part >= static_cast<int32_t>(missing.size())) {
        continue;
      }
      --missing[static_cast<size_t>(part)];
    }
    return std::popcount(subset) >= request_.need.total &&
           std::ranges::all_of(missing, [](int64_t members) { return members <= 0; });
  }
  [[nodiscard]] bool Fits(Subset subset, std::optional<uint32_t> unlimited = std::nullopt) const {
    int64_t cost = 0;
    for (uint32_t k = 0; k < limits.size(); ++k) {
      if (k != unlimited && CountIn(subset, k) > limits[k]) return false;
      cost += CountIn(subset, k) * costs[k];
    }
    return !quota_.has_value() || cost <= *quota_;
  }
  [[nodiscard]] bool IsCovered(Subset subset) const {
    int64_t cost = 0, other = 0;
    for (uint32_t k = 0; k < costs.size(); ++k) {
      cost += CountIn(subset, k) * costs[k];
      other += CountIn(subset, k) * (kOtherCost - costs[k]);
    }
    return cost <= quota_.value_or(cost) && other <= other_quota_.value_or(other);
  }
  // Of all quorums of no more members than are needed, the first by rank.
  [[nodiscard]] std::optional<std::vector<size_t>> FirstByRank() const {
    std::optional<std::vector<size_t>> first;
    for (Subset subset = 0; subset < End(); ++subset) {
      if (std::popcount(subset) != problem.total || !IsQuorum(subset) || !Fits(subset)) continue;
      std::vector<size_t> wants;
      for (size_t i = 0; i < request_.wants.size(); ++i) {
        if ((subset >> i & 1) != 0) wants.push_back(i);
      }
      if (!first.has_value() || wants < *first) first = std::move(wants);
    }
    return first;
  }

  QuorumProblem problem;
  std::vector<int64_t> limits, costs;  // by kind

 private:
  GangRequest request_;
  static constexpr int64_t kOtherCost = 3;
  std::optional<int64_t> quota_, other_quota_;
};

Subset SubsetOf(const std::vector<size_t>& wants) {
  Subset subset = 0;
  for (const size_t want : wants) subset |= Subset{1} << want;
  return subset;
}

TEST(QuorumProblem, TheLeastOfAKindIsWhatSomeQuorumTakesAndNoneUndercuts) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const World world(random, 1 + static_cast<uint32_t>(random.Below(3)), World::Parts::kSome);
    if (!world.IsQuorum(world.End() - 1)) continue;
    for (uint32_t kind = 0; kind < world.problem.kind_count; ++kind) {
      int64_t least = world.problem.CountOf(kind);
      EXPECT_EQ(least, world.CountIn(world.End() - 1, kind));
      for (Subset subset = 0; subset < world.End(); ++subset) {
        if (world.IsQuorum(subset)) least = std::min(least, world.CountIn(subset, kind));
      }
      EXPECT_EQ(world.problem.LeastOf(kind), least) << "round " << round;
    }
  }
}

TEST(QuorumProblem, ANeedThatIsMetAndMoreCountsAsNoNeed) {
  GangRequest request;
  request.need = {.total = 1, .sub_groups = {-2, 3}};
  const QuorumProblem problem = ProblemOf(request, {}, 0);
  EXPECT_THAT(problem.sub_groups, ElementsAre(0, 3));
  EXPECT_EQ(problem.total, 3) << "as many as the sub-groups need together";
}

TEST(QuorumProblem, APartAsksTheSameOfItsMembersAndMayBeMoved) {
  Random random(2);
  World world(random, 2, World::Parts::kSome);
  ASSERT_GE(world.problem.wants.size(), 3u) << "choose another seed";
  world.SetQuota(1);
  QuorumPart made = PartOf(world.problem, {2, 0});
  const QuorumPart part = std::move(made);
  ASSERT_EQ(part.problem.wants.size(), 2u);
  EXPECT_EQ(part.problem.wants.data(), part.wants.data());
  EXPECT_EQ(part.problem.wants[0].sub_group, world.problem.wants[2].sub_group);
  EXPECT_THAT(part.problem.kinds, ElementsAre(world.problem.kinds[2], world.problem.kinds[0]));
  EXPECT_EQ(part.problem.kind_count, 2u);
  EXPECT_EQ(part.problem.total, world.problem.total);
  EXPECT_EQ(part.problem.sub_groups, world.problem.sub_groups);
  EXPECT_EQ(part.problem.budget.CountOf(0), world.problem.budget.CountOf(0));
}

TEST(ProvenShortage, NoQuorumKeepsTheLimitsThatAreCalledShort) {
  Random random(3);
  int proven = 0;
  for (int round = 0; round < 500; ++round) {
    const World world(random, 1 + static_cast<uint32_t>(random.Below(3)), World::Parts::kSome);
    const std::optional<Shortage> shortage = ProvenShortage(world.problem, world.limits);
    if (!shortage.has_value()) continue;
    ++proven;
    EXPECT_LT(shortage->placeable, shortage->wanted);
    EXPECT_LE(shortage->placeable, world.limits[shortage->kind]);
    for (Subset subset = 0; subset < world.End(); ++subset) {
      if (!world.IsQuorum(subset) || !world.Fits(subset, shortage->kind)) continue;
      EXPECT_GE(world.CountIn(subset, shortage->kind), shortage->wanted) << "round " << round;
    }
  }
  EXPECT_GT(proven, 50);
}

TEST(ProvenShortage, WithoutSubGroupsEveryShortageIsProven) {
  Random random(4);
  for (int round = 0; round < 300; ++round) {
    const World world(random, 1 + static_cast<uint32_t>(random.Below(3)), World::Parts::kNone);
    EXPECT_EQ(ProvenShortage(world.problem, world.limits).has_value(),
              !world.FirstByRank().has_value())
        << "round " << round;
  }
}

TEST(SelectQuorum, OfOneKindTheFirstByRankIsChosenWhereThereIsAny) {
  Random random(5);
  for (int round = 0; round < 400; ++round) {
    World world(random, 1, World::Parts::kSome);
    if (random.OneIn(2)) world.SetQuota(static_cast<int64_t>(random.Below(10)));
    EXPECT_EQ(SelectQuorum(world.problem, world.limits), world.FirstByRank()) << "round " << round;
  }
}

TEST(SelectQuorum, OfSeveralKindsTheChoiceIsAQuorumOfNoMoreThanNeeded) {
  Random random(6);
  int found = 0;
  for (int round = 0; round < 500; ++round) {
    World world(random, 2 + static_cast<uint32_t>(random.Below(2)), World::Parts::kSome);
    if (random.OneIn(2)) world.SetQuota(static_cast<int64_t>(random.Below(10)));
    const auto chosen = SelectQuorum(world.problem, world.limits);
    if (!chosen.has_value()) continue;
    ++found;
    EXPECT_TRUE(std::ranges::is_sorted(*chosen));
    EXPECT_EQ(static_cast<int64_t>(chosen->size()), world.problem.total);
    EXPECT_EQ(std::popcount(SubsetOf(*chosen)), world.problem.total) << "nobody twice";
    EXPECT_TRUE(world.IsQuorum(SubsetOf(*chosen))) << "round " << round;
    EXPECT_TRUE(world.Fits(SubsetOf(*chosen))) << "round " << round;
  }
  EXPECT_GT(found, 50);
}

// Of all quorums of no more members than are needed, does one keep to the quota?
bool SomeQuorumIsCovered(const World& world) {
  for (Subset subset = 0; subset < world.End(); ++subset) {
    if (std::popcount(subset) != world.problem.total || !world.IsQuorum(subset)) continue;
    if (world.IsCovered(subset)) return true;
  }
  return false;
}

// Where only two of several resources are short together, nodes were blamed.
TEST(BudgetMayCover, OfOneCellAndOfTwoExactlyWhereSomeQuorumIsCovered) {
  for (const bool two_cells : {false, true}) {
    Random random(7);
    int covered = 0;
    for (int round = 0; round < 1000; ++round) {
      SCOPED_TRACE(absl::StrCat(two_cells ? "two cells" : "one cell", ", round ", round));
      World world(random, 1 + static_cast<uint32_t>(random.Below(3)), World::Parts::kSome);
      const auto quota = static_cast<int64_t>(random.Below(8));
      const auto other = static_cast<int64_t>(random.Below(8));
      world.SetQuota(quota, two_cells ? std::optional(other) : std::nullopt);
      const bool some = SomeQuorumIsCovered(world);
      ASSERT_EQ(BudgetMayCover(world.problem), some);
      covered += some;
    }
    EXPECT_GT(covered, 100);
    EXPECT_LT(covered, 900);
  }
}

TEST(SelectWithinBudget, FindsAQuorumWhereverSomeIsCovered) {
  Random random(9);
  int past_rank = 0;
  for (int round = 0; round < 6000; ++round) {
    World world(random, 1 + static_cast<uint32_t>(random.Below(3)), World::Parts::kNone);
    const auto quota = static_cast<int64_t>(random.Below(8));
    world.SetQuota(quota, static_cast<int64_t>(random.Below(8)));
    const auto chosen = SelectWithinBudget(world.problem);
    ASSERT_EQ(chosen.has_value(), SomeQuorumIsCovered(world)) << "round " << round;
    if (!chosen.has_value()) continue;
    EXPECT_TRUE(world.IsQuorum(SubsetOf(*chosen))) << "round " << round;
    EXPECT_TRUE(world.IsCovered(SubsetOf(*chosen))) << "round " << round;
    const std::vector<int64_t> no_limits(world.limits.size(), 100);
    past_rank += !SelectQuorum(world.problem, no_limits).has_value();
  }
  EXPECT_GT(past_rank, 10);
}

TEST(SelectQuorum, ANeedOfNobodyIsMetByNobody) {
  EXPECT_THAT(SelectQuorum(QuorumProblem(), {}), ::testing::Optional(IsEmpty()));
  EXPECT_FALSE(ProvenShortage(QuorumProblem(), {}).has_value());
}

}  // namespace
}  // namespace maniple::cycle_quorum_test
