// The room for pods of one shape, and its sharing out. Fears: a pod too many or too few; the rest
// is taken by a node in the middle; neighbours by name are torn apart; a block without room, or one
// that is owned, is lost.
#include "scheduler/cycle/room/shape_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "api/base/random.h"

namespace maniple::cycle_shape_room_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Nodes with equal scores here and there, in the order of RanksBefore.
std::vector<RankedNode> RandomNodes(Random& random) {
  std::vector<uint32_t> names(1 + random.Below(8));
  std::iota(names.begin(), names.end(), 0u);
  std::vector<RankedNode> nodes;
  for (const uint32_t name : names) {
    nodes.push_back({.score = static_cast<int64_t>(random.Below(3)),
                     .name_rank = name,
                     .room = {.node = NodeId(static_cast<uint32_t>(100 - 7 * name)),
                              .pods = static_cast<int32_t>(1 + random.Below(4))}});
  }
  std::ranges::sort(nodes, RanksBefore);
  return nodes;
}

// One pod after the other goes to the best node that has room; then they are put in order of name.
std::vector<NodeId> PodByPod(std::vector<RankedNode> nodes, int64_t pods) {
  std::vector<std::pair<uint32_t, NodeId>> taken;
  for (; pods > 0; --pods) {
    RankedNode& best =
        *std::ranges::find_if(nodes, [](const RankedNode& node) { return node.room.pods > 0; });
    --best.room.pods;
    taken.emplace_back(best.name_rank, best.room.node);
  }
  std::ranges::sort(taken);
  std::vector<NodeId> by_name;
  for (const auto& [name_rank, node] : taken) by_name.push_back(node);
  return by_name;
}

TEST(ShareOut, GivesEveryPodToTheBestNodeThatHasRoom) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<RankedNode> best = RandomNodes(random);
    int64_t without_last = 0;
    for (const RankedNode& node : best) without_last += node.room.pods;
    const int32_t last = best.back().room.pods;
    without_last -= last;
    const int64_t pods =
        without_last + 1 + static_cast<int64_t>(random.Below(static_cast<uint64_t>(last)));
    EXPECT_EQ(ShareOut(best, pods), PodByPod(best, pods)) << "round " << round;
  }
}

TEST(ShareOut, OfNoNodesNobodyTakesAnything) { EXPECT_THAT(ShareOut({}, 0), IsEmpty()); }

TEST(RankedNode, TheHigherScoreRanksFirstThenTheLowerPlaceOfTheName) {
  const RankedNode good{.score = 5, .name_rank = 9}, poor{.score = 4, .name_rank = 0};
  const RankedNode early{.score = 5, .name_rank = 8};
  EXPECT_TRUE(RanksBefore(good, poor));
  EXPECT_FALSE(RanksBefore(poor, good));
  EXPECT_TRUE(RanksBefore(early, good));
  EXPECT_FALSE(RanksBefore(good, good)) << "or a sort by it would be undefined";
}

BlockRoom RoomOf(std::vector<std::pair<uint32_t, int32_t>> pods_on) {
  BlockRoom block;
  for (const auto& [node, pods] : pods_on) {
    block.room.nodes.push_back({.node = NodeId(node), .pods = pods});
    block.room.total += pods;
  }
  return block;
}

TEST(RoomByBlock, AddsUpBorrowedAndOwnedBlocksInTheirOrder) {
  BlockRoom first = RoomOf({{1, 2}, {5, 1}}), full = RoomOf({});
  RoomByBlock blocks;
  blocks.Add(first);
  blocks.Add(full);
  blocks.Add(std::make_unique<BlockRoom>(RoomOf({})));
  blocks.Add(std::make_unique<BlockRoom>(RoomOf({{600, 4}})));
  EXPECT_EQ(blocks.total(), 7);
  ASSERT_EQ(blocks.blocks().size(), 2u) << "blocks that take no pods are left out";
  EXPECT_EQ(blocks.blocks()[0], &first) << "what is borrowed is not copied";
  std::vector<uint32_t> visited, all;
  blocks.ForEach([&visited](const NodeRoom& room) { visited.push_back(room.node.index()); });
  EXPECT_THAT(visited, ElementsAre(1, 5, 600));
  const ShapeRoom room = blocks.All();
  for (const NodeRoom& node : room.nodes) all.push_back(node.node.index());
  EXPECT_EQ(all, visited);
  EXPECT_EQ(room.total, 7);
}

TEST(RoomByBlock, OwnedBlocksMoveWithIt) {
  RoomByBlock blocks;
  blocks.Add(std::make_unique<BlockRoom>(RoomOf({{3, 2}})));
  const RoomByBlock moved = std::move(blocks);
  EXPECT_EQ(moved.All().nodes.front().node, NodeId(3));
  EXPECT_EQ(moved.total(), 2);
}

TEST(RoomByBlock, WithoutBlocksThereIsNoRoom) {
  const RoomByBlock none;
  EXPECT_EQ(none.total(), 0);
  EXPECT_THAT(none.All().nodes, IsEmpty());
}

}  // namespace
}  // namespace maniple::cycle_shape_room_test
