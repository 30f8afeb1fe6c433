// The counts of pods that members of the gang at hand add to.
//
// For the length of a decision; const once made.
//
//   const MemberPodCounts all(*snapshot.tables, shapes);     // once for the gang
//   const GangPodCounts counts(cycle, shape);                // for each of its shapes
#pragma once

#include <cstdint>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "plugins/framework/filter.h"
#include "plugins/framework/snapshot.h"

namespace maniple {

class MemberPodCounts final {
 public:
  // `shapes`: the distinct ones of the members.
  MemberPodCounts(const Tables& tables, std::span<const ShapeId> shapes);

  [[nodiscard]] bool Has(ShapeId shape) const { return shapes_.contains(shape); }
  // How many of the shapes add to it.
  [[nodiscard]] int32_t ShapesThatAdd(PodCountId count) const;

 private:
  absl::flat_hash_set<ShapeId> shapes_;
  absl::flat_hash_map<PodCountId, int32_t> adding_;
};

class GangPodCounts final {
 public:
  // Borrows both for its life.
  GangPodCounts(const CycleInput& cycle, const PodShape& shape);

  // Some member adds to the count; one of the shape; one of another shape.
  [[nodiscard]] bool Write(PodCountId count) const { return OwnWrite(count) || OthersWrite(count); }
  [[nodiscard]] bool OwnWrite(PodCountId count) const;
  [[nodiscard]] bool OthersWrite(PodCountId count) const;

 private:
  const PodShape& shape_;
  const MemberPodCounts* members_;  // null: the shape is the only one
  bool is_member_;
};

}  // namespace maniple
