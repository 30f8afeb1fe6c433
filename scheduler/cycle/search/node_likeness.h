// Nodes that no filter can tell apart: a search that knows one of them knows all.
//
// Labels in columns and names may tell any two nodes apart, so the room that each shape finds is
// part of the comparison. Borrows kinds and overlay; one thread, for the length of a search.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "scheduler/cycle/search/search_question.h"
#include "scheduler/cycle/topology/domain_level.h"

namespace maniple {

using Likeness = uint32_t;

class NodeLikeness final {
 public:
  // `levels`: nodes of different domains are not alike.
  NodeLikeness(const std::vector<Kind>& kinds, const Overlay& overlay,
               std::vector<const DomainLevel*> levels);

  // Equal for nodes that are alike; numbered in the order of first sight. `rooms`: by kind, on the
  // overlay as it stands, which is the same at every call.
  [[nodiscard]] Likeness Of(NodeId node, std::span<const int32_t> rooms);

 private:
  const Overlay& overlay_;
  std::vector<const DomainLevel*> levels_;
  std::vector<ResourceId> resources_;  // that some kind asks for
  std::vector<int64_t> facts_;         // of the node at hand
  absl::flat_hash_map<std::vector<int64_t>, Likeness> known_;
};

// Nodes with room for some kind, in order of name.
struct RoomyNodes {
  std::vector<NodeId> nodes;
  std::vector<int32_t> rooms;  // by node, then kind
  std::vector<Likeness> like;  // by node

  [[nodiscard]] std::span<const int32_t> RoomsOf(size_t node) const {
    const size_t kinds = rooms.size() / nodes.size();
    return std::span(rooms).subspan(node * kinds, kinds);
  }
};
// `within` null: anywhere.
[[nodiscard]] RoomyNodes NodesWithRoom(const std::vector<Kind>& kinds, const Overlay& overlay,
                                       const NodeSet* within);

}  // namespace maniple
