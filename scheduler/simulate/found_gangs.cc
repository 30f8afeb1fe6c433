#include "scheduler/simulate/found_gangs.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "scheduler/replay/known_ends.h"

namespace maniple {

FoundGangs::FoundGangs(const std::vector<Json>& cluster, const ClusterView& view) {
  absl::flat_hash_set<std::string> placed;  // or ended
  for (const Json& object : cluster) {
    const bool pod = object["kind"].AsString() == "Pod";
    if (pod && !object["spec"]["nodeName"].AsString().empty()) placed.insert(KeyOf(object));
  }
  for (const GangView& gang : view.gangs) {
    std::vector<std::string> waits;
    for (const GangMemberView& member : gang.pods) {
      std::string pod = absl::StrCat(gang.namespace_name, "/", member.pod);
      if (!placed.contains(pod)) waits.push_back(std::move(pod));
    }
    const auto pods = static_cast<int64_t>(gang.pods.size());
    const int64_t quorum = std::max<int64_t>(gang.min_member, 1);
    const int64_t lacking = quorum - (pods - static_cast<int64_t>(waits.size()));
    if (waits.empty() || lacking <= 0) continue;
    for (std::string& pod : waits) of_pod_.emplace(std::move(pod), gangs_.size());
    gangs_.push_back({.name = absl::StrCat(gang.namespace_name, "/", gang.name),
                      .queue = gang.queue,
                      .pods = pods});
    lacking_.push_back(lacking);
    ++waiting_;
  }
}

void FoundGangs::NoteBound(const std::string& pod, absl::Duration at) {
  const auto it = of_pod_.find(pod);
  if (it == of_pod_.end()) return;
  const size_t gang = it->second;
  of_pod_.erase(it);
  if (--lacking_[gang] != 0) return;
  gangs_[gang].started = at;
  --waiting_;
}

}  // namespace maniple
