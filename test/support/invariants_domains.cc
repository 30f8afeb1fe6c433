// What a gang asks of racks and NVLink domains holds for whatever is placed of it.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "queue/assembly.h"
#include "test/support/invariants.h"

namespace maniple::invariants {
namespace {

constexpr char kNvlinkLabel[] = "nvidia.com/gpu.clique";

// The labels whose values name a domain of the level; none: nothing of this name is known.
std::optional<std::vector<std::string>> PathOf(const TurnFacts& facts,
                                               const TopologyRequest& request,
                                               const std::string& level) {
  const std::map<std::string, Topology>& all = facts.told.topologies;
  auto topology = request.topology_name.empty() && all.size() == 1
                      ? all.begin()
                      : all.find(request.topology_name.empty() ? "default" : request.topology_name);
  std::vector<std::string> path;
  if (topology != all.end()) {
    for (const TopologyLevel& known : topology->second.levels) {
      path.push_back(known.node_label);
      if (known.name == level || known.node_label == level) return path;
    }
  }
  if (level == "nvlink" || level == kNvlinkLabel) return std::vector<std::string>{kNvlinkLabel};
  return std::nullopt;
}

// "" when the node is in none.
std::string DomainOf(const TurnFacts& facts, const std::string& node,
                     const std::vector<std::string>& path) {
  const auto known = facts.told.nodes.find(node);
  if (known == facts.told.nodes.end()) return "";
  std::string domain;
  for (const std::string& label : path) {
    const absl::string_view value = known->second.meta.labels.Get(label);
    if (value.empty()) return "";
    absl::StrAppend(&domain, value, "/");
  }
  return domain;
}

// Members that have to be in one domain of the level, by what binds them together.
using Bound = std::map<std::string, std::vector<std::pair<std::string, std::string>>>;

void CheckTogether(const TurnFacts& facts, const TopologyRequest& request, const std::string& level,
                   const Bound& bound, Violations& found) {
  const auto path = PathOf(facts, request, level);
  if (!path.has_value()) return;
  for (const auto& [what, members] : bound) {
    const std::string first = DomainOf(facts, members.front().second, *path);
    for (const auto& [pod, node] : members) {
      const std::string domain = DomainOf(facts, node, *path);
      if (!domain.empty() && domain == first) continue;
      found.push_back(absl::StrCat("DomainsHold: ", pod, " was placed on ", node, ", in \"", domain,
                                   "\" of ", level, ", and ", members.front().first, " of ", what,
                                   " in \"", first, "\""));
    }
  }
}

void CheckItem(const TurnFacts& facts, const PlacedItem& item, Violations& found) {
  const auto group = facts.told.groups.find(item.gang);
  if (group == facts.told.groups.end()) return;
  const PodGroupSpec& spec = group->second.spec;
  Bound all;
  std::map<size_t, Bound> sub_groups, slices;  // by sub-group; behind the last: of none
  for (const auto& [key, node] : item.node_of) {
    const auto pod = facts.told.pods.find(key);
    if (pod == facts.told.pods.end()) continue;
    const StringMap& labels = pod->second.meta.labels;
    const Rank rank = RankOf(labels, labels.Get(kSubGroupLabel), spec);
    const auto part = static_cast<size_t>(rank.sub_group);
    const bool own = part < spec.sub_groups.size();
    all["the gang"].emplace_back(key, node);
    if (own) sub_groups[part]["the sub-group"].emplace_back(key, node);
    const bool own_slices = own && spec.sub_groups[part].topology.slice_size > 0;
    const int32_t size =
        own_slices ? spec.sub_groups[part].topology.slice_size : spec.topology.slice_size;
    if (size == 0 || rank.index < 0) continue;
    const std::string slice =
        absl::StrCat("slice ", rank.sub_group, "/", rank.job, "/", rank.index / size);
    slices[own_slices ? part : spec.sub_groups.size()][slice].emplace_back(key, node);
  }
  if (!spec.topology.required.empty()) {
    CheckTogether(facts, spec.topology, spec.topology.required, all, found);
  }
  for (const auto& [part, bound] : sub_groups) {
    const TopologyRequest& topology = spec.sub_groups[part].topology;
    if (topology.required.empty()) continue;
    CheckTogether(facts, topology, topology.required, bound, found);
  }
  for (const auto& [part, bound] : slices) {
    const TopologyRequest& topology =
        part < spec.sub_groups.size() ? spec.sub_groups[part].topology : spec.topology;
    CheckTogether(facts, topology, topology.slice_level, bound, found);
  }
}

}  // namespace

Violations DomainsHold(const TurnFacts& facts) {
  Violations found;
  for (const PlacedItem& item : facts.placed) CheckItem(facts, item, found);
  return found;
}

}  // namespace maniple::invariants
