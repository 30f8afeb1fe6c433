#include "plugins/framework/gang_pod_counts.h"

#include <algorithm>

namespace maniple {

GangPodCounts::GangPodCounts(const CycleInput& cycle, const PodShape& shape) {
  const auto note = [](const PodShape& member, std::vector<PodCountId>& counts) {
    for (const PodCountChange& change : member.counts) counts.push_back(change.count);
    std::ranges::sort(counts);
  };
  note(shape, own_);
  for (const ShapeId member : cycle.members) {
    if (member != shape.id) note(cycle.snapshot.tables->ShapeOf(member), others_);
  }
}

bool GangPodCounts::IsIn(const std::vector<PodCountId>& counts, PodCountId count) {
  return std::ranges::binary_search(counts, count);
}

}  // namespace maniple
