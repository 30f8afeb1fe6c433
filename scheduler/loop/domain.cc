#include "scheduler/loop/domain.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace maniple {
namespace {

absl::string_view LabelOf(const Snapshot& snapshot, NodeId node, absl::string_view key) {
  if (!snapshot.HasNode(node)) return "";
  const NodeRows& rows = snapshot.blocks[BlockOf(node)]->rows();
  for (const LabelColumn& column : rows.label_columns) {
    if (column.key != key) continue;
    const LabelValueId value = column.values[RowOf(node)];
    return value.valid() ? absl::string_view(snapshot.tables->label_values[value.index()]) : "";
  }
  const NodeClassId node_class = rows.classes[RowOf(node)];
  return snapshot.tables->classes[node_class.index()]->labels.Get(key);
}

// The labels whose values together name a domain of the required level, broadest first.
std::vector<std::string> PathOf(const Tables& tables, const TopologyRequest& topology) {
  const absl::string_view name = topology.topology_name.empty() && tables.topologies.size() != 1
                                     ? absl::string_view("default")
                                     : absl::string_view(topology.topology_name);
  for (const Topology& known : tables.topologies) {
    if (!name.empty() && known.meta.name != name) continue;
    std::vector<std::string> path;
    for (const TopologyLevel& level : known.levels) {
      path.push_back(level.node_label);
      if (level.name == topology.required || level.node_label == topology.required) return path;
    }
  }
  return {topology.required};
}

}  // namespace

bool SameDomain(const Snapshot& snapshot, const TopologyRequest& topology, NodeId a, NodeId b) {
  return std::ranges::all_of(PathOf(*snapshot.tables, topology), [&](const std::string& label) {
    const absl::string_view at_a = LabelOf(snapshot, a, label);
    const absl::string_view at_b = LabelOf(snapshot, b, label);
    return at_a == at_b || at_a.empty() || at_b.empty();
  });
}

}  // namespace maniple
