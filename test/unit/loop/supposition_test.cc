// Questions about what is not so. The fears: an answer leaves a trace in what is charged, and a
// copy asks of the wrong tree.
#include "scheduler/loop/records/supposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace maniple::loop_supposition_test {
namespace {

using ::testing::IsNull;
using ::testing::SizeIs;

constexpr QuotaNodeId kQueue(0);
constexpr QuotaCellId kGpu(0);

Demand Gpus(int64_t amount) { return {{kGpu, Amount(amount)}}; }
int64_t UsedIn(const QuotaTree& tree) { return tree.Usage(kQueue, kGpu).units(); }

class SuppositionTest : public ::testing::Test {
 protected:
  SuppositionTest() { tree_.Add(kQueue, Gpus(3)); }

  [[nodiscard]] Supposition Of(std::optional<QuotaAsk> limits) const {
    return {{.snapshot = snapshot_, .request = request_}, tree_, std::move(limits)};
  }

  Snapshot snapshot_;
  GangRequest request_{.wants = {{.pod = PodId(0), .shape = ShapeId(7)}}};
  QuotaTree tree_{{QuotaNodeSpec{.limits = {{.cell = kGpu, .nominal = Amount(4)}}}}, {0}};
};

TEST_F(SuppositionTest, ChangesNothingThatItIsOf) {
  Supposition less = Of(QuotaAsk{.queue = kQueue});
  less.Refund(kQueue, Gpus(2));
  Supposition more = less;
  more.Charge(kQueue, Gpus(5));
  EXPECT_EQ(UsedIn(*less.Input().quota->tree), 1);
  EXPECT_EQ(UsedIn(*more.Input().quota->tree), 6);
  EXPECT_EQ(more.Input().quota->tree, &more.tree());
  EXPECT_EQ(UsedIn(tree_), 3);
}

TEST_F(SuppositionTest, HoldsThatAreFreeFreeRoomAndQuota) {
  Supposition supposition = Of(QuotaAsk{.queue = kQueue});
  supposition.Free(OpenHolds{
      .holders = {GangId(1)}, .rooms = {{NodeId(0), ShapeId(7)}}, .quota = {{kQueue, Gpus(1)}}});
  supposition.Free(std::vector<FreedRoom>{{NodeId(1), ShapeId(7)}});
  supposition.Promise({{NodeId(2), ShapeId(7)}});
  const DecideInput input = supposition.Input();
  ASSERT_THAT(input.freed, SizeIs(2));
  EXPECT_EQ(input.freed[1].node, NodeId(1));
  EXPECT_THAT(input.promised, SizeIs(1));
  EXPECT_EQ(UsedIn(*input.quota->tree), 2);
}

TEST_F(SuppositionTest, WhatClaimsTakeOfFreedQuotaIsNotFree) {
  Supposition supposition = Of(QuotaAsk{.queue = kQueue});
  supposition.Free(OpenHolds{.quota = {{kQueue, Gpus(3)}}, .taken = {{kQueue, Gpus(2)}}});
  EXPECT_EQ(UsedIn(*supposition.Input().quota->tree), 2);
}

TEST_F(SuppositionTest, NodesCanBeRestrictedWhereNoQuotaApplies) {
  Supposition supposition = Of(std::nullopt);
  EXPECT_THAT(supposition.Input().quota, IsNull());
  supposition.Restrict({}, Supposition::To::kOthers);
  const DecideInput input = supposition.Input();
  ASSERT_TRUE(input.quota->options.contains(ShapeId(7)));
  EXPECT_TRUE(input.quota->options.at(ShapeId(7)).front().each.empty());
  EXPECT_EQ(input.quota->tree->cell_count(), 0u);
  EXPECT_FALSE(supposition.queue().valid()) << "nothing is charged for it";
}

}  // namespace
}  // namespace maniple::loop_supposition_test
