// The quota algebra on trees small enough to compute by hand. The fears: room that is lent twice, a
// guarantee that leaks, usage left behind by a removal, and amounts that wrap.
#include "queue/quota_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "api/base/random.h"

namespace maniple::queue_quota_tree_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Lt;

constexpr QuotaCellId kCpu(0);
constexpr QuotaCellId kGpu(1);
constexpr QuotaCellId kSpotCpu(2);  // another flavor of the same resource as kCpu
constexpr int64_t kHuge = 1'000'000'000'000'000'000;
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();
constexpr int64_t kNoLimit = -1;

struct Has {
  int64_t nominal = 0;
  int64_t borrowing = kNoLimit;
  int64_t lending = kNoLimit;
};

QuotaLimit LimitOf(QuotaCellId cell, const Has& has) {
  QuotaLimit limit{.cell = cell, .nominal = Amount(has.nominal)};
  if (has.borrowing != kNoLimit) limit.borrowing = Amount(has.borrowing);
  if (has.lending != kNoLimit) limit.lending = Amount(has.lending);
  return limit;
}

struct Row {
  std::string name;
  std::string parent;  // one of the rows above, or none
  std::map<QuotaCellId, Has> has;
  int64_t weight_milli = 1000;
};

Row Cpu(const std::string& name, const std::string& parent, Has has, int64_t weight_milli = 1000) {
  return {.name = name, .parent = parent, .has = {{kCpu, has}}, .weight_milli = weight_milli};
}

// A tree whose nodes have names.
class Named final {
 public:
  explicit Named(const std::vector<Row>& rows) {
    std::vector<QuotaNodeSpec> specs;
    for (const Row& row : rows) {
      QuotaNodeSpec& spec = specs.emplace_back();
      if (!row.parent.empty()) spec.parent = ids_.at(row.parent);
      spec.weight_milli = row.weight_milli;
      for (const auto& [cell, has] : row.has) spec.limits.push_back(LimitOf(cell, has));
      ids_[row.name] = QuotaNodeId(static_cast<uint32_t>(specs.size() - 1));
    }
    tree = QuotaTree(specs, {7, 3, 7});
  }
  QuotaNodeId operator[](const std::string& name) const { return ids_.at(name); }

  void Use(const std::string& queue, int64_t units, QuotaCellId cell = kCpu) {
    tree.Add(ids_.at(queue), Demand{{cell, Amount(units)}});
  }
  void Free(const std::string& queue, int64_t units, QuotaCellId cell = kCpu) {
    tree.Remove(ids_.at(queue), Demand{{cell, Amount(units)}});
  }
  int64_t Available(const std::string& node) const {
    return tree.Available(ids_.at(node), kCpu).units();
  }
  int64_t Potential(const std::string& node) const {
    return tree.Potential(ids_.at(node), kCpu).units();
  }
  int64_t Usage(const std::string& node) const { return tree.Usage(ids_.at(node), kCpu).units(); }
  bool Fits(const std::string& queue, int64_t units) const {
    return tree.Fits(ids_.at(queue), Demand{{kCpu, Amount(units)}});
  }
  BorrowHeight HeightOf(const std::string& queue, int64_t units) const {
    return tree.HeightOf(ids_.at(queue), Demand{{kCpu, Amount(units)}});
  }
  DominantShare Share(const std::string& node) const {
    return tree.ShareWith(ids_.at(node), ids_.at(node), {});
  }

  QuotaTree tree;

 private:
  std::map<std::string, QuotaNodeId> ids_;
};

// ---- what is there to use

TEST(QuotaTree, QueueWithoutCohortHasItsNominal) {
  Named t({Cpu("empty", "", {0}), Cpu("half", "", {5000})});
  t.Use("empty", 1000);
  t.Use("half", 2500);
  EXPECT_FALSE(t.Fits("empty", 1));
  EXPECT_EQ(t.Available("half"), 2500);
  EXPECT_TRUE(t.Fits("half", 2500));
  EXPECT_FALSE(t.Fits("half", 2501));
}

