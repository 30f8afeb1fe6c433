// The counts of earlier decisions, so that the next one looks only at the blocks that changed.
//
// A published block is immutable. So the room for a shape in it, and the ranking of its nodes,
// stay true while the block is part of the snapshot. Owned by the scheduling loop,
// which makes one decision after the other; one thread; one profile. It affects nothing but speed:
// a decision with a cache equals the decision without (cycle_room_cache_test).
//
// Invariants:
//   1. A BlockRoom is used only for the very block that it was counted on, known by its shared
//      pointer and never by its contents or address: any change of a node makes another block.
//   2. It is of one shape, one set of allowed nodes, the question "now", the same order of names
//      and the same mix of requests. Node classes, resources, taint keys, host ports and label
//      columns have not changed. Else everything is forgotten. (Classes of nodes in an unchanged
//      block keep their ids.)
//      A shape is also known by its pointer, since numbers are used again.
//      All entries of a shape are forgotten when one of its images became more or less common.
//   3. Nothing that time alone changes is remembered: no block in which a node cools down, or may
//      have; no block that an overlay changed; no shape whose members bear on each other across
//      nodes.
//   4. A decision begins with at most kMostShapes shapes, those asked for last; blocks
//      are not kept alive.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plugins/framework/snapshot.h"
#include "scheduler/cycle/room/shape_room.h"
#include "scheduler/cycle/topology/domain_level.h"

namespace maniple {

class RoomCache final {
 public:
  static constexpr size_t kMostShapes = 32;

  // The remembered rooms of one shape, by block.
  class Shape final {
   public:
    struct Block {
      std::weak_ptr<const NodeBlock> of;
      BlockRoom room;
    };
    // The room counted on this very block; null: on another block, or none.
    [[nodiscard]] BlockRoom* Find(uint32_t block, const std::shared_ptr<const NodeBlock>& of);
    // Empty room, remembered for this block from now on.
    [[nodiscard]] BlockRoom& Renew(uint32_t block, const std::shared_ptr<const NodeBlock>& of);

   private:
    friend class RoomCache;
    std::shared_ptr<const PodShape> shape_;  // this very one: its number may become another's
    std::optional<NodeSet> allowed_;
    std::vector<Block> blocks_;
  };

  // Before each decision: forgets entries that the snapshot invalidates,
  // and shapes beyond kMostShapes.
  void Begin(const Snapshot& snapshot);
  // `allowed` null: every node. Valid until the next Begin. REQUIRES: the snapshot begun with.
  [[nodiscard]] Shape& Of(const Snapshot& snapshot, ShapeId shape, const NodeSet* allowed);
  // The store of topology levels, which checks its own entries.
  [[nodiscard]] LevelStore& levels() { return levels_; }

 private:
  LevelStore levels_;
  std::shared_ptr<const Tables> tables_;
  std::shared_ptr<const NodeOrder> order_;
  std::shared_ptr<const RequestMix> mix_;
  std::shared_ptr<const NodeImages> images_;
  std::vector<std::unique_ptr<Shape>> shapes_;  // the one asked for last is first
};

}  // namespace maniple
