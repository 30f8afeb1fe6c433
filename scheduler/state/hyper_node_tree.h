// The HyperNodes that are there, and the labels that they give to nodes: of each tier the HyperNode
// that a node is in.
//
// A node that H selects is in H, and in every HyperNode that has H as a member, and so on. Of two
// HyperNodes of one tier the first by name gives its name. A loop of HyperNodes is a shape like any
// other: each is looked at once. Owned by ClusterState; scheduling thread; pure.
//
//   HyperNodeTree::Change change = tree.Upsert("rack-1", uid, hyper_node, labels_of);
//   for (const std::string& node : change.nodes) Relabel(node, tree.LabelsOf(node));
//
// Invariant: LabelsOf and Levels depend on the objects and nodes that are there, not on the order
// of events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "api/model/hyper_node.h"
#include "api/model/maniple_types.h"
#include "scheduler/state/member_index.h"

namespace maniple {

class HyperNodeTree final {
 public:
  struct Change {
    // Whose labels may have changed; each once, in order. Some may not be there.
    std::vector<std::string> nodes;
    bool levels = false;  // other tiers, or other names of them
  };

  // `labels_of` knows the own labels of every node that was put.
  [[nodiscard]] Change Upsert(absl::string_view name, absl::string_view uid,
                              std::shared_ptr<const HyperNode> object,
                              MemberIndex::LabelSource labels_of);
  // A uid other than the known one speaks of an older object; "" of whichever is there.
  [[nodiscard]] Change Remove(absl::string_view name, absl::string_view uid);

  // With its own labels. Only what is asked of this node may change.
  void PutNode(absl::string_view name, const StringMap& labels);
  void RemoveNode(absl::string_view name);

  // O(HyperNodes above the node).
  [[nodiscard]] StringMap LabelsOf(absl::string_view node) const;
  // One for each tier, broadest first. A level has the first of its tier's names, or the tier's
  // word (kTierWord).
  [[nodiscard]] std::vector<TopologyLevel> Levels() const;

 private:
  struct Known {
    std::string uid;
    std::shared_ptr<const HyperNode> object;
  };
  using NameCounts = absl::btree_map<std::string, int>;  // how many of a tier have which name
  // What the level of the tier is called; "" = the tier's word.
  [[nodiscard]] static absl::string_view NameAmong(const NameCounts& names);
  // All nodes in it and in the HyperNodes below, added to `nodes`.
  void AddNodesUnder(absl::string_view name, MemberIndex::Names& nodes) const;
  // Whether that is another tier, or another name of one.
  bool CountTier(const HyperNode& object, int by);

  absl::flat_hash_map<std::string, Known> known_;  // by name
  MemberIndex nodes_, below_;                      // nodes in HyperNodes; HyperNodes in HyperNodes
  absl::btree_map<int32_t, NameCounts> tiers_;
};

}  // namespace maniple