TEST(QuotaTree, QueueBorrowsAllThatItsCohortHas) {
  Named t({Cpu("root", "", {10}), Cpu("a", "root", {10})});
  t.Use("a", 11);
  EXPECT_EQ(t.Available("a"), 9);
  EXPECT_EQ(t.Usage("root"), 11);
}

TEST(QuotaTree, LimitsBoundWhatIsBorrowedAndWhatIsLent) {
  Named t({Cpu("root", "", {10}), Cpu("a", "root", {10}), Cpu("b", "root", {10, 2}),
           Cpu("c", "root", {10, kNoLimit, 5})});
  EXPECT_EQ(t.tree.Quota(t["root"], kCpu), Amount(35));
  EXPECT_EQ(t.tree.Guaranteed(t["c"], kCpu), Amount(5));
  EXPECT_EQ(t.Potential("a"), 35);
  EXPECT_EQ(t.Potential("b"), 12);
  EXPECT_EQ(t.Potential("c"), 40);
  for (const char* queue : {"a", "b", "c"}) EXPECT_EQ(t.Available(queue), t.Potential(queue));
  t.Use("a", 20);
  t.Use("b", 10);
  t.Use("c", 6);
  EXPECT_EQ(t.Available("a"), 4);
  EXPECT_EQ(t.Available("b"), 2);
  EXPECT_EQ(t.Available("c"), 4);
}

TEST(QuotaTree, BorrowingLimitOfCohortBindsAllBelowIt) {
  Named t({Cpu("root", "", {0}), Cpu("left", "root", {10, 5}), Cpu("right", "root", {10}),
           Cpu("a", "left", {10}), Cpu("b", "left", {10, 5}), Cpu("c", "right", {10})});
  EXPECT_EQ(t.Potential("a"), 35);
  EXPECT_EQ(t.Potential("b"), 15);
  EXPECT_EQ(t.Potential("c"), 50);
  t.Use("a", 33);
  EXPECT_EQ(t.Available("b"), 2) << "what the cohort may still borrow";
  EXPECT_EQ(t.Available("c"), 17);
}

TEST(QuotaTree, LendingLimitOfCohortKeepsTheRestForThoseBelowIt) {
  Named t({Cpu("root", "", {0}), Cpu("left", "root", {0, kNoLimit, 3}), Cpu("a", "left", {10}),
           Cpu("b", "root", {0})});
  EXPECT_EQ(t.Potential("b"), 3);
  t.Use("b", 3);
  EXPECT_EQ(t.Available("a"), 7);
  t.Use("a", 7);
  EXPECT_EQ(t.Usage("left"), 7);
  EXPECT_EQ(t.Usage("root"), 3) << "what a uses is guaranteed to left and does not show above";
}

TEST(QuotaTree, LimitsOfRootMeanNothing) {
  Named t({Cpu("root", "", {10, 5, 2}), Cpu("a", "root", {0})});
  EXPECT_EQ(t.Potential("a"), 10);
  EXPECT_EQ(t.Available("root"), 10);
  EXPECT_EQ(t.tree.Guaranteed(t["root"], kCpu), Amount());
}

TEST(QuotaTree, DemandMustFitInEveryCell) {
  Named t({{"a", "", {{kCpu, {4}}, {kGpu, {1}}}}});
  EXPECT_TRUE(t.tree.Fits(t["a"], Demand{{kCpu, Amount(4)}, {kGpu, Amount(1)}}));
  EXPECT_FALSE(t.tree.Fits(t["a"], Demand{{kCpu, Amount(4)}, {kGpu, Amount(2)}}));
  EXPECT_FALSE(t.tree.Fits(t["a"], Demand{{kCpu, Amount(5)}, {kGpu, Amount(1)}}));
  EXPECT_FALSE(t.tree.Fits(t["a"], Demand{{kSpotCpu, Amount(1)}})) << "not listed: nominal 0";
  EXPECT_TRUE(t.tree.Fits(t["a"], {}));
}

