#include "scheduler/cycle/topology.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/base/status_macros.h"

namespace maniple {
namespace {

absl::StatusOr<const Topology*> FindTopology(const Tables& tables, const TopologyRequest& request) {
  const auto named = [&tables](absl::string_view name) -> const Topology* {
    for (const Topology& topology : tables.topologies) {
      if (topology.meta.name == name) return &topology;
    }
    return nullptr;
  };
  const Topology* found = nullptr;
  if (!request.topology_name.empty()) {
    found = named(request.topology_name);
    if (found == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "spec.topology.topologyName: there is no Topology \"", request.topology_name, "\""));
    }
    return found;
  }
  found = tables.topologies.size() == 1 ? &tables.topologies.front() : named("default");
  if (found == nullptr) {
    const std::string& level = !request.required.empty()    ? request.required
                               : !request.preferred.empty() ? request.preferred
                                                            : request.slice_level;
    return absl::InvalidArgumentError(
        absl::StrCat("spec.topology: the level \"", level,
                     "\" is unknown: no Topology is the only one or named \"default\""));
  }
  return found;
}

absl::StatusOr<size_t> FindLevel(const Topology& topology, absl::string_view wanted,
                                 absl::string_view field) {
  for (size_t i = 0; i < topology.levels.size(); ++i) {
    const TopologyLevel& level = topology.levels[i];
    if (level.name == wanted || level.node_label == wanted) return i;
  }
  return absl::InvalidArgumentError(absl::StrCat("spec.topology.", field, ": Topology \"",
                                                 topology.meta.name, "\" has no level \"", wanted,
                                                 "\""));
}

absl::Status RefuseWhatIsToCome(const GangRequest& gang) {
  if (gang.topology.slice_size > 0) {
    return absl::UnimplementedError("spec.topology.slice is not supported by this version");
  }
  for (size_t i = 0; i < gang.sub_group_topologies.size(); ++i) {
    if (gang.sub_group_topologies[i] == TopologyRequest{}) continue;
    return absl::UnimplementedError(
        absl::StrCat("spec.subGroups[", i, "].topology is not supported by this version"));
  }
  return absl::OkStatus();
}

// Domains of every level down to `last`, level by level: a domain is its parent and one value more.
class DomainTree final {
 public:
  DomainTree(const Snapshot& snapshot, const Topology& topology)
      : snapshot_(snapshot), topology_(topology) {
    domain_of_.assign(snapshot.order->rank.size(), DomainLevel::kOutside);
    for (const NodeId node : snapshot.order->by_name) domain_of_[node.index()] = 0;
    paths_ = {""};
  }

  // Goes one level down. REQUIRES: there is one.
  void Descend() {
    const std::vector<std::string>& columns = snapshot_.tables->label_columns;
    const auto at =
        std::find(columns.begin(), columns.end(), topology_.levels[depth_++].node_label);
    const auto column = static_cast<size_t>(at - columns.begin());
    absl::flat_hash_map<std::pair<uint32_t, LabelValueId>, uint32_t> ids;
    std::vector<std::string> paths;
    for (const NodeId node : snapshot_.order->by_name) {
      uint32_t& domain = domain_of_[node.index()];
      if (domain == DomainLevel::kOutside) continue;
      const NodeRows& rows = snapshot_.blocks[BlockOf(node)]->rows();
      const LabelValueId value = column < rows.label_columns.size()
                                     ? rows.label_columns[column].values[RowOf(node)]
                                     : LabelValueId();
      if (!value.valid()) {
        domain = DomainLevel::kOutside;
        continue;
      }
      const auto [it, is_new] =
          ids.try_emplace({domain, value}, static_cast<uint32_t>(paths.size()));
      if (is_new) {
        const std::string& parent = paths_[domain];
        paths.push_back(absl::StrCat(parent, parent.empty() ? "" : "/",
                                     snapshot_.tables->label_values[value.index()]));
      }
      domain = it->second;
    }
    paths_ = std::move(paths);
  }

  // The level as it stands, its domains in order of path.
  [[nodiscard]] DomainLevel Level() const {
    std::vector<uint32_t> order(paths_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [this](uint32_t a, uint32_t b) { return paths_[a] < paths_[b]; });
    std::vector<uint32_t> place(order.size());
    DomainLevel level{
        .name = topology_.levels[depth_ - 1].name, .paths = {}, .domain_of = domain_of_};
    for (uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      level.paths.push_back(paths_[order[i]]);
    }
    for (uint32_t& domain : level.domain_of) {
      if (domain != DomainLevel::kOutside) domain = place[domain];
    }
    return level;
  }

 private:
  const Snapshot& snapshot_;
  const Topology& topology_;
  size_t depth_ = 0;
  std::vector<uint32_t> domain_of_;
  std::vector<std::string> paths_;
};

}  // namespace

NodeSet DomainLevel::NodesOf(const Snapshot& snapshot, uint32_t domain) const {
  NodeSet nodes(snapshot.blocks.size());
  for (uint32_t i = 0; i < domain_of.size(); ++i) {
    if (domain_of[i] == domain) nodes[BlockOf(NodeId(i))].Set(RowOf(NodeId(i)));
  }
  return nodes;
}

absl::StatusOr<DomainChoice> ResolveTopology(const Snapshot& snapshot, const GangRequest& gang) {
  DomainChoice choice;
  RETURN_IF_ERROR(RefuseWhatIsToCome(gang));
  const TopologyRequest& request = gang.topology;
  if (request.required.empty() && request.preferred.empty()) return choice;
  ASSIGN_OR_RETURN(const Topology* topology, FindTopology(*snapshot.tables, request));
  // Level numbers grow from broad to narrow.
  size_t broadest = 0;
  std::optional<size_t> narrowest;
  if (!request.required.empty()) {
    ASSIGN_OR_RETURN(broadest, FindLevel(*topology, request.required, "required"));
    narrowest = broadest;
    choice.required = true;
  }
  if (!request.preferred.empty()) {
    ASSIGN_OR_RETURN(const size_t preferred, FindLevel(*topology, request.preferred, "preferred"));
    narrowest = std::max(narrowest.value_or(0), preferred);
  }
  DomainTree tree(snapshot, *topology);
  for (size_t i = 0; i <= *narrowest; ++i) {
    tree.Descend();
    if (i >= broadest) choice.levels.push_back(tree.Level());
  }
  std::reverse(choice.levels.begin(), choice.levels.end());
  return choice;
}

std::optional<uint32_t> DomainOfPinned(const Snapshot& snapshot, const DomainLevel& level,
                                       std::span<const Pinned> pinned) {
  std::optional<uint32_t> common;
  for (const Pinned& member : pinned) {
    if (!snapshot.HasNode(member.node)) continue;
    const uint32_t domain = level.domain_of[member.node.index()];
    if (common.has_value() && *common != domain) return DomainLevel::kOutside;
    common = domain;
  }
  return common;
}

}  // namespace maniple
