#include "plugins/framework/gang_pod_counts.h"

#include <algorithm>

namespace maniple {

MemberPodCounts::MemberPodCounts(const Tables& tables, std::span<const ShapeId> shapes)
    : shapes_(shapes.begin(), shapes.end()) {
  for (const ShapeId shape : shapes) {
    for (const PodCountChange& change : tables.ShapeOf(shape).counts) ++adding_[change.count];
  }
}

int32_t MemberPodCounts::ShapesThatAdd(PodCountId count) const {
  const auto known = adding_.find(count);
  return known == adding_.end() ? 0 : known->second;
}

GangPodCounts::GangPodCounts(const CycleInput& cycle, const PodShape& shape)
    : shape_(shape),
      members_(cycle.member_counts),
      is_member_(members_ != nullptr && members_->Has(shape.id)) {}

bool GangPodCounts::OwnWrite(PodCountId count) const {
  return std::ranges::binary_search(shape_.counts, count, {}, &PodCountChange::count);
}

bool GangPodCounts::OthersWrite(PodCountId count) const {
  if (members_ == nullptr) return false;
  return members_->ShapesThatAdd(count) > (is_member_ && OwnWrite(count) ? 1 : 0);
}

}  // namespace maniple