TEST(QuotaTree, FitsEverAsksForTheEmptyTree) {
  Named t({Cpu("root", "", {2}), Cpu("a", "root", {4, 1})});
  t.Use("a", 5);
  EXPECT_TRUE(t.tree.FitsEver(t["a"], Demand{{kCpu, Amount(5)}}));
  EXPECT_FALSE(t.tree.FitsEver(t["a"], Demand{{kCpu, Amount(6)}}));
}

// ---- usage

TEST(QuotaTree, OnlyUsageAboveTheGuaranteeShowsInTheCohort) {
  struct Case {
    int64_t used, freed, shows_before, shows_after;
  };
  // Guaranteed 4 of 10: freed from above it, down to exactly it, and below it.
  for (const Case& c : std::vector<Case>{
           {9, 2, 5, 3}, {9, 5, 5, 0}, {9, 7, 5, 0}, {5, 5, 1, 0}, {4, 1, 0, 0}, {3, 3, 0, 0}}) {
    Named t({Cpu("root", "", {10}), Cpu("a", "root", {10, kNoLimit, 6})});
    t.Use("a", c.used);
    EXPECT_EQ(t.Usage("root"), c.shows_before) << c.used;
    t.Free("a", c.freed);
    EXPECT_EQ(t.Usage("root"), c.shows_after) << c.used << " less " << c.freed;
    t.Use("a", c.freed);
    EXPECT_EQ(t.Usage("root"), c.shows_before) << c.used << " again";
    EXPECT_TRUE(t.tree.CheckInvariants().ok());
  }
}

TEST(QuotaTree, CopyIsSnapshot) {
  Named t({Cpu("a", "", {10})});
  const QuotaTree before = t.tree;
  t.Use("a", 4);
  EXPECT_EQ(before.Available(t["a"], kCpu), Amount(10));
  EXPECT_EQ(t.Available("a"), 6);
}

TEST(QuotaTree, NothingFitsInTreeInDebtUntilItIsPaid) {
  // As after a cut of quota: b runs with more than the tree has. a lends 2 of its 6.
  Named t({Cpu("root", "", {0}), Cpu("a", "root", {6, kNoLimit, 2}), Cpu("b", "root", {1})});
  t.Use("b", 5);
  EXPECT_EQ(t.Available("b"), -2);
  EXPECT_EQ(t.Available("a"), -2);
  EXPECT_FALSE(t.Fits("a", 1));
  EXPECT_THAT(t.tree.CheckLegal(t["a"]).message(), HasSubstr("-2 left"));
  t.Free("b", 2);
  EXPECT_EQ(t.Available("a"), 4);
  EXPECT_TRUE(t.tree.CheckLegal(t["a"]).ok());
}

TEST(QuotaTree, DebtOfOneBranchLeavesTheOtherAlone) {
  Named t({Cpu("root", "", {10}), Cpu("left", "root", {0, 0}), Cpu("right", "root", {0}),
           Cpu("a", "left", {1}), Cpu("b", "right", {0})});
  t.Use("a", 3);
  EXPECT_EQ(t.Available("a"), -2);
  EXPECT_THAT(t.tree.CheckLegal(t["a"]).message(), HasSubstr("quota node 1 on the path"));
  EXPECT_EQ(t.Available("b"), 8);
  EXPECT_TRUE(t.tree.CheckLegal(t["b"]).ok());
}

TEST(QuotaTree, RemovalOfWhatWasNeverAddedIsNoticed) {
  Named t({Cpu("root", "", {10}), Cpu("a", "root", {4})});
  t.Use("a", 2);
  EXPECT_TRUE(t.tree.CheckInvariants().ok());
  t.Free("a", 3);
  EXPECT_THAT(t.tree.CheckInvariants().message(), HasSubstr("-1"));
}

// ---- amounts that no cluster has

