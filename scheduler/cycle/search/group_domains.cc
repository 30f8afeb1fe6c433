#include "scheduler/cycle/search/group_domains.h"

#include <algorithm>

namespace maniple {

GroupDomains::GroupDomains(const MemberGroups* groups, size_t wants) : groups_of_(wants) {
  if (groups == nullptr) return;
  for (const std::vector<MemberGroup>* some : {&groups->slices, &groups->sub_groups}) {
    for (const MemberGroup& group : *some) {
      if (std::ranges::find(levels_, group.level) == levels_.end()) levels_.push_back(group.level);
      for (const size_t want : group.wants) groups_of_[want].push_back(groups_.size());
      groups_.push_back({.level = group.level,
                         .domain = group.bound_to.value_or(DomainLevel::kOutside),
                         .members = group.bound_to.has_value() ? 1 : 0});
    }
  }
}

bool GroupDomains::Allow(size_t want, NodeId node) const {
  return std::ranges::all_of(groups_of_[want], [&](size_t g) {
    const uint32_t domain = groups_[g].level->DomainOf(node);
    return domain != DomainLevel::kOutside &&
           (groups_[g].members == 0 || groups_[g].domain == domain);
  });
}

void GroupDomains::Join(size_t want, NodeId node) {
  for (const size_t g : groups_of_[want]) {
    groups_[g].domain = groups_[g].level->DomainOf(node);
    ++groups_[g].members;
  }
}

void GroupDomains::Leave(size_t want) {
  for (const size_t g : groups_of_[want]) --groups_[g].members;
}

}  // namespace maniple
