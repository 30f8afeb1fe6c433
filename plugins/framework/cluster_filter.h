// The contract of filters whose answers on one node depend on what stands on others: pods that want
// to be near or apart, an even spread, a claim that one pod may use.
//
// LookAround is called before anything else is asked, and again when a block has changed; the rest
// is const. The answers are not remembered from one decision to the next, unless it says so.
#pragma once

#include <cstdint>
#include <span>

#include "plugins/framework/filter.h"

namespace maniple {

class ClusterFilter : public NodeFilter {
 public:
  [[nodiscard]] ClusterFilter* as_cluster_filter() final { return this; }

  // False: for this shape, or to this question, it has nothing to look at.
  [[nodiscard]] virtual bool looks_around() const = 0;
  virtual void LookAround(BlockSpan blocks) = 0;
  // Whether its answers on a block hold as long as that block stands.
  [[nodiscard]] virtual bool may_be_remembered() const { return !looks_around(); }

  // Columns of labels (Tables::label_columns) whose values all members of the gang must share.
  // Among nodes that share them the filter has nothing more to say of it.
  // Empty: it asks for none. As of the last LookAround.
  [[nodiscard]] virtual std::span<const size_t> one_domain_of() const { return {}; }

  // For kAcrossNodes. Clears the nodes that take no member now and will take none, whichever other
  // members are placed.
  virtual void NarrowForGood(const NodeBlock&, NodeMask&) const {}
  // For kAcrossNodes. An upper bound on the members of the shape that find room in all.
  // Each node takes at most the members that `rooms` gives, in the order of ids.
  struct RoomOnNode {
    NodeId node;
    int32_t pods = 0;
  };
  [[nodiscard]] virtual int64_t Most(std::span<const RoomOnNode> rooms) const;
};

// Before a filter that was bound is asked: shows it the blocks, if it looks at other nodes.
inline void LetLookAround(NodeFilter& filter, BlockSpan blocks) {
  ClusterFilter* const cluster = filter.as_cluster_filter();
  if (cluster != nullptr && cluster->looks_around()) cluster->LookAround(blocks);
}

}  // namespace maniple
