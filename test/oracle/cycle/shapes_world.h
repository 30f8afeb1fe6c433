// Random gangs of two to four shapes on clusters of up to 60 nodes in which one domain in ten or
// twenty is good. For cycle_shapes_oracle_test; plain values.
//
//   const ShapesWorld world = ShapesWorldMaker(seed).Make();  // shapes_world_maker.h
//   ExactShapes(world).Fits()  // exact_shapes.h
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace maniple {

struct WorldNode {
  int gpus = 8, cores = 64;  // free
  bool port_taken = false;
  int rack = 0, block = 0, pool = 0;
};

struct WorldShape {
  int gpus = 0, cores = 1;
  bool port = false;  // the one port that there is
  int pool = -1;      // that its selector names
  friend bool operator==(const WorldShape&, const WorldShape&) = default;
};

struct WorldMember {
  int shape = 0;
  int sub_group = -1;
};

// The levels of the topology, the broadest first; -1 is none.
enum class WorldLevel : int8_t { kNone = -1, kBlock, kRack, kHost };

struct ShapesWorld {
  std::string kind;
  std::vector<WorldNode> nodes;
  std::vector<WorldShape> shapes;
  std::vector<WorldMember> members;
  WorldLevel required = WorldLevel::kNone;
  struct Part {
    int needs = 0;
    WorldLevel required = WorldLevel::kNone;
  };
  std::vector<Part> sub_groups;
  int min_member = 1;
  std::vector<int> quota;  // GPUs by flavor, which is a pool; empty: none applies

  [[nodiscard]] int DomainOf(int node, WorldLevel level) const {
    switch (level) {
      case WorldLevel::kNone:
        return 0;
      case WorldLevel::kBlock:
        return nodes[static_cast<size_t>(node)].block;
      case WorldLevel::kRack:
        return nodes[static_cast<size_t>(node)].rack;
      case WorldLevel::kHost:
        return node;
    }
    return 0;
  }
};

}  // namespace maniple
