// How much is left in one piece. The fears: an operator is told of room that no gang can have in
// one domain, or of slices on nodes that are in use, held or closed.
#include "scheduler/loop/views/level_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/loop_driver.h"
#include "test/support/test_cluster.h"

namespace maniple::loop_level_room_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Topology BlocksAndRacks() {
  Topology topology{.meta = {},
                    .levels = {{.name = "block", .node_label = "example.com/block"},
                               {.name = "rack", .node_label = "example.com/rack"}}};
  topology.meta.name = "default";
  return topology;
}

MakeNode InRack(absl::string_view name, absl::string_view block, absl::string_view rack) {
  return MakeNode(name).Gpu(8).Label("example.com/block", block).Label("example.com/rack", rack);
}

std::vector<LevelRoomView> RoomsOf(TestCluster& cluster) {
  const SnapshotPtr snapshot = cluster.state().Publish();
  LevelStore store;
  std::vector<LevelRoomView> rooms;
  for (const LevelKey& level : LevelsToTell(*snapshot->tables)) {
    rooms.push_back(RoomOf(*snapshot, level, store));
  }
  return rooms;
}

LevelRoomView At(const std::vector<LevelRoomView>& rooms, absl::string_view level) {
  for (const LevelRoomView& room : rooms) {
    if (room.level == level) return room;
  }
  ADD_FAILURE() << "nothing is told of " << level;
  return {};
}

TEST(LevelRoom, FreeRoomOfOneDomainIsWhatOneGangCouldHave) {
  TestCluster cluster;
  cluster.Add(ObjectUpserted{BlocksAndRacks()});
  for (const char* rack : {"r1", "r2"}) {
    for (int i = 0; i < 3; ++i) cluster.Add(InRack(absl::StrCat(rack, "-", i), "b", rack));
  }
  cluster.Add(MakePod("busy").Gpu(2).On("r1-0").Phase(PodPhase::kRunning));
  const std::vector<LevelRoomView> rooms = RoomsOf(cluster);
  EXPECT_EQ(At(rooms, "cluster").largest_gang_gpus, 46);
  EXPECT_EQ(At(rooms, "block").largest_gang_gpus, 46);
  EXPECT_EQ(At(rooms, "rack").largest_gang_gpus, 24);
  EXPECT_EQ(At(rooms, "node").largest_gang_gpus, 8);
  EXPECT_THAT(At(rooms, "cluster").free_slices, ElementsAre(Pair(1, 5), Pair(2, 2), Pair(4, 1)));
  EXPECT_THAT(At(rooms, "rack").free_slices, ElementsAre(Pair(1, 5), Pair(2, 2)));
  EXPECT_THAT(At(rooms, "node").free_slices, ElementsAre(Pair(1, 5)));
}

TEST(LevelRoom, ALevelOfTheTopologyGoesBeforeOursOfItsName) {
  TestCluster cluster;
  Topology topology = BlocksAndRacks();
  topology.levels.push_back({.name = "node", .node_label = "example.com/host"});
  topology.levels.front().name = "cluster";
  cluster.Add(ObjectUpserted{topology});
  cluster.Add(InRack("n1", "b1", "r1"));
  cluster.Add(InRack("n2", "b2", "r1"));
  const std::vector<LevelRoomView> rooms = RoomsOf(cluster);
  std::set<std::string> names;
  for (const LevelRoomView& room : rooms) {
    EXPECT_TRUE(names.insert(room.level).second) << room.level << " is told twice";
  }
  EXPECT_EQ(At(rooms, "cluster").largest_gang_gpus, 8) << "of one block";
}

TEST(LevelRoom, ANodeThatTakesNobodyOffersNothing) {
  TestCluster cluster;
  cluster.Add(MakeNode("open").Gpu(8));
  cluster.Add(MakeNode("closed").Gpu(8).Cordoned());
  cluster.Add(MakeNode("away").Gpu(8).WithTaint("node.kubernetes.io/unreachable"));
  cluster.Add(MakeNode("plain"));
  const std::vector<LevelRoomView> rooms = RoomsOf(cluster);
  EXPECT_EQ(At(rooms, "cluster").largest_gang_gpus, 8);
  EXPECT_THAT(At(rooms, "cluster").free_slices, ElementsAre(Pair(1, 1), Pair(2, 0)));
}

