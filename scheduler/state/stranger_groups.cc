#include "scheduler/state/stranger_groups.h"

namespace maniple {

std::vector<GangKey> StrangerGroups::Note(PodId pod, absl::string_view namespace_name,
                                          absl::string_view group) {
  std::vector<GangKey> changed;
  const auto known = named_.find(pod);
  if (known == named_.end() ? group.empty() : known->second.name == group) return changed;
  if (known != named_.end()) {
    const auto count = count_.find(known->second);
    if (--count->second == 0) {
      changed.push_back(count->first);
      count_.erase(count);
    }
    named_.erase(known);
  }
  if (group.empty()) return changed;
  const GangKey key{.namespace_name = std::string(namespace_name), .name = std::string(group)};
  if (++count_[key] == 1) changed.push_back(key);
  named_.emplace(pod, key);
  return changed;
}

}  // namespace maniple
