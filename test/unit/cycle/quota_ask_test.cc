// The quota that members may still draw. Fears: kinds that share a cell each draw on all of it;
// what is given back leaves a residue; a copy draws on the original; a cell in debt, or one that a
// kind does not cost, limits the wrong kind.
#include "scheduler/cycle/question/quota_ask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "api/base/random.h"

namespace maniple::cycle_quota_ask_test {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
constexpr QuotaNodeId kQueue{0};
constexpr uint32_t kCells = 3;

QuotaTree TreeOf(const std::vector<int64_t>& nominal) {
  QuotaNodeSpec queue;
  for (uint32_t cell = 0; cell < nominal.size(); ++cell) {
    queue.limits.push_back({.cell = QuotaCellId(cell), .nominal = Amount(nominal[cell])});
  }
  return QuotaTree({queue}, std::vector<uint32_t>(nominal.size(), 0));
}

// A few kinds with random costs, and the same sums kept by hand.
class World final {
 public:
  explicit World(Random& random) : options_(2 + random.Below(3)) {
    for (QuotaOption& option : options_) {
      for (uint32_t cell = 0; cell < kCells; ++cell) {
        const auto each = static_cast<int64_t>(random.Below(4));
        if (each > 0) option.each.push_back({QuotaCellId(cell), Amount(each)});
      }
    }
    std::vector<int64_t> nominal;
    for (uint32_t cell = 0; cell < kCells; ++cell) {
      nominal.push_back(static_cast<int64_t>(random.Below(30)));
    }
    left = nominal;
    std::vector<const QuotaOption*> of_kind;
    for (const QuotaOption& option : options_) of_kind.push_back(&option);
    budget = QuotaBudget(TreeOf(nominal), kQueue, of_kind, QuotaBudget::Of::kNow);
  }
  [[nodiscard]] uint32_t kinds() const { return static_cast<uint32_t>(options_.size()); }
  [[nodiscard]] int64_t CountOf(uint32_t kind) const {
    int64_t count = kUnlimited;
    for (const CellAmount& each : options_[kind].each) {
      const int64_t room = left[each.cell.index()];
      count = std::min(count, room < 0 ? 0 : room / each.amount.units());
    }
    return count;
  }
  void Take(uint32_t kind, int64_t members) {
    budget.Take(kind, members);
    for (const CellAmount& each : options_[kind].each) {
      left[each.cell.index()] -= each.amount.units() * members;
    }
  }

  QuotaBudget budget;
  std::vector<int64_t> left;  // by cell

 private:
  std::vector<QuotaOption> options_;  // by kind
};

void ExpectAsByHand(const World& world, const QuotaBudget& budget) {
  for (uint32_t kind = 0; kind < world.kinds(); ++kind) {
    EXPECT_EQ(budget.CountOf(kind), world.CountOf(kind)) << "kind " << kind;
  }
}

TEST(QuotaBudget, CountsAsSumsByHandDoWhateverIsTakenAndGivenBack) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    World world(random);
    ExpectAsByHand(world, world.budget);
    for (int step = 0; step < 12; ++step) {
      const auto kind = static_cast<uint32_t>(random.Below(world.kinds()));
      world.Take(kind, static_cast<int64_t>(random.Below(7)) - 3);
      ExpectAsByHand(world, world.budget);
    }
  }
}

TEST(QuotaBudget, ACopyIsACheckpoint) {
  Random random(7);
  World world(random);
  const QuotaBudget before = world.budget;
  const World as_it_was = world;
  world.Take(0, 1);
  world.Take(1, 2);
  ExpectAsByHand(as_it_was, before);
  world.budget.GiveBack(1, 2);
  world.budget.GiveBack(0, 1);
  ExpectAsByHand(as_it_was, world.budget);
}

TEST(QuotaBudget, PartsOfAKindDrawOnTheSameQuotaAndNotOnThatOfTheWhole) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    World world(random);
    world.Take(0, 1);
    const std::vector<uint32_t> kind_of_part = {1, 0, 1};
    QuotaBudget parted = world.budget.PartedInto(kind_of_part);
    parted.Take(2, 1);
    ExpectAsByHand(world, world.budget);
    world.Take(1, 1);
    for (uint32_t part = 0; part < kind_of_part.size(); ++part) {
      EXPECT_EQ(parted.CountOf(part), world.CountOf(kind_of_part[part])) << "part " << part;
    }
  }
}

TEST(QuotaBudget, WithoutQuotaNothingIsLimited) {
  QuotaBudget none;
  none.Take(3, kUnlimited);
  EXPECT_EQ(none.CountOf(3), kUnlimited);
  const std::vector<uint32_t> parts = {0, 0};
  EXPECT_EQ(none.PartedInto(parts).CountOf(1), kUnlimited);
}

TEST(QuotaBudget, WhatOthersUseIsMissingNowAndNotForEver) {
  const QuotaOption option{.each = {{QuotaCellId(0), Amount(4)}}, .flavor = "a"};
  QuotaTree tree = TreeOf({10});
  const Demand used = {{QuotaCellId(0), Amount(7)}};
  tree.Add(kQueue, used);
  EXPECT_EQ(QuotaBudget(tree, kQueue, {&option}, QuotaBudget::Of::kNow).CountOf(0), 0);
  EXPECT_EQ(QuotaBudget(tree, kQueue, {&option}, QuotaBudget::Of::kEver).CountOf(0), 2);
}

TEST(QuotaBudget, ADebtLimitsTheKindsThatCostTheCellAndNoOthers) {
  const QuotaOption dear{.each = {{QuotaCellId(0), Amount(1)}, {QuotaCellId(1), Amount(1)}}};
  const QuotaOption cheap{.each = {{QuotaCellId(1), Amount(1)}}};
  const QuotaOption free;
  QuotaTree tree = TreeOf({5, 5});
  const Demand used = {{QuotaCellId(0), Amount(9)}};
  tree.Add(kQueue, used);
  const QuotaBudget budget(tree, kQueue, {&dear, &cheap, &free}, QuotaBudget::Of::kNow);
  EXPECT_EQ(budget.CountOf(0), 0);
  EXPECT_EQ(budget.CountOf(1), 5);
  EXPECT_EQ(budget.CountOf(2), kUnlimited);
}

}  // namespace
}  // namespace maniple::cycle_quota_ask_test
