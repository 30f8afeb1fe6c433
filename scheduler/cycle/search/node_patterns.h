// Patterns: members of several shapes that one node takes at once.
// The filters themselves are asked, once for all nodes that are alike.
//
// Exact where the shapes' counts prove; else an upper bound where bounds prove.
// Borrows its arguments, for the length of a search; one thread. The overlay is left as it was.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "scheduler/cycle/room/search_work.h"
#include "scheduler/cycle/search/member_classes.h"
#include "scheduler/cycle/search/node_likeness.h"

namespace maniple {

// Members of the other classes, and so many of the last class beside them.
struct NodePattern {
  PackingState others = 0;
  int64_t last = 0;
};

// Classes of members, one bit each.
using ClassMask = uint32_t;

class NodePatterns final {
 public:
  // REQUIRES: classes.few(), and no bound kind looks around.
  NodePatterns(const MemberClasses& classes, std::vector<Kind>& kinds, Overlay& overlay,
               SearchWork& work);

  // All patterns of the mask's classes that the node takes and that are not below another one.
  // REQUIRES: nodes of one likeness are alike to these kinds.
  [[nodiscard]] std::span<const NodePattern> Of(NodeId node, Likeness likeness, ClassMask mask);

 private:
  void Place(NodeId node, ClassMask mask, size_t other, PackingState placed);
  [[nodiscard]] std::vector<NodePattern> KeepLargest() const;

  const MemberClasses& classes_;
  std::vector<Kind>& kinds_;
  Overlay& overlay_;
  SearchWork& work_;
  absl::flat_hash_map<std::pair<Likeness, ClassMask>, std::vector<NodePattern>> known_;
  std::vector<NodePattern> found_;  // on the node at hand
};

}  // namespace maniple
