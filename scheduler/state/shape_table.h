// Shapes and the names they are made of: resources and host ports, interned into the tables of the
// next snapshot.
//
// Owned by ClusterState; scheduling thread. A shape keeps its number when it is made anew.
// That happens when a resource gets a number of the nodes, or when counts are no longer used.
//
// Invariants:
//   1. A resource has a number of the nodes (IsOnNodes) iff NumberForNodes was told its name, and
//      every shape asks for it by that number; other names have numbers of pods.
//   2. An entry that KeepOnly was not told of has no number, and its number may be used again.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "plugins/framework/snapshot.h"
#include "scheduler/state/pod_queries.h"
#include "scheduler/state/shape_terms.h"
#include "scheduler/state/swept_ids.h"

namespace maniple {

// The tables of the next snapshot, and whether they differ from the last snapshot's.
struct DraftTables {
  Tables tables;
  bool changed = true;
};

// Every resource of the nodes takes a column in every block that has it.
inline constexpr uint32_t kMostResources = 1024;

class ShapeTable final {
 public:
  // Borrows both for its life.
  ShapeTable(DraftTables& draft, const GpuRules& gpu_rules, PodQueries& queries);

  struct Interned {
    ShapeId id;
    bool is_new = false;
  };
  using SharedTerms = std::shared_ptr<const OwnTerms>;
  // The terms of pods with these constraints on others; null: none, or no shape has them yet.
  [[nodiscard]] SharedTerms TermsOf(const PodConstraints& constraints) const;
  [[nodiscard]] const SharedTerms& OwnTermsOf(ShapeId shape) const {
    return own_terms_[shape.index()];
  }
  // `matches`: sorted, as PodQueries gives them for the pod. `own`: the terms of the constraints;
  // null: they have none.
  [[nodiscard]] Interned Intern(const PodConstraints& constraints, std::vector<PodCountId> matches,
                                SharedTerms own = nullptr);
  // The shape of the same constraints for pods that match these.
  [[nodiscard]] ShapeId WithMatches(ShapeId shape, std::vector<PodCountId> matches);
  [[nodiscard]] const PodShape& Of(ShapeId shape) const { return draft_.tables.ShapeOf(shape); }
  // The number that nodes have the resource by; none: NumberForNodes has not given it one.
  [[nodiscard]] std::optional<ResourceId> NodeResource(absl::string_view name) const;
  [[nodiscard]] bool is_half_full() const { return node_resources_.size() >= kMostResources / 2; }
  // From now on nodes may have these; names beyond kMostResources are passed over.
  // REQUIRES: no pod is charged for a shape that asks for one of them.
  void NumberForNodes(const std::vector<std::string>& names);
  // Node resources that `used` does not name become such that only pods ask for.
  // REQUIRES: no node has any of them, and no pod is charged for them.
  void KeepOnlyNodeResources(const UsedIds& used);
  // Shapes that ask for one of the names.
  [[nodiscard]] std::vector<ShapeId> AskingFor(const std::vector<std::string>& names) const;

  // A driver whose volumes some node counts.
  [[nodiscard]] VolumeDriverId DriverOfNode(const std::string& name);
  [[nodiscard]] absl::string_view ImageName(ImageId image) const {
    return image_names_[image.index()];
  }

  [[nodiscard]] bool Has(ShapeId shape) const {
    return shape.index() < draft_.tables.shapes.size() &&
           draft_.tables.shapes[shape.index()] != nullptr;
  }
  [[nodiscard]] size_t size() const { return live_; }
  void ForEach(absl::FunctionRef<void(const PodShape&)> visit) const;
  // For sweeps. Gives back all other shapes, and the parts that only they have, except queries.
  // Returns the images that are left.
  UsedIds KeepOnly(UsedIds used);
  // Counts that some shape's own terms ask for or carry.
  [[nodiscard]] UsedIds CountsAskedFor() const;
  // No shape matches any other counts, from now on.
  void MatchOnly(const UsedIds& counts);

 private:
  struct Key {
    const PodConstraints* constraints;
    std::span<const PodCountId> matches;
    // Among equal constraints, the shape that matches nothing comes first.
    friend bool operator<(const Key& a, const Key& b) {
      if (const auto order = *a.constraints <=> *b.constraints; order != 0) return order < 0;
      return std::ranges::lexicographical_compare(a.matches, b.matches);
    }
  };

  ResourceId Asked(const std::string& name);
  HostPortId Port(const HostPort& port);
  VolumeUseId Use(const VolumeUse& use);
  VolumeDriverId Driver(const std::string& name);
  ImageId Image(const std::string& name);
  void SetRequests(PodShape& shape);
  void SetMatches(PodShape& shape, std::vector<PodCountId> matches);
  // The shape is `made` from now on.
  void Remake(ShapeId shape, std::shared_ptr<const PodShape> made);
  void Unlist(const PodShape& shape);
  void RemakeAskingFor(const std::vector<std::string>& names);

  DraftTables& draft_;
  const GpuRules& gpu_rules_;
  PodQueries& queries_;
  SweptIds<std::string, ResourceId> node_resources_;
  SweptIds<std::string, Id<struct PodResourceTag>> pod_resources_;  // from kFirstPodResource on
  SweptIds<HostPort, HostPortId> ports_;
  SweptIds<VolumeUse, VolumeUseId> uses_;
  SweptIds<std::string, VolumeDriverId> drivers_;
  UsedIds drivers_of_nodes_;
  SweptIds<std::string, ImageId> images_;
  std::vector<std::string> image_names_;  // by image

  // Keys live in the tables. Of shapes that became equal when they were made anew, one is listed.
  absl::btree_map<Key, ShapeId> shapes_;
  std::vector<SharedTerms> own_terms_;  // by shape
  SweptNumbers shape_numbers_;
  size_t live_ = 0;
};

// The room that pods of other schedulers take, and their terms on the pods near them.
// Their selectors of nodes do not matter, since others place them.
[[nodiscard]] PodConstraints OccupancyOf(const PodConstraints& constraints);
[[nodiscard]] SharedVolumeNeeds OccupancyOf(const SharedVolumeNeeds& volumes);

// An amount as shapes and nodes count it: not negative, at most kMostAmount.
[[nodiscard]] int64_t Clamped(Amount amount);

}  // namespace maniple
