// The dominant share of one resource. Fears: a ratio that is rounded twice puts two shares in the
// wrong order, or makes equal ones differ; huge amounts overflow; a weight of nothing divides by
// nothing; a share that is shown is less than the share that counts.
#include "queue/dominant_share.h"

#include <gtest/gtest.h>

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

#include "api/base/random.h"

namespace maniple::queue_dominant_share_test {
namespace {

using Wide = __int128;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// Amounts of every size, small ones as often as huge ones.
int64_t AnySize(Random& random) {
  return static_cast<int64_t>(random.Next() >> (1 + random.Below(62))) | 1;
}

TEST(ShareOf, WhereNothingIsBorrowedOrLentThereIsNoShare) {
  const DominantShare none;
  for (const int64_t weight : {int64_t{-1}, int64_t{0}, int64_t{1000}, kMost}) {
    EXPECT_EQ(ShareOf(Amount(0), Amount(8), weight), none);
    EXPECT_EQ(ShareOf(Amount(-8), Amount(8), weight), none);
    EXPECT_EQ(ShareOf(Amount(8), Amount(0), weight), none);
    EXPECT_EQ(ShareOf(Amount(8), Amount(-8), weight), none);
  }
  EXPECT_EQ(none.RoundedUp(), 0);
}

TEST(ShareOf, AnyShareIsMoreThanNoneAndLessThanAnInfiniteOne) {
  const DominantShare least = ShareOf(Amount(1), Amount(kMost), kMost);
  const DominantShare most = ShareOf(Amount(kMost), Amount(1), 1);
  EXPECT_LT(DominantShare(), least);
  EXPECT_LT(least, most);
  EXPECT_LT(most, ShareOf(Amount(1), Amount(kMost), 0));
  EXPECT_EQ(least.RoundedUp(), 1);
  EXPECT_EQ(most.RoundedUp(), kMost);
}

TEST(ShareOf, AWeightBelowNothingIsAWeightOfNothingAndIsComparedWithoutIt) {
  const DominantShare third = ShareOf(Amount(1), Amount(3), 0);
  EXPECT_TRUE(third.infinite);
  EXPECT_EQ(third, ShareOf(Amount(1), Amount(3), -5));
  EXPECT_EQ(third, ShareOf(Amount(2), Amount(6), 0));
  EXPECT_LT(third, ShareOf(Amount(1), Amount(2), 0));
  EXPECT_EQ(third.RoundedUp(), kMost);
}

// Both sides of the division stay below 2^50, so that a double holds them without loss.
TEST(ShareOf, ASmallRatioIsThatOfOneDivision) {
  Random random(1);
  for (int round = 0; round < 5000; ++round) {
    const auto borrowed = static_cast<int64_t>(1 + random.Below(1 << 30));
    const auto lendable = static_cast<int64_t>(1 + random.Below(1 << 30));
    const auto weight = static_cast<int64_t>(1 + random.Below(1 << 20));
    const double expected =
        static_cast<double>(borrowed * 1'000'000) / static_cast<double>(lendable * weight);
    const DominantShare share = ShareOf(Amount(borrowed), Amount(lendable), weight);
    ASSERT_EQ(share.permille, expected) << borrowed << "/" << lendable << "/" << weight;
    ASSERT_EQ(share.RoundedUp(), static_cast<int64_t>(std::ceil(expected)));
  }
}

TEST(ShareOf, EqualRatiosAreEqualWhateverAmountsTheyComeFrom) {
  Random random(2);
  for (int round = 0; round < 5000; ++round) {
    const int64_t borrowed = AnySize(random) >> 8, lendable = AnySize(random) >> 8;
    if (borrowed == 0 || lendable == 0) continue;
    const int64_t weight = 1 + static_cast<int64_t>(random.Below(5000));
    const auto factor = static_cast<int64_t>(1 + random.Below(255));
    const DominantShare share = ShareOf(Amount(borrowed), Amount(lendable), weight);
    ASSERT_EQ(share, ShareOf(Amount(borrowed * factor), Amount(lendable * factor), weight));
    ASSERT_EQ(share, ShareOf(Amount(borrowed * factor), Amount(lendable), weight * factor));
  }
}

// The order of a / b and c / d, digit by digit: no product of four huge numbers fits anywhere.
std::strong_ordering OrderOfRatios(Wide a, Wide b, Wide c, Wide d) {
  if (const auto order = a / b <=> c / d; order != 0) return order;
  const Wide rest = a % b, other = c % d;
  if (rest == 0 || other == 0) return rest <=> other;
  return OrderOfRatios(d, other, b, rest);
}

TEST(ShareOf, TheOrderOfRatiosIsKeptForAmountsOfEverySize) {
  Random random(3);
  for (int round = 0; round < 5000; ++round) {
    const int64_t borrowed = AnySize(random), lendable = AnySize(random), weight = AnySize(random);
    const bool close = random.OneIn(2);
    const int64_t other = close && borrowed < kMost ? borrowed + 1 : AnySize(random);
    const int64_t other_weight = close && weight < kMost ? weight + 1 : AnySize(random);
    const Wide of = Wide{lendable} * weight, of_other = Wide{lendable} * other_weight;
    const DominantShare a = ShareOf(Amount(borrowed), Amount(lendable), weight);
    const DominantShare b = ShareOf(Amount(other), Amount(lendable), other_weight);
    const std::strong_ordering order = OrderOfRatios(borrowed, of, other, of_other);
    ASSERT_TRUE(order > 0 || a <= b) << "round " << round;
    ASSERT_TRUE(order < 0 || a >= b) << "round " << round;
  }
}

TEST(ShareOf, AShareIsShownRoundedUp) {
  EXPECT_EQ((DominantShare{.permille = 0.25}).RoundedUp(), 1);
  EXPECT_EQ((DominantShare{.permille = 7}).RoundedUp(), 7);
  EXPECT_EQ((DominantShare{.permille = 0x1p62}).RoundedUp(), int64_t{1} << 62);
  EXPECT_EQ((DominantShare{.permille = 0x1p63}).RoundedUp(), kMost);
}

}  // namespace
}  // namespace maniple::queue_dominant_share_test