TEST(QuotaTree, HugeAmountsNeitherWrapNorLeaveResidue) {
  for (const int64_t huge : {kHuge, kInt64Max - 1, kInt64Max}) {
    Named t({Cpu("root", "", {huge}), Cpu("mid", "root", {huge, huge, huge}),
             Cpu("a", "mid", {huge, huge, 1}), Cpu("b", "mid", {huge}), Cpu("c", "root", {3})});
    const Amount potential = t.tree.Potential(t["b"], kCpu);
    EXPECT_EQ(potential, std::min(Amount(huge) * 3 + Amount(1), Amount::Max()));
    for (int i = 0; i < 40; ++i) t.Use("a", huge);
    for (int i = 0; i < 40; ++i) t.Use("b", huge);
    t.Use("c", 2);
    EXPECT_THAT(t.Available("b"), Lt(0));
    EXPECT_FALSE(t.Fits("b", 1));
    EXPECT_EQ(t.tree.Usage(t["root"], kCpu), Amount::Max());
    for (int i = 0; i < 40; ++i) t.Free("a", huge);
    for (int i = 0; i < 40; ++i) t.Free("b", huge);
    EXPECT_EQ(t.Usage("root"), 2);
    EXPECT_EQ(t.Usage("mid"), 0);
    EXPECT_EQ(t.Usage("a"), 0);
    EXPECT_TRUE(t.tree.CheckInvariants().ok());
    EXPECT_TRUE(t.tree.CheckLegal(t["c"]).ok());
  }
}

TEST(QuotaTree, UnlimitedBorrowingStaysUnlimited) {
  // A limit of int64 max is a number; no limit is not one, whatever is added to it.
  Named t({Cpu("root", "", {kInt64Max}), Cpu("mid", "root", {kInt64Max}),
           Cpu("none", "mid", {kInt64Max}), Cpu("max", "mid", {0, kInt64Max})});
  t.Use("none", kInt64Max);
  t.Use("none", kInt64Max);
  EXPECT_TRUE(t.Fits("none", kInt64Max));
  EXPECT_TRUE(t.Fits("max", kInt64Max));
  t.Use("max", 1);
  EXPECT_FALSE(t.Fits("max", kInt64Max)) << "it may borrow one less now";
  EXPECT_EQ(t.Available("max"), kInt64Max - 1);
  EXPECT_EQ(t.Available("none"), kInt64Max - 1);
}

TEST(QuotaTree, CohortsNestedDeeplyAnswerAll) {
  constexpr uint32_t kLevels = 100'000;
  std::vector<QuotaNodeSpec> specs(kLevels);
  for (uint32_t i = 1; i < kLevels; ++i) specs[i].parent = QuotaNodeId(i - 1);
  specs[0].limits = {{.cell = kCpu, .nominal = Amount(3)}};
  QuotaTree tree(specs, {0});
  const QuotaNodeId queue(kLevels - 1);
  const Demand three = {{kCpu, Amount(3)}};
  EXPECT_TRUE(tree.Fits(queue, three));
  EXPECT_EQ(tree.HeightOf(queue, three).height, static_cast<int32_t>(kLevels - 1));
  tree.Add(queue, three);
  EXPECT_EQ(tree.Available(queue, kCpu), Amount());
  EXPECT_TRUE(tree.CheckLegal(queue).ok());
  EXPECT_TRUE(tree.CheckInvariants().ok());
}

// ---- who borrows

