// Room by domain, against sums over nodes by hand. Fears: a node outside every domain or outside
// the region is counted; GPUs of a node are counted once for each kind, or where no member can use
// them; the least units are more than some quorum takes.
#include "scheduler/cycle/domains/domain_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "scheduler/cycle/search/bound_request.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/unit/cycle/bound_gang.h"

namespace maniple::cycle_domain_room_test {
namespace {

using ::testing::ElementsAre;

class World final {
 public:
  World() { AddLevels(cluster_, {"rack"}); }
  using Look = std::function<void(const DomainSearch&, const DomainLevel& racks, Overlay&)>;

  void Submit(size_t quorum, const std::vector<MakePod>& members) {
    cluster_.Add(MakePodGroup("g").MinMember(static_cast<int32_t>(quorum)));
    for (size_t i = 0; i < members.size(); ++i) {
      cluster_.Add(MakePod(members[i]).Group("g").Index(static_cast<int64_t>(i)));
    }
  }
  void Ask(const Look& look) {
    BoundGang made(cluster_, "g");
    auto& [request, snapshot, now, bound, kinds] = made;
    look({bound.problem(), kinds.kinds, request.scope, DomainChoice(), MemberGroups(), {}},
         LevelOf(*snapshot, {.name = "rack", .steps = {{"rack"}}}), now);
  }

  void Add(ObjectEvent event) { cluster_.Add(std::move(event)); }

 private:
  TestCluster cluster_;
};

// What a pod asks for, or a node has free.
struct Things {
  int64_t gpus = 0, cores = 0;
};
int64_t RoomFor(const Things& pod, const Things& free) {
  const int64_t by_cores = free.cores / pod.cores;
  return pod.gpus == 0 ? by_cores : std::min(by_cores, free.gpus / pod.gpus);
}

// Members of up to two shapes before nodes in racks, or in none.
struct RoomCase {
  explicit RoomCase(Random& random) {
    const auto below = [&](uint64_t bound) { return static_cast<int64_t>(random.Below(bound)); };
    const Things shapes[] = {{below(3), 1 + below(2)}, {below(3), 1 + below(2)}};
    pods.resize(1 + random.Below(4));
    for (Things& pod : pods) pod = shapes[random.Below(2)];
    quorum = 1 + random.Below(pods.size());
    for (size_t i = 0; i < 6; ++i) {
      free.push_back({below(5), 1 + below(5)});
      racks.push_back(std::vector<std::string>{"", "a", "b", "c"}[random.Below(4)]);
      if (!random.OneIn(4)) within.Set(static_cast<uint32_t>(i));
    }
    some_gpus = std::ranges::any_of(pods, [](const Things& pod) { return pod.gpus > 0; });
  }
  [[nodiscard]] int64_t UnitsOf(const Things& pod) const { return some_gpus ? pod.gpus : 1; }
  // Of all choices of a quorum.
  [[nodiscard]] int64_t LeastUnits() const {
    int64_t least = 1'000;
    for (uint32_t chosen = 0; chosen < 1U << pods.size(); ++chosen) {
      if (static_cast<size_t>(std::popcount(chosen)) != quorum) continue;
      int64_t units = 0;
      for (size_t i = 0; i < pods.size(); ++i) units += (chosen >> i & 1) * UnitsOf(pods[i]);
      least = std::min(least, units);
    }
    return least;
  }

