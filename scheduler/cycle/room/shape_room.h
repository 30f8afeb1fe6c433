// The room for pods of one shape: which nodes take how many, and what decides between them.
//
// Values for the length of a decision; one thread. What was counted on a block of the snapshot
// itself may be remembered for later decisions (scheduler/cycle/room/room_cache.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "plugins/framework/snapshot.h"

namespace maniple {

// Room for some pods of one shape.
struct NodeRoom {
  NodeId node;
  int32_t pods = 0;  // at least 1
};
struct ShapeRoom {
  std::vector<NodeRoom> nodes;  // in id order
  int64_t total = 0;
};

// A node that takes pods, with its order among others: the score, then the name,
// or its place in a layout of the nodes.
struct RankedNode {
  int64_t score = 0;
  uint32_t name_rank = 0;
  NodeRoom room;
};
[[nodiscard]] inline bool RanksBefore(const RankedNode& a, const RankedNode& b) {
  return a.score != b.score ? a.score > b.score : a.name_rank < b.name_rank;
}

// The room in one block.
struct BlockRoom {
  ShapeRoom room;
  std::vector<RankedNode> ranked;  // empty until asked for
  size_t in_order = 0;             // so many of the best stand first, in order
};

// The blocks that take pods.
class RoomByBlock final {
 public:
  // In the order of blocks; the first borrows.
  void Add(BlockRoom& room);
  void Add(std::unique_ptr<BlockRoom> room);

  [[nodiscard]] int64_t total() const { return total_; }
  [[nodiscard]] const std::vector<BlockRoom*>& blocks() const { return blocks_; }
  [[nodiscard]] ShapeRoom All() const;
  // In id order.
  void ForEach(absl::FunctionRef<void(const NodeRoom&)> visit) const {
    for (const BlockRoom* block : blocks_) {
      for (const NodeRoom& room : block->room.nodes) visit(room);
    }
  }

 private:
  std::vector<BlockRoom*> blocks_;
  std::vector<std::unique_ptr<BlockRoom>> own_;
  int64_t total_ = 0;
};

// Shares `pods` pods out among `best`, in the order of RanksBefore: each takes all it can and the
// last takes the rest. One entry per pod; consecutive pods are on neighbouring nodes (by name).
// REQUIRES: without the last of `best` there would be room for fewer than `pods`.
[[nodiscard]] std::vector<NodeId> ShareOut(std::vector<RankedNode> best, int64_t pods);

}  // namespace maniple
