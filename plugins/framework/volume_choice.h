// The choice of a free volume for each unbound claim of a pod on a node: the smallest that serves
// it, claims smallest first. Members of a gang that are placed already have taken theirs.
//
// Bound to one snapshot and the storage classes of one shape; const, any thread. Borrows the
// snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "plugins/framework/node_terms.h"
#include "plugins/framework/partial_plan.h"
#include "plugins/framework/snapshot.h"

namespace maniple {

// ORed terms, ready for one snapshot; no term matches nothing.
class BoundTerms final {
 public:
  BoundTerms(const Tables& tables, const NodeTerms& terms);
  [[nodiscard]] bool Matches(const NodeView& node) const;
  [[nodiscard]] bool of_class_only() const;

 private:
  std::vector<BoundTerm> terms_;
};

class VolumeChoice final {
 public:
  using VolumeIndex = uint32_t;                // into the tables' free volumes
  using VolumeSet = std::vector<VolumeIndex>;  // sorted

  VolumeChoice(const Snapshot& snapshot, const std::vector<UnboundClaim>& claims);

  // No claim could have any of the volumes that exist.
  [[nodiscard]] bool empty() const { return on_node_.empty(); }
  // Of the classes in question, that the node reaches; in the order of preference.
  [[nodiscard]] std::span<const VolumeIndex> On(absl::string_view node) const;
  // The volumes that members placed before have taken, one after the other.
  [[nodiscard]] VolumeSet TakenBy(std::span<const PlacedMember> placed) const;
  // The volume for the claim on the node, none of `taken`.
  [[nodiscard]] std::optional<VolumeIndex> Choose(const UnboundClaim& claim, absl::string_view node,
                                                  const VolumeSet& taken) const;
  static void Take(VolumeSet& taken, VolumeIndex volume);
  [[nodiscard]] const FreeVolume& At(VolumeIndex volume) const {
    return (*snapshot_.tables->free_volumes)[volume];
  }

 private:
  void Reach(VolumeIndex volume);

  const Snapshot& snapshot_;
  // By the name of the node, which the snapshot keeps.
  absl::flat_hash_map<absl::string_view, std::vector<VolumeIndex>> on_node_;
  // Nodes by the value of a label that is a column; made when a volume first asks for the column.
  using NodesByValue = absl::flat_hash_map<absl::string_view, std::vector<NodeId>>;
  absl::flat_hash_map<size_t, NodesByValue> by_value_;
};

}  // namespace maniple
