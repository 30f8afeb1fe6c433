// Shapes and the names they are made of: resources and host ports, interned into the tables of the
// next snapshot.
//
// Owned by ClusterState; scheduling thread.
#pragma once

#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "plugins/framework/snapshot.h"

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
  ShapeTable(DraftTables& draft, const GpuRules& gpu_rules);

  struct Interned {
    ShapeId id;
    bool is_new = false;
  };
  [[nodiscard]] Interned Intern(const PodConstraints& constraints);
  [[nodiscard]] const PodShape& Of(ShapeId shape) const { return draft_.tables.ShapeOf(shape); }
  // Every resource takes a column, so only so many names are told apart; all further ones are
  // `kBeyondCounting`, which no node has.
  [[nodiscard]] ResourceId Resource(absl::string_view name);
  [[nodiscard]] VolumeDriverId Driver(const std::string& name);

 private:
  struct ByValue {
    bool operator()(const PodConstraints* a, const PodConstraints* b) const { return *a < *b; }
  };

  HostPortId Port(const HostPort& port);
  VolumeUseId Use(const VolumeUse& use);

  DraftTables& draft_;
  const GpuRules& gpu_rules_;
  absl::flat_hash_map<std::string, ResourceId> resources_;
  absl::btree_map<HostPort, HostPortId> ports_;
  absl::btree_map<VolumeUse, VolumeUseId> uses_;
  absl::flat_hash_map<std::string, VolumeDriverId> drivers_;
  absl::btree_map<const PodConstraints*, ShapeId, ByValue> shapes_;  // keys live in the tables
};

// What pods of other schedulers weigh: they are never placed by us, so their selectors do not
// matter.
[[nodiscard]] PodConstraints OccupancyOf(const PodConstraints& constraints);
[[nodiscard]] SharedVolumeNeeds OccupancyOf(const SharedVolumeNeeds& volumes);

// An amount as shapes and nodes count it: not negative, at most kMostAmount.
[[nodiscard]] int64_t Clamped(Amount amount);

}  // namespace maniple