  std::vector<Things> pods, free;
  std::vector<std::string> racks;
  NodeMask within;
  size_t quorum = 0;
  bool some_gpus = false;
};

// The domain as it should be counted. Members of one kind ask for the same.
DomainRoom NaiveRoom(const RoomCase& c, const DomainSearch& ask, const std::string& rack) {
  DomainRoom room{.limits = std::vector<int64_t>(ask.kinds.size(), 0)};
  std::vector<const Things*> pod_of(ask.kinds.size());
  for (size_t i = 0; i < c.pods.size(); ++i) pod_of[ask.problem.kinds[i]] = &c.pods[i];
  for (size_t node = 0; node < c.free.size(); ++node) {
    if (c.racks[node] != rack || !c.within.Test(static_cast<uint32_t>(node))) continue;
    bool gpus_used = false;
    for (size_t k = 0; k < pod_of.size(); ++k) {
      const int64_t pods = RoomFor(*pod_of[k], c.free[node]);
      room.limits[k] += pods;
      if (!c.some_gpus) room.units += pods;
      gpus_used = gpus_used || (pods > 0 && pod_of[k]->gpus > 0);
    }
    if (gpus_used) room.units += c.free[node].gpus;
  }
  for (uint32_t k = 0; k < pod_of.size(); ++k) {
    room.takes_all = room.takes_all && room.limits[k] >= ask.problem.CountOf(k);
  }
  return room;
}

// Some of a node is taken by a pod that runs there.
TEST(DomainRoom, RoomIsTheSumOverTheNodesOfTheDomainInTheRegion) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    World world;
    const RoomCase c(random);
    for (size_t i = 0; i < c.free.size(); ++i) {
      MakeNode node(absl::StrCat("n", i));
      node.Gpu(c.free[i].gpus + 1).Cpu(c.free[i].cores + 1);
      if (!c.racks[i].empty()) node.Label("rack", c.racks[i]);
      world.Add(node);
      world.Add(MakePod(absl::StrCat("busy-", i)).Gpu(1).Cpu(1000).On(absl::StrCat("n", i)));
    }
    std::vector<MakePod> members;
    for (size_t i = 0; i < c.pods.size(); ++i) {
      members.push_back(
          MakePod(absl::StrCat("g-", i)).Gpu(c.pods[i].gpus).Cpu(c.pods[i].cores * 1000));
    }
    world.Submit(c.quorum, members);
    world.Ask([&](const DomainSearch& ask, const DomainLevel& racks, Overlay& now) {
      const NodeSet within = {c.within};
      const std::vector<DomainRoom> rooms = RoomByDomain(ask, racks, now, &within);
      ASSERT_EQ(rooms.size(), racks.paths.size());
      for (uint32_t d = 0; d < rooms.size(); ++d) {
        const DomainRoom naive = NaiveRoom(c, ask, racks.paths[d]);
        EXPECT_EQ(rooms[d].domain, d);
        EXPECT_EQ(rooms[d].limits, naive.limits) << round;
        EXPECT_EQ(rooms[d].takes_all, naive.takes_all) << round;
        EXPECT_EQ(rooms[d].units, naive.units) << round;
      }
      EXPECT_EQ(LeastUnits(ask, *now.base().tables), c.LeastUnits()) << round;
    });
  }
}

TEST(DomainRoom, WhatIsPlacedOnTheOverlayTakesRoom) {
  World world;
  world.Add(MakeNode("n0").Gpu(8).Label("rack", "a"));
  world.Submit(1, {MakePod("g-0").Gpu(2)});
  world.Ask([](const DomainSearch& ask, const DomainLevel& racks, Overlay& now) {
    EXPECT_EQ(RoomByDomain(ask, racks, now, nullptr)[0].units, 8);
    now.Place(NodeId(0), ask.kinds[0].shape);
    EXPECT_THAT(RoomByDomain(ask, racks, now, nullptr)[0].limits, ElementsAre(3));
    EXPECT_EQ(RoomByDomain(ask, racks, now, nullptr)[0].units, 6);
  });
}

TEST(DomainRoom, AKindThatAPluginRefusedHasNoRoomAndItsGpusAreNotUnits) {
  World world;
  world.Add(MakeNode("n0").Gpu(8).Label("rack", "a"));
  world.Submit(2, {MakePod("g-0").Gpu(1).Unsupported("spec.x"), MakePod("g-1").Gpu(4)});
  world.Ask([](const DomainSearch& ask, const DomainLevel& racks, Overlay& now) {
    const DomainRoom room = RoomByDomain(ask, racks, now, nullptr)[0];
    EXPECT_THAT(room.limits, ElementsAre(0, 2));
    EXPECT_FALSE(room.takes_all);
    EXPECT_EQ(LeastUnits(ask, *now.base().tables), 4);
  });
}

TEST(DomainRoom, WhereMembersAskForTwoKindsOfGpusTheUnitsAreMembers) {
  World world;
  world.Add(MakeNode("n0").Gpu(8).Has("amd.com/gpu", 4).Label("rack", "a"));
  world.Submit(2, {MakePod("g-0").Gpu(4), MakePod("g-1").Wants("amd.com/gpu", 4)});
  world.Ask([](const DomainSearch& ask, const DomainLevel& racks, Overlay& now) {
    EXPECT_EQ(RoomByDomain(ask, racks, now, nullptr)[0].units, 3);
    EXPECT_EQ(LeastUnits(ask, *now.base().tables), 2);
  });
}

}  // namespace
}  // namespace maniple::cycle_domain_room_test
