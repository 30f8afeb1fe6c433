// What a Queue has lent, for status. The fear: shares that do not add up to what is borrowed, or
// quota that is shown as lent though its owner uses it.
#include "queue/lending.h"

#include <gtest/gtest.h>

#include <vector>

#include "api/base/random.h"

namespace maniple::queue_lending_test {
namespace {

constexpr QuotaCellId kCell{0};

QuotaNodeSpec Node(QuotaNodeId parent, int64_t nominal,
                   std::optional<int64_t> lending = std::nullopt) {
  QuotaNodeSpec node{.parent = parent};
  node.limits.push_back({.cell = kCell, .nominal = Amount(nominal)});
  if (lending.has_value()) node.limits.back().lending = Amount(*lending);
  return node;
}

void Use(QuotaTree& tree, uint32_t queue, int64_t amount) {
  tree.Add(QuotaNodeId(queue), Demand{{kCell, Amount(amount)}});
}

int64_t Lent(const QuotaTree& tree, uint32_t node) {
  return LentOf(tree, QuotaNodeId(node), kCell).units();
}

TEST(Lending, WhatOneBorrowsTheOthersHaveLentInProportionToWhatTheyLeaveIdle) {
  const QuotaNodeId pool(0);
  QuotaTree tree({Node({}, 0), Node(pool, 2), Node(pool, 6), Node(pool, 3)}, {0});
  Use(tree, 1, 8);
  EXPECT_EQ(Lent(tree, 1), 0);
  EXPECT_EQ(Lent(tree, 2), 4);
  EXPECT_EQ(Lent(tree, 3), 2);
  Use(tree, 3, 3);
  EXPECT_EQ(Lent(tree, 2), 6);
  EXPECT_EQ(Lent(tree, 3), 0);
}

TEST(Lending, TheCohortsOwnQuotaIsBorrowedFirst) {
  const QuotaNodeId pool(0);
  QuotaTree tree({Node({}, 4), Node(pool, 0), Node(pool, 6)}, {0});
  Use(tree, 1, 4);
  EXPECT_EQ(Lent(tree, 2), 0);
  Use(tree, 1, 1);
  EXPECT_EQ(Lent(tree, 2), 1);
}

TEST(Lending, WhatIsKeptIsNeverLent) {
  const QuotaNodeId pool(0);
  QuotaTree tree({Node({}, 0), Node(pool, 0), Node(pool, 6, 2), Node(pool, 6)}, {0});
  Use(tree, 1, 8);
  EXPECT_EQ(Lent(tree, 2), 2);
  EXPECT_EQ(Lent(tree, 3), 6);
}

TEST(Lending, ADebtIsLentByNobody) {
  const QuotaNodeId pool(0);
  QuotaTree tree({Node({}, 0), Node(pool, 0), Node(pool, 3)}, {0});
  Use(tree, 1, 100);
  EXPECT_EQ(Lent(tree, 2), 3);
  EXPECT_EQ(Lent(tree, 0), 0);
  EXPECT_EQ(Lent(tree, 1), 0);
}

TEST(Lending, AQueueWithoutACohortLendsNothing) {
  const QuotaTree tree({Node({}, 5)}, {0});
  EXPECT_EQ(Lent(tree, 0), 0);
}

TEST(Lending, SharesAddUpToWhatIsTakenWhateverTheSizes) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    const QuotaNodeId pool(0);
    const int64_t scale = random.OneIn(4) ? 1'000'000'000'000'000'000 : 1;
    std::vector<QuotaNodeSpec> nodes = {Node({}, static_cast<int64_t>(random.Below(4)) * scale)};
    const int64_t nominal = static_cast<int64_t>(random.Below(8)) * scale;
    for (int i = 0; i < 5; ++i) {
      nodes.push_back(Node(pool, i == 0 ? nominal : static_cast<int64_t>(random.Below(8)) * scale));
    }
    QuotaTree tree(nodes, {0});
    __int128 idle = 0, over = 0;
    for (uint32_t i = 1; i <= 5; ++i) {
      const int64_t used = static_cast<int64_t>(random.Below(9)) * scale;
      const __int128 left = __int128{tree.Nominal(QuotaNodeId(i), kCell).units()} - used;
      (left > 0 ? idle : over) += left > 0 ? left : -left;
      Use(tree, i, used);
    }
    const __int128 own = tree.Nominal(pool, kCell).units();
    const __int128 taken = std::min(idle, std::max<__int128>(0, over - own));
    if (idle > std::numeric_limits<int64_t>::max() || over > std::numeric_limits<int64_t>::max()) {
      continue;  // status shows saturated amounts then
    }
    __int128 sum = 0;
    for (uint32_t i = 1; i <= 5; ++i) sum += Lent(tree, i);
    ASSERT_EQ(static_cast<int64_t>(sum), static_cast<int64_t>(taken)) << "round " << round;
  }
}

}  // namespace
}  // namespace maniple::queue_lending_test
