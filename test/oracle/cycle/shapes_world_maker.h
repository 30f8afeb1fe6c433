// Draws the worlds of shapes_world.h, each kind of gang that searches once gave up on in turn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "api/base/random.h"
#include "test/oracle/cycle/shapes_world.h"

namespace maniple {

class ShapesWorldMaker final {
 public:
  explicit ShapesWorldMaker(uint64_t seed) : random_(seed) {}

  ShapesWorld Make() {
    switch (random_.Below(6)) {
      case 0:
        return LeaderAndWorkers();
      case 1:
        return LauncherWithoutGpus();
      case 2:
        return OneHost();
      case 3:
        return SubGroupsWithDomains();
      case 4:
        return RolesOnFlavors();
      default:
        return Anything();
    }
  }

 private:
  int Below(int limit) { return static_cast<int>(random_.Below(static_cast<uint64_t>(limit))); }
  int Between(int least, int most) { return least + Below(most - least + 1); }

  // Racks of so many nodes, of which one in `rarity` has more room.
  void AddRacks(ShapesWorld& world, int racks, int nodes, int rarity) {
    for (int r = 0; r < racks; ++r) {
      const bool good = Below(rarity) == 0;
      const int more = good && random_.OneIn(2) ? 1 : 0;
      for (int n = 0; n < nodes + more && world.nodes.size() < 60; ++n) {
        WorldNode node{.rack = r, .block = r / 3, .pool = Below(2)};
        if (!good) {
          node.gpus -= Below(3);
          node.cores -= 4 * Below(4);
        }
        node.port_taken = random_.OneIn(8);
        world.nodes.push_back(node);
      }
    }
  }
  void AddMembers(ShapesWorld& world, const WorldShape& shape, int members, int sub_group = -1) {
    const auto at = std::ranges::find(world.shapes, shape);
    const auto number = static_cast<int>(at - world.shapes.begin());
    if (at == world.shapes.end()) world.shapes.push_back(shape);
    for (int i = 0; i < members; ++i) {
      world.members.push_back({.shape = number, .sub_group = sub_group});
    }
  }
  void NeedAll(ShapesWorld& world) { world.min_member = static_cast<int>(world.members.size()); }

