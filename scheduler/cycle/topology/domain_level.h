// All domains of one level of a topology, and the domain of each node.
//
// A domain is the whole path of label values down to its level, so the same rack name under two
// blocks is two racks. A node that lacks a label of the path is outside. Immutable once made; any
// thread.
//
//   const DomainLevel racks = LevelOf(snapshot, {.name = "rack", .steps = {{"block"}, {"rack"}}});
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/framework/snapshot.h"

namespace maniple {

struct DomainLevel {
  static constexpr uint32_t kOutside = ~uint32_t{0};

  std::string name;                 // of the level: "rack"
  std::vector<std::string> paths;   // of its domains: "block-1/rack-7"; sorted
  std::vector<uint32_t> domain_of;  // by node index; kOutside = in none

  [[nodiscard]] uint32_t DomainOf(NodeId node) const {
    return node.index() < domain_of.size() ? domain_of[node.index()] : kOutside;
  }
  [[nodiscard]] NodeSet NodesOf(const Snapshot& snapshot, uint32_t domain) const;
};
using DomainLevelPtr = std::shared_ptr<const DomainLevel>;

// The labels that make a domain: each step adds to the path the value of the first of its labels
// that the node has. Two independent dimensions at once are the steps of both.
struct LevelKey {
  std::string name;
  std::vector<std::vector<std::string>> steps;
  friend bool operator==(const LevelKey&, const LevelKey&) = default;
};

[[nodiscard]] DomainLevel LevelOf(const Snapshot& snapshot, const LevelKey& key);

// By node index: its place among nodes in the order of their paths, then of their names. A node
// without a label stands behind those that have it.
using NodeLayout = std::vector<uint32_t>;
[[nodiscard]] NodeLayout LayoutOf(const Snapshot& snapshot, const LevelKey& key);

// Levels that were made for earlier decisions, kept while the nodes and their labels are the same.
// They affect nothing but speed. One thread.
//
// Invariant: its answers equal LevelOf and LayoutOf of the snapshot at hand.
class LevelStore final {
 public:
  [[nodiscard]] DomainLevelPtr Level(const Snapshot& snapshot, const LevelKey& key);
  [[nodiscard]] std::shared_ptr<const NodeLayout> Layout(const Snapshot& snapshot,
                                                         const LevelKey& key);

 private:
  struct Known {
    LevelKey key;
    std::shared_ptr<const NodeOrder> order;
    std::vector<std::weak_ptr<const NodeRows>> rows;  // by block
    DomainLevelPtr level;
    std::shared_ptr<const NodeLayout> layout;
  };
  // The entry for the key, valid for the snapshot; its level and layout may still be null.
  Known& EntryOf(const Snapshot& snapshot, const LevelKey& key);

  std::vector<std::unique_ptr<Known>> known_;  // the one asked for last is first
};

}  // namespace maniple