TEST(LevelRoom, ANodeOutsideALevelCountsInTheClusterOnly) {
  TestCluster cluster;
  cluster.Add(ObjectUpserted{BlocksAndRacks()});
  cluster.Add(InRack("in", "b", "r"));
  cluster.Add(MakeNode("out").Gpu(16));
  const std::vector<LevelRoomView> rooms = RoomsOf(cluster);
  EXPECT_EQ(At(rooms, "rack").largest_gang_gpus, 8);
  EXPECT_EQ(At(rooms, "cluster").largest_gang_gpus, 24);
}

TEST(LevelRoom, SlicesOfGpusAreNoGpus) {
  TestCluster cluster;
  cluster.Add(MakeNode("cut").Has("nvidia.com/mig-1g.10gb", 7));
  EXPECT_EQ(At(RoomsOf(cluster), "cluster").largest_gang_gpus, 0);
}

TEST(LevelRoom, WhatIsToldIsSoWithoutAnyGpuAndWithoutAnyNode) {
  TestCluster cluster;
  for (const LevelRoomView& room : RoomsOf(cluster)) {
    EXPECT_EQ(room.largest_gang_gpus, 0) << room.level;
    EXPECT_TRUE(room.free_slices.empty()) << room.level;
  }
}

// A second way to count, by names.
TEST(LevelRoom, EqualsACountByNamesInRandomClusters) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    TestCluster cluster;
    cluster.Add(ObjectUpserted{BlocksAndRacks()});
    std::map<std::string, int64_t> free, idle, nodes;  // by "block/rack"
    const int count = static_cast<int>(random.Below(40));
    for (int i = 0; i < count; ++i) {
      const std::string block = absl::StrCat("b", random.Below(3));
      const std::string rack = absl::StrCat("r", random.Below(3)), name = absl::StrCat("n", i);
      const bool closed = random.OneIn(5);
      const int64_t used = static_cast<int64_t>(random.Below(3)) * 4;
      MakeNode node = InRack(name, block, rack);
      cluster.Add(closed ? node.Cordoned() : node);
      if (used > 0) {
        cluster.Add(MakePod(absl::StrCat("p", i)).Gpu(used).On(name).Phase(PodPhase::kRunning));
      }
      const std::string path = absl::StrCat(block, "/", rack);
      ++nodes[path];
      free[path] += closed ? 0 : 8 - used;
      idle[path] += !closed && used == 0 ? 1 : 0;
    }
    const LevelRoomView told = At(RoomsOf(cluster), "rack");
    int64_t most = 0, largest = 0;
    for (const auto& [path, gpus] : free) most = std::max(most, gpus);
    for (const auto& [path, all] : nodes) largest = std::max(largest, all);
    ASSERT_EQ(told.largest_gang_gpus, most);
    std::vector<std::pair<int64_t, int64_t>> slices;
    for (int64_t size = 1; size <= largest; size *= 2) {
      int64_t whole = 0;
      for (const auto& [path, left] : idle) whole += left / size;
      slices.emplace_back(size, whole);
    }
    ASSERT_EQ(told.free_slices, slices);
  }
}

TEST(LevelRoom, IsToldWithTheOtherFigures) {
  LoopDriver d;
  d.Nodes(3, 8);
  d.Submit({.gang = "a", .pods = 1, .gpu = 4});
  d.Settle();
  const ClusterFiguresPtr figures = d.Figures();
  EXPECT_EQ(At(figures->levels, "cluster").largest_gang_gpus, 20);
  EXPECT_THAT(At(figures->levels, "node").free_slices, ElementsAre(Pair(1, 2)));
  EXPECT_EQ(figures->levels.size(), 2u) << "no node is in an NVLink domain";
}

}  // namespace
}  // namespace maniple::loop_level_room_test
