// The nodes that take pods of one shape, block by block;
// each block is ranked when its best nodes are asked for.
//
// For the length of a decision; one thread. Counts on a block of the snapshot itself may be
// remembered for later decisions (scheduler/cycle/room/room_cache.h); blocks that the overlay has
// touched are counted afresh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "scheduler/cycle/room/bound_shape.h"
#include "scheduler/cycle/room/overlay.h"
#include "scheduler/cycle/room/shape_room.h"

namespace maniple {

class RankedRoom final {
 public:
  // Counts it. Borrows both for its life; `within` null = anywhere.
  RankedRoom(BoundShape& bound, const Overlay& overlay, const NodeSet* within)
      : bound_(bound), overlay_(overlay), room_(bound.ByBlockOn(overlay, within)) {}

  [[nodiscard]] int64_t total() const { return room_.total(); }
  [[nodiscard]] ShapeRoom All() const { return room_.All(); }
  // In id order.
  void ForEach(absl::FunctionRef<void(const NodeRoom&)> visit) const { room_.ForEach(visit); }
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
  RoomByBlock room_;
};

}  // namespace maniple
