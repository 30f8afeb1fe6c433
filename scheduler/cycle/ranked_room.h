// The nodes that take pods of one shape, block by block;
// each block is ranked when its best nodes are asked for.
//
// For the length of a decision; one thread. Counts on a block of the snapshot itself may be
// remembered for later decisions (scheduler/cycle/room_cache.h); blocks that the overlay has
// touched are counted afresh.
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

// Shares `pods` pods out among `best`, in the order of RanksBefore: each takes all it can and the
// last takes the rest. One entry per pod; consecutive pods are on neighbouring nodes (by name).
// REQUIRES: without the last of `best` there would be room for fewer than `pods`.
[[nodiscard]] std::vector<NodeId> ShareOut(std::vector<RankedNode> best, int64_t pods);

class BoundShape;
class Overlay;

class RankedRoom final {
 public:
  // Borrows both for its life.
  RankedRoom(const BoundShape& bound, const Overlay& overlay) : bound_(bound), overlay_(overlay) {}

  // In the order of blocks; the first borrows.
  void Add(BlockRoom& room);
  void Add(std::unique_ptr<BlockRoom> room);

  [[nodiscard]] int64_t total() const { return total_; }
  [[nodiscard]] ShapeRoom All() const;
  // In id order.
  void ForEach(absl::FunctionRef<void(const NodeRoom&)> visit) const {
    for (const BlockRoom* block : blocks_) {
      for (const NodeRoom& room : block->room.nodes) visit(room);
    }
  }
  // Every node, ranked but in no order, of the blocks that have a node which `which` accepts.
  // REQUIRES: the overlay is as it was when the blocks were counted.
  void ForEachRanked(absl::FunctionRef<bool(NodeId)> which,
                     absl::FunctionRef<void(const RankedNode&)> visit) const;
  // As ShareOut, the best nodes of all. REQUIRES: total() >= pods, and the overlay is as it was
  // when the blocks were counted.
  [[nodiscard]] std::vector<NodeId> Best(int64_t pods) const;

 private:
  [[nodiscard]] const RankedNode& At(BlockRoom& block, size_t place) const;

  const BoundShape& bound_;
  const Overlay& overlay_;
  std::vector<BlockRoom*> blocks_;
  std::vector<std::unique_ptr<BlockRoom>> own_;
  int64_t total_ = 0;
};

}  // namespace maniple