TEST(QuotaTree, BorrowHeightIsThatOfTheLowestNodeThatCovers) {
  // root{top 4{mid 2{a 2, b 0}, c 0}, d 9}
  Named t({Cpu("root", "", {0}), Cpu("top", "root", {4}), Cpu("mid", "top", {2}),
           Cpu("a", "mid", {2}), Cpu("b", "mid", {0}), Cpu("c", "top", {0}),
           Cpu("d", "root", {9})});
  const auto height = [](int32_t of, bool may_reclaim) {
    return BorrowHeight{.height = of, .may_reclaim = may_reclaim};
  };
  EXPECT_EQ(t.HeightOf("a", 2), height(0, true));
  EXPECT_EQ(t.HeightOf("a", 3), height(1, true));
  EXPECT_EQ(t.HeightOf("a", 4), height(1, true));
  EXPECT_EQ(t.HeightOf("a", 5), height(2, true));
  EXPECT_EQ(t.HeightOf("a", 9), height(3, false));
  EXPECT_EQ(t.HeightOf("a", 99), height(3, false)) << "nobody covers it: the root";
  t.Use("b", 3);
  EXPECT_EQ(t.HeightOf("a", 1), height(0, true)) << "its own, whoever sits in it";
  EXPECT_EQ(t.HeightOf("a", 3), height(2, true)) << "b took what mid has";
  EXPECT_TRUE(t.tree.BorrowsWith(t["mid"], t["a"], Demand{{kCpu, Amount(2)}}));
  EXPECT_FALSE(t.tree.BorrowsWith(t["mid"], t["a"], Demand{{kCpu, Amount(1)}}));
  EXPECT_FALSE(t.tree.BorrowsWith(t["a"], t["a"], Demand{{kCpu, Amount(2)}}));
}

TEST(QuotaTree, BorrowHeightIsTheWorstOverCells) {
  Named t({{"root", "", {{kCpu, {9}}}},
           {"mid", "root", {{kCpu, {9}}, {kGpu, {9}}}},
           {"a", "mid", {{kCpu, {2}}, {kGpu, {2}}}}});
  EXPECT_EQ(t.tree.HeightOf(t["a"], Demand{{kCpu, Amount(2)}, {kGpu, Amount(12)}}),
            (BorrowHeight{.height = 2, .may_reclaim = false}));
  EXPECT_EQ(t.tree.HeightOf(t["a"], Demand{{kCpu, Amount(3)}, {kGpu, Amount(2)}}),
            (BorrowHeight{.height = 1, .may_reclaim = true}));
  EXPECT_EQ(t.tree.HeightOf(t["a"], {}), (BorrowHeight{.height = 0, .may_reclaim = true}));
}

TEST(QuotaTree, QueueWithoutCohortHasNobodyToBorrowFrom) {
  Named t({Cpu("a", "", {1})});
  EXPECT_EQ(t.HeightOf("a", 5), (BorrowHeight{.height = 0, .may_reclaim = false}));
  t.Use("a", 5);
  EXPECT_EQ(t.Share("a"), DominantShare());
}

TEST(QuotaTree, ChildWithSmallerLimitHasLargerShare) {
  Named t({Cpu("root", "", {50}), Cpu("child", "root", {0, 10}), Cpu("q", "child", {0})});
  t.Use("q", 10);
  EXPECT_EQ(t.Share("q").RoundedUp(), 1000);
  EXPECT_EQ(t.Share("child").RoundedUp(), 200);
  EXPECT_EQ(t.Share("root"), DominantShare());
}

TEST(QuotaTree, ResourceThatNobodyLendsCountsForNoShare) {
  Named t({{"root", "", {}},
           {"a", "root", {{kCpu, {2}}, {kGpu, {2, kNoLimit, 0}}}},
           {"b", "root", {{kCpu, {8}}, {kGpu, {2, kNoLimit, 0}}}}});
  t.Use("a", 3, kGpu);
  EXPECT_EQ(t.Share("a"), DominantShare());
  EXPECT_TRUE(t.tree.BorrowsWith(t["a"], t["a"], Demand{{kGpu, Amount(1)}}));
  t.Use("a", 3);
  EXPECT_EQ(t.Share("a").RoundedUp(), 100);
}

