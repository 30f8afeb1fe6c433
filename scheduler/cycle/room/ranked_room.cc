#include "scheduler/cycle/room/ranked_room.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"

namespace maniple {
namespace {

// Nodes of a block that are ranked at first: most gangs need no more.
constexpr size_t kRankedAtFirst = 4;

// The best node of one block that is not taken yet.
struct Head {
  BlockRoom* block;
  size_t place = 0;
  RankedNode node;
};

}  // namespace

void RankedRoom::ForEachRanked(absl::FunctionRef<bool(NodeId)> which,
                               absl::FunctionRef<void(const RankedNode&)> visit) const {
  for (BlockRoom* block : room_.blocks()) {
    const bool any = std::ranges::any_of(block->room.nodes,
                                         [&](const NodeRoom& room) { return which(room.node); });
    if (!any) continue;
    if (block->ranked.empty()) block->ranked = bound_.RankedOf(overlay_, block->room);
    for (const RankedNode& node : block->ranked) visit(node);
  }
}

std::vector<NodeId> RankedRoom::Best(int64_t pods) const {
  CHECK_GE(total(), pods);
  std::vector<Head> heads;
  heads.reserve(room_.blocks().size());
  for (BlockRoom* block : room_.blocks()) heads.push_back({.block = block, .node = At(*block, 0)});
  const auto behind = [](const Head& a, const Head& b) { return RanksBefore(b.node, a.node); };
  std::ranges::make_heap(heads, behind);
  std::vector<RankedNode> best;
  for (int64_t left = pods; left > 0;) {
    std::ranges::pop_heap(heads, behind);
    Head& head = heads.back();
    best.push_back(head.node);
    left -= head.node.room.pods;
    if (++head.place == head.block->room.nodes.size()) {
      heads.pop_back();
    } else {
      head.node = At(*head.block, head.place);
      std::ranges::push_heap(heads, behind);
    }
  }
  return ShareOut(std::move(best), pods);
}

// The node at `place` of the block's ranking, which is made as far as it is needed.
const RankedNode& RankedRoom::At(BlockRoom& block, size_t place) const {
  if (block.ranked.empty()) block.ranked = bound_.RankedOf(overlay_, block.room);
  if (place >= block.in_order) {
    const size_t end = std::min(block.ranked.size(), std::max(kRankedAtFirst, 2 * place));
    const auto begin = block.ranked.begin();
    std::partial_sort(begin + static_cast<int64_t>(block.in_order),
                      begin + static_cast<int64_t>(end), block.ranked.end(), RanksBefore);
    block.in_order = end;
  }
  return block.ranked[place];
}

}  // namespace maniple
