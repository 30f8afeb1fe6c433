// Shapes and the names they are made of: resources and host ports, interned into the tables of the
// next snapshot.
//
// Owned by ClusterState; scheduling thread.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "plugins/framework/snapshot.h"
#include "scheduler/state/pod_queries.h"
#include "scheduler/state/shape_terms.h"

namespace maniple {

// The tables of the next snapshot, and whether they differ from those of the last.
struct DraftTables {
  Tables tables;
  bool changed = true;
};

inline constexpr uint32_t kMostResources = 1024;
inline constexpr ResourceId kBeyondCounting{kMostResources};

class ShapeTable final {
 public:
  // Borrows both for its life.
  ShapeTable(DraftTables& draft, const GpuRules& gpu_rules, PodQueries& queries);

  struct Interned {
    ShapeId id;
    bool is_new = false;
  };
  using SharedTerms = std::shared_ptr<const OwnTerms>;
  // What pods with these constraints ask of others; null: nothing, or no shape has them yet.
  [[nodiscard]] SharedTerms TermsOf(const PodConstraints& constraints) const;
  // `matches`: sorted, as PodQueries says them of the pod. `own`: their
  // terms; null: they have none.
  [[nodiscard]] Interned Intern(const PodConstraints& constraints, std::vector<PodCountId> matches,
                                SharedTerms own = nullptr);
  // The shape of the same constraints for pods that match these.
  [[nodiscard]] ShapeId WithMatches(ShapeId shape, std::vector<PodCountId> matches);
  [[nodiscard]] const PodShape& Of(ShapeId shape) const { return draft_.tables.ShapeOf(shape); }
  // Every resource takes a column, so only so many names are told apart; all further ones are
  // `kBeyondCounting`, which no node has.
  [[nodiscard]] ResourceId Resource(absl::string_view name);
  [[nodiscard]] VolumeDriverId Driver(const std::string& name);
  [[nodiscard]] absl::string_view ImageName(ImageId image) const { return images_.Name(image); }

 private:
  struct Key {
    const PodConstraints* constraints;
    std::span<const PodCountId> matches;
    // Of equal constraints, first the one that matches nothing.
    friend bool operator<(const Key& a, const Key& b) {
      if (const auto order = *a.constraints <=> *b.constraints; order != 0) return order < 0;
      return std::ranges::lexicographical_compare(a.matches, b.matches);
    }
  };

  HostPortId Port(const HostPort& port);
  VolumeUseId Use(const VolumeUse& use);

  DraftTables& draft_;
  const GpuRules& gpu_rules_;
  PodQueries& queries_;
  absl::flat_hash_map<std::string, ResourceId> resources_;
  absl::btree_map<HostPort, HostPortId> ports_;
  absl::btree_map<VolumeUse, VolumeUseId> uses_;
  absl::flat_hash_map<std::string, VolumeDriverId> drivers_;
  Interner<ImageId> images_;
  absl::btree_map<Key, ShapeId> shapes_;  // keys live in the tables
  std::vector<SharedTerms> own_terms_;    // by shape
};

// What pods of other schedulers weigh and ask of the pods near them: they are never placed by us,
// so their selectors of nodes do not matter.
[[nodiscard]] PodConstraints OccupancyOf(const PodConstraints& constraints);
[[nodiscard]] SharedVolumeNeeds OccupancyOf(const SharedVolumeNeeds& volumes);

// An amount as shapes and nodes count it: not negative, at most kMostAmount.
[[nodiscard]] int64_t Clamped(Amount amount);

}  // namespace maniple
