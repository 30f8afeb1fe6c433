#include "scheduler/cycle/room/shape_room.h"

#include <algorithm>
#include <utility>

namespace maniple {

void RoomByBlock::Add(BlockRoom& room) {
  if (room.room.total == 0) return;
  total_ += room.room.total;
  blocks_.push_back(&room);
}

void RoomByBlock::Add(std::unique_ptr<BlockRoom> room) {
  Add(*room);
  own_.push_back(std::move(room));
}

ShapeRoom RoomByBlock::All() const {
  ShapeRoom all{.nodes = {}, .total = total_};
  for (const BlockRoom* block : blocks_) {
    all.nodes.insert(all.nodes.end(), block->room.nodes.begin(), block->room.nodes.end());
  }
  return all;
}

std::vector<NodeId> ShareOut(std::vector<RankedNode> best, int64_t pods) {
  int64_t spare = -pods;
  for (const RankedNode& node : best) spare += node.room.pods;
  // The last of them may take fewer than it could, which stays so when they are
  // put in order of name.
  if (!best.empty()) best.back().room.pods -= static_cast<int32_t>(spare);
  std::ranges::sort(best, {}, &RankedNode::name_rank);
  std::vector<NodeId> nodes;
  nodes.reserve(static_cast<size_t>(pods));
  for (const RankedNode& node : best) {
    nodes.insert(nodes.end(), static_cast<size_t>(node.room.pods), node.room.node);
  }
  return nodes;
}

}  // namespace maniple