  ShapesWorld LeaderAndWorkers() {
    ShapesWorld world{.kind = "leader and workers", .required = WorldLevel::kRack};
    const int workers = Between(2, 4);
    AddRacks(world, Between(12, 20), workers, Between(10, 20));
    AddMembers(world, {.gpus = Between(1, 4), .cores = Between(1, 8)}, 1);
    AddMembers(world, {.gpus = Between(6, 8), .cores = Between(8, 60)}, workers);
    if (random_.OneIn(3)) {
      AddMembers(world, {.gpus = Below(3), .cores = Between(1, 16), .port = random_.OneIn(2)},
                 Between(1, 2));
    }
    NeedAll(world);
    if (random_.OneIn(4)) --world.min_member;
    return world;
  }
  ShapesWorld LauncherWithoutGpus() {
    ShapesWorld world{.kind = "launcher without GPUs", .required = WorldLevel::kRack};
    const int workers = Between(2, 4);
    AddRacks(world, Between(12, 20), workers, Between(10, 20));
    AddMembers(world, {.gpus = 0, .cores = Between(2, 12), .port = random_.OneIn(3)},
               Between(1, 3));
    AddMembers(world, {.gpus = 8, .cores = Between(50, 62)}, workers);
    NeedAll(world);
    return world;
  }
  ShapesWorld OneHost() {
    ShapesWorld world{.kind = "one host", .required = WorldLevel::kHost};
    const int nodes = Between(20, 60), rarity = Between(10, 20);
    for (int n = 0; n < nodes; ++n) {
      WorldNode node{.rack = n / 4, .block = n / 12, .pool = Below(2)};
      if (Below(rarity) != 0) {
        (random_.OneIn(2) ? node.gpus : node.cores) -= Between(1, 8);
        node.port_taken = random_.OneIn(4);
      }
      world.nodes.push_back(node);
    }
    int gpus = 8, cores = 64;
    const int shapes = Between(2, 4);
    for (int s = 0; s < shapes; ++s) {
      const bool last = s + 1 == shapes;
      const int some = last ? gpus : Below(gpus + 1), few = last ? cores : Between(1, cores / 2);
      AddMembers(world, {.gpus = some, .cores = few, .port = random_.OneIn(4)}, 1);
      gpus -= some;
      cores -= few;
    }
    NeedAll(world);
    return world;
  }
  ShapesWorld SubGroupsWithDomains() {
    ShapesWorld world{.kind = "sub-groups with domains"};
    const int size = Between(2, 3);
    AddRacks(world, Between(16, 20), size, Between(10, 20));
    for (WorldNode& node : world.nodes) {
      if (node.rack % 2 == 0) node.block = 100 + node.rack;  // blocks of one rack and of several
    }
    world.required = static_cast<WorldLevel>(Between(-1, 1));
    const int groups = Between(1, 3);
    for (int g = 0; g < groups; ++g) {
      const bool host = random_.OneIn(4);
      world.sub_groups.push_back({.required = host ? WorldLevel::kHost : WorldLevel::kRack});
      const int members = Between(1, host ? 2 : size + 1);
      const WorldShape shape{.gpus = host ? Between(2, 5) : Between(3, 8), .cores = Between(1, 30)};
      if (g > 0 && random_.OneIn(2)) {
        for (int i = 0; i < members; ++i) world.members.push_back({.shape = 0, .sub_group = g});
      } else {
        AddMembers(world, shape, members, g);
      }
      world.sub_groups.back().needs = random_.OneIn(3) ? Between(1, members) : members;
    }
    if (random_.OneIn(2)) AddMembers(world, {.gpus = Below(5), .cores = Between(1, 40)}, 1);
    NeedAll(world);
    if (random_.OneIn(3)) world.min_member = Between(1, world.min_member);
    return world;
  }
  ShapesWorld RolesOnFlavors() {
    ShapesWorld world{.kind = "roles on flavors"};
    const int flavors = Between(2, 4);
    AddRacks(world, Between(4, 12), Between(2, 4), Between(3, 10));
    for (WorldNode& node : world.nodes) node.pool = Below(flavors);
    for (int f = 0; f < flavors; ++f) world.quota.push_back(Between(1, 16));
    const int roles = Between(2, 4);
    for (int r = 0; r < roles; ++r) {
      AddMembers(world,
                 {.gpus = Between(1, 8),
                  .cores = Between(1, 30),
                  .pool = random_.OneIn(2) ? Below(flavors) : -1},
                 Between(1, 2));
    }
    if (random_.OneIn(3)) world.required = WorldLevel::kRack;
    NeedAll(world);
    return world;
  }
  ShapesWorld Anything() {
    ShapesWorld world{.kind = "anything"};
    AddRacks(world, Between(2, 20), Between(1, 4), Between(2, 20));
    world.required = static_cast<WorldLevel>(Between(-1, 2));
    const int groups = Below(3);
    for (int g = 0; g < groups; ++g) {
      world.sub_groups.push_back({.required = static_cast<WorldLevel>(Between(-1, 2))});
    }
    const int shapes = Between(2, 4);
    for (int s = 0; s < shapes; ++s) {
      AddMembers(world,
                 {.gpus = Below(9),
                  .cores = Between(1, 40),
                  .port = random_.OneIn(4),
                  .pool = random_.OneIn(4) ? Below(2) : -1},
                 Between(1, 3));
    }
    for (WorldMember& member : world.members) {
      member.sub_group = Below(groups + 1) - 1;
      if (member.sub_group < 0) continue;
      ShapesWorld::Part& part = world.sub_groups[static_cast<size_t>(member.sub_group)];
      if (random_.OneIn(2)) ++part.needs;
    }
    world.min_member = random_.OneIn(2) ? static_cast<int>(world.members.size())
                                        : Between(1, static_cast<int>(world.members.size()));
    return world;
  }

  Random random_;
};

}  // namespace maniple
