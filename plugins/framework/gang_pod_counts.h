// Which counts of pods the members of the gang that is being placed add to.
//
// For the length of a decision; const once made.
#pragma once

#include <vector>

#include "plugins/framework/filter.h"
#include "plugins/framework/snapshot.h"

namespace maniple {

class GangPodCounts final {
 public:
  GangPodCounts(const CycleInput& cycle, const PodShape& shape);

  // Some member adds to it; one of the shape; one of another shape.
  [[nodiscard]] bool Write(PodCountId count) const { return OwnWrite(count) || OthersWrite(count); }
  [[nodiscard]] bool OwnWrite(PodCountId count) const { return IsIn(own_, count); }
  [[nodiscard]] bool OthersWrite(PodCountId count) const { return IsIn(others_, count); }

 private:
  [[nodiscard]] static bool IsIn(const std::vector<PodCountId>& counts, PodCountId count);

  std::vector<PodCountId> own_, others_;  // sorted
};

}  // namespace maniple
