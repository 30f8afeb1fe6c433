// The prices that count for a shape. Fears: a node that never takes it makes it dearer, or promises
// a price that it never has; a node that takes it some day is left out; flavors are mixed up; a
// reason is lost.
#include "scheduler/cycle/usable_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_usable_options_test {
namespace {

using ::testing::ElementsAre;

constexpr char kPool[] = "pool";

// Nodes of three prices, 4 on "dear", 2 on "fair" and 1 on "cheap"; each is a pool.
class UsableOptionsTest : public ::testing::Test {
 protected:
  UsableOptionsTest() {
    for (const char* pool : {"dear", "fair", "cheap"}) cluster_.Add(NodeOf(pool));
  }
  static MakeNode NodeOf(const std::string& pool) {
    return MakeNode(pool).Gpu(8).Label(kPool, pool);
  }
  [[nodiscard]] NodeSet Nodes(const std::vector<std::string>& names) {
    const SnapshotPtr snapshot = cluster_.state().Publish();
    NodeSet set(snapshot->blocks.size());
    for (const NodeId node : snapshot->order->by_name) {
      const std::string& name = snapshot->NodeName(node);
      if (std::ranges::count(names, name) > 0) set[BlockOf(node)].Set(RowOf(node));
    }
    return set;
  }
  static QuotaOption At(int64_t price, std::optional<NodeSet> nodes,
                        const std::string& flavor = "f") {
    return {.nodes = std::move(nodes), .each = {{QuotaCellId(0), Amount(price)}}, .flavor = flavor};
  }
  void Submit(const MakePod& pod) {
    cluster_.Add(MakePodGroup("g").MinMember(1));
    cluster_.Add(pod);
  }
  static MakePod Pod() { return MakePod("g-0").Group("g").Gpu(1); }

  // The options that are left of these; none: all.
  std::optional<std::vector<QuotaOption>> Left(const std::vector<QuotaOption>& options) {
    const GangRequest request = cluster_.RequestOf("g");
    const ShapeId shape = request.wants.front().shape;
    QuotaAsk ask;
    ask.options[shape] = options;
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const BoundRequest bound({.snapshot = *snapshot, .now = cluster_.now, .seed = 1}, request,
                             cluster_.profile());
    const std::optional<UsableOptions> usable = UsableOptionsOf(ask, *snapshot, request, bound);
    cheaper_left_out_ = usable.has_value() && usable->cheaper_left_out;
    if (!usable.has_value()) return std::nullopt;
    return usable->ask.options.at(shape);
  }
  std::vector<QuotaOption> ThreePrices() {
    return {At(4, std::nullopt), At(2, Nodes({"fair", "cheap"})), At(1, Nodes({"cheap"}))};
  }
  // Of those that are left, all three where none is left out.
  std::vector<int64_t> PricesLeft() {
    std::vector<int64_t> prices;
    for (const QuotaOption& option : Left(ThreePrices()).value_or(ThreePrices())) {
      prices.push_back(option.each.front().amount.units());
    }
    return prices;
  }

  TestCluster cluster_;
  bool cheaper_left_out_ = false;
};

TEST_F(UsableOptionsTest, APodThatMayGoAnywhereHasEveryPrice) {
  Submit(Pod());
  EXPECT_FALSE(Left(ThreePrices()).has_value());
}

TEST_F(UsableOptionsTest, APriceOfOtherPoolsIsNoneOfThePods) {
  Submit(Pod().Selector(kPool, "cheap"));
  EXPECT_THAT(PricesLeft(), ElementsAre(1));
  EXPECT_FALSE(cheaper_left_out_);
  EXPECT_EQ(Left(ThreePrices())->front().nodes, std::nullopt) << "all nodes may be told of";
  cluster_.Add(Pod().Selector(kPool, "fair"));
  EXPECT_THAT(PricesLeft(), ElementsAre(2));
  EXPECT_TRUE(cheaper_left_out_);
  cluster_.Add(Pod().Selector(kPool, "dear"));
  EXPECT_THAT(PricesLeft(), ElementsAre(4));
  EXPECT_TRUE(cheaper_left_out_);
}

TEST_F(UsableOptionsTest, APriceBetweenTwoOthersIsLeftOut) {
  cluster_.Add(NodeOf("fair").WithTaint("away"));
  Submit(Pod());
  EXPECT_THAT(PricesLeft(), ElementsAre(4, 1));
  EXPECT_FALSE(cheaper_left_out_);
}

TEST_F(UsableOptionsTest, AnObstacleThatPassesLeavesThePrice) {
  cluster_.Add(NodeOf("dear").Cordoned());
  cluster_.Add(MakePodGroup("other").MinMember(1));
  cluster_.Add(MakePod("other-0").Group("other").Gpu(8).On("fair"));
  Submit(Pod());
  EXPECT_THAT(PricesLeft(), ElementsAre(4, 2, 1));
}

TEST_F(UsableOptionsTest, ANodeWithoutWhatThePodAsksForHasNoPrice) {
  cluster_.Add(NodeOf("dear").Gpu(0));
  Submit(Pod());
  EXPECT_THAT(PricesLeft(), ElementsAre(2, 1));
}

TEST_F(UsableOptionsTest, WhereNoNodeTakesThePodOnePriceStays) {
  Submit(Pod().Selector(kPool, "none"));
  EXPECT_THAT(PricesLeft(), ElementsAre(1));
  EXPECT_FALSE(cheaper_left_out_);
}

TEST_F(UsableOptionsTest, FlavorsAreNoPricesOfEachOther) {
  Submit(Pod().Selector(kPool, "cheap"));
  EXPECT_FALSE(Left({At(4, std::nullopt, "a"), At(1, Nodes({"cheap"}), "b")}).has_value());
  EXPECT_FALSE(Left({At(4, Nodes({"dear"})), At(1, Nodes({"cheap"}))}).has_value())
      << "these are not nested";
}

TEST_F(UsableOptionsTest, WhereAMemberStandsThePriceStays) {
  cluster_.Add(MakePodGroup("g").MinMember(2));
  cluster_.Add(Pod().On("dear"));
  cluster_.Add(MakePod("g-1").Group("g").Gpu(1));
  cluster_.Add(NodeOf("dear").WithTaint("away"));
  EXPECT_THAT(PricesLeft(), ElementsAre(4, 2, 1));
}

}  // namespace
}  // namespace maniple::cycle_usable_options_test