TEST(QuotaTree, FlavorsOfOneResourceShareWithoutNetting) {
  // 4 cpu over in one flavor, 6 below in the other: 4 of 20 are borrowed.
  Named t({{"root", "", {{kSpotCpu, {4}}}},
           {"a", "root", {{kCpu, {6}}, {kSpotCpu, {0}}}},
           {"b", "root", {{kCpu, {10}}}}});
  t.Use("a", 4, kSpotCpu);
  EXPECT_EQ(t.Share("a").RoundedUp(), 200);
  t.Use("a", 7);
  EXPECT_EQ(t.Share("a").RoundedUp(), 250);
}

TEST(QuotaTree, ShareWithCountsTheDemandAtEachLevel) {
  Named t({Cpu("root", "", {10}), Cpu("mid", "root", {0, kNoLimit, 2}),
           Cpu("a", "mid", {4, kNoLimit, 3}), Cpu("b", "mid", {1})});
  // root has 10 + 2; mid 3 + 1, of which 2 stay there.
  const Demand six = {{kCpu, Amount(6)}};
  EXPECT_EQ(t.tree.ShareWith(t["a"], t["a"], six).permille, 2 * 1000.0 / 14);
  EXPECT_EQ(t.tree.ShareWith(t["mid"], t["a"], six).permille, 1 * 1000.0 / 12);
  EXPECT_EQ(t.Share("a"), DominantShare()) << "a question changes nothing";
}

TEST(QuotaTree, WeightsDivideTheShare) {
  const auto share = [](int64_t weight_milli, int64_t nominal, int64_t used) {
    Named t({Cpu("root", "", {nominal}), Cpu("a", "root", {0}, weight_milli)});
    t.Use("a", used);
    return t.Share("a");
  };
  EXPECT_EQ(share(1000, 10, 2).RoundedUp(), 200);
  EXPECT_EQ(share(2000, 10, 2).RoundedUp(), 100);
  EXPECT_EQ(share(500, 10, 2).RoundedUp(), 400);
  EXPECT_EQ(share(0, 10, 2).RoundedUp(), kInt64Max);
  EXPECT_EQ(share(-1, 10, 2), share(0, 10, 2));
  EXPECT_EQ(share(0, 10, 0), DominantShare()) << "borrows nothing";
  EXPECT_EQ(share(1000, 1500, 1).RoundedUp(), 1);
  EXPECT_LT(share(0, 10, 2), share(0, 10, 3));
  EXPECT_LT(share(1, 10, 10), share(0, 10, 1));
  EXPECT_LT(share(1000, 10, 0), share(1'000'000, 10, 1));
}

// ---- shape

TEST(QuotaTree, KnowsItsShape) {
  Named t({Cpu("root", "", {}), Cpu("mid", "root", {}), Cpu("a", "mid", {}), Cpu("b", "root", {}),
           Cpu("alone", "", {})});
  EXPECT_EQ(t.tree.node_count(), 5u);
  EXPECT_EQ(t.tree.cell_count(), 3u);
  EXPECT_EQ(t.tree.Root(t["a"]), t["root"]);
  EXPECT_EQ(t.tree.Root(t["alone"]), t["alone"]);
  EXPECT_EQ(t.tree.Depth(t["a"]), 2);
  EXPECT_EQ(t.tree.Height(t["root"]), 2);
  EXPECT_EQ(t.tree.Height(t["a"]), 0);
  EXPECT_EQ(t.tree.Children(t["root"]), (std::vector<QuotaNodeId>{t["mid"], t["b"]}));
  EXPECT_TRUE(t.tree.IsWithin(t["a"], t["a"]));
  EXPECT_TRUE(t.tree.IsWithin(t["a"], t["root"]));
  EXPECT_FALSE(t.tree.IsWithin(t["root"], t["a"]));
  EXPECT_FALSE(t.tree.IsWithin(t["b"], t["mid"]));
  EXPECT_EQ(QuotaTree().node_count(), 0u);
}

