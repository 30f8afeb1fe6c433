// The members of several shapes that a set of nodes takes together, exactly. Node after node,
// it keeps for each state the most members of the last class beside it (member_classes.h).
//
// Members of one class are interchangeable and nodes do not bear on each other, so a placement is
// nothing but numbers. Borrows its arguments; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/cycle/search/node_patterns.h"

namespace maniple {

// A node, and which classes may use it.
struct PackedNode {
  NodeId node;
  Likeness likeness = 0;
  ClassMask classes = 0;
};

class ShapePacking final {
 public:
  enum class Keep : uint8_t {
    kAnswer,
    kNodes,  // so that NodesOf can be asked
  };
  ShapePacking(const MemberClasses& classes, NodePatterns& patterns, SearchWork& work)
      : classes_(classes), patterns_(patterns), work_(work), beside_(classes.states()) {}

  // Packs all nodes, or as many as it takes to meet a target that needs every member it names.
  // False: the work is spent.
  [[nodiscard]] bool Pack(std::span<const PackedNode> nodes, const QuorumTarget& target, Keep keep);

  // By state: the most of the last class beside it; kNot: the state cannot be reached.
  static constexpr int64_t kNot = -1;
  [[nodiscard]] const std::vector<int64_t>& last_beside() const { return last_beside_; }
  [[nodiscard]] bool Meets(const QuorumTarget& target) const;
  // The state that comes closest to the target.
  [[nodiscard]] PackingState Closest(const QuorumTarget& target) const;

  // Nodes by class, one entry for each of so many members. REQUIRES: Pack kept the nodes, and the
  // state is reached with so many of the last class.
  [[nodiscard]] std::vector<std::vector<NodeId>> NodesOf(std::span<const PackedNode> nodes,
                                                         PackingState state, int64_t last);

 private:
  // Learns, for every state, the rest of it beside a pattern.
  void LearnBeside(PackingState others);
  // Whether all members of a target are placed; none: the target does not need every one of them.
  [[nodiscard]] std::optional<bool> MeetsAll(const QuorumTarget& target) const;
  void AddNode(std::span<const NodePattern> patterns, std::span<uint16_t> chosen);

  const MemberClasses& classes_;
  NodePatterns& patterns_;
  SearchWork& work_;
  std::vector<int64_t> last_beside_;
  std::vector<uint16_t> chosen_;  // by node and state: one more than the pattern; 0: none
  // By the others of a pattern; empty: not asked yet.
  std::vector<std::vector<PackingState>> beside_;
};

}  // namespace maniple