TEST(QuotaTreeDeathTest, RefusesCyclesAndChargesToCohorts) {
  std::vector<QuotaNodeSpec> cycle(2);
  cycle[0].parent = QuotaNodeId(1);
  cycle[1].parent = QuotaNodeId(0);
  EXPECT_DEATH(QuotaTree(cycle, {}), "cycle");
  Named t({Cpu("root", "", {1}), Cpu("a", "root", {1})});
  EXPECT_DEATH(t.Use("root", 1), "is not a queue");
}

// ---- the division

TEST(DominantShare, EqualRatiosAreEqualAndTheOrderOfRatiosIsKept) {
  const auto share = [](int64_t borrowed, int64_t lendable, int64_t weight) {
    return ShareOf(Amount(borrowed), Amount(lendable), weight);
  };
  constexpr int64_t kOdd = 12'345'678'901'234'567;
  EXPECT_EQ(share(1, 3, 1000), share(kOdd, kOdd * 3, 1000));
  EXPECT_EQ(share(1, 3, 7), share(kOdd, kOdd * 3, 7));
  EXPECT_EQ(share(7, 9, 1000), share(kOdd * 7, kOdd * 9, 1000));
  EXPECT_EQ(share(kInt64Max, kInt64Max, 1000).permille, 1000);
  EXPECT_EQ(share(kInt64Max, kInt64Max, kInt64Max).permille, 1e6 / 0x1p63);
  EXPECT_EQ(share(kInt64Max, 1, 1).RoundedUp(), kInt64Max);
  EXPECT_LT(share(1, kInt64Max, kInt64Max), share(2, kInt64Max, kInt64Max));
  EXPECT_GT(share(1, kInt64Max, kInt64Max), DominantShare());
  EXPECT_LT(share(kOdd, kOdd * 2, 1001), share(kOdd + 1'000'000, kOdd * 2, 1001));
  EXPECT_EQ(share(5, 0, 1000), DominantShare());
  EXPECT_EQ(share(0, 5, 0), DominantShare());
}

// x is the double nearest to a / b, and of two equally near the even one. REQUIRES: x > 0, b small
// enough for 2^53 b to be exact.
bool IsNearest(double x, __int128 a, __int128 b) {
  int exponent = 0;
  auto mantissa = static_cast<int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  exponent -= 53;
  if (exponent > 0) b <<= exponent;
  if (exponent < 0) a <<= -exponent;
  const __int128 twice_off = 2 * (a - b * mantissa);
  if (twice_off == b || twice_off == -b) return mantissa % 2 == 0;
  return -b < twice_off && twice_off < b;
}

TEST(DominantShare, IsTheNearestDoubleToTheRatio) {
  Random random(1);
  const auto of_any_size = [&random](uint64_t bits) {
    return static_cast<int64_t>(1 + (random.Next() >> (64 - 1 - random.Below(bits))));
  };
  for (int i = 0; i < 100'000; ++i) {
    const int64_t borrowed = of_any_size(62), lendable = of_any_size(40);
    const int64_t weight = random.OneIn(2) ? 1000 : of_any_size(20);
    const double permille = ShareOf(Amount(borrowed), Amount(lendable), weight).permille;
    ASSERT_TRUE(IsNearest(permille, __int128{1'000'000} * borrowed, __int128{lendable} * weight))
        << borrowed << " / " << lendable << " at " << weight;
  }
}

TEST(DominantShare, BarelyMoreThanHalfwayRoundsUp) {
  // Halfway between two doubles, of which the lower is even, and a rest of less than one more.
  constexpr __int128 kHalfway = ((__int128{1} << 53) + 1) << 9;
  int found = 0;
  for (int64_t lendable = 3; lendable < 100'000; ++lendable) {
    const __int128 borrowed = kHalfway * lendable / 1'000'000 + 1;
    if (borrowed * 1'000'000 - kHalfway * lendable >= lendable) continue;
    ++found;
    const Amount lent(static_cast<int64_t>(borrowed));
    ASSERT_EQ(ShareOf(lent, Amount(lendable), 1).permille, 0x1.0000000000001p62);
  }
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace maniple::queue_quota_tree_test
