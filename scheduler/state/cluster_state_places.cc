// Which nodes are close to each other: Topologies, and HyperNodes that make tiers.
#include <algorithm>

#include "api/base/log.h"
#include "api/producers/kinds.h"
#include "plugins/framework/place_label.h"
#include "scheduler/state/cluster_state_impl.h"

namespace maniple {

void ClusterState::Impl::Upsert(const Topology& object, Delta& delta) {
  topologies_[object.meta.name] = object;
  PublishTopologies(delta);
}

// The tiers of HyperNodes are a Topology without a name, the first of all.
void ClusterState::Impl::PublishTopologies(Delta& delta) {
  std::vector<Topology>& all = draft_.tables.topologies;
  all.clear();
  if (std::vector<TopologyLevel> tiers = hyper_nodes_.Levels(); !tiers.empty()) {
    all.emplace_back().levels = std::move(tiers);
  }
  for (const auto& [name, topology] : topologies_) all.push_back(topology);
  draft_.changed = true;
  TrackLevels();
  delta.queues_changed = true;
}

void ClusterState::Impl::TrackLevels() {
  std::vector<std::string> keys;
  for (const Topology& topology : draft_.tables.topologies) {
    for (const TopologyLevel& level : topology.levels) keys.push_back(PlaceLabel(level.node_label));
  }
  nodes_.TrackColumns(keys);
}

bool ClusterState::Impl::IsHyperNode(ResourceKind kind) const {
  const ForeignKinds& kinds = options_.producers.kinds;
  return IsForeign(kind) && ForeignIndex(kind) < kinds.size() &&
         RoleOf(kinds[ForeignIndex(kind)]) == ProducerRole::kHyperNode;
}

void ClusterState::Impl::UpsertHyperNode(const ForeignObject& object, Delta& delta) {
  const auto labels_of = [this](absl::string_view name) {
    const std::optional<NodeId> node = nodes_.Find(name);
    return node.has_value() ? nodes_.LabelsOf(*node) : StringMap();
  };
  const ObjectMeta& meta = object.meta;
  refused_hyper_nodes_.erase(meta.name);
  FollowHyperNodes(hyper_nodes_.Upsert(meta.name, meta.uid, object.hyper_node, labels_of), delta);
}

void ClusterState::Impl::RemoveHyperNode(absl::string_view name, absl::string_view uid,
                                         Delta& delta) {
  refused_hyper_nodes_.erase(name);
  FollowHyperNodes(hyper_nodes_.Remove(name, uid), delta);
}

// Its status may change often: the log tells once why it is left out.
void ClusterState::Impl::RefuseHyperNode(const ObjectInvalid& event, Delta& delta) {
  const std::string& name = event.key.name;
  std::string& told = refused_hyper_nodes_[name];
  if (told != event.problem) LOG(WARNING) << "HyperNode " << name << ": " << event.problem;
  told = event.problem;
  FollowHyperNodes(hyper_nodes_.Remove(name, ""), delta);
}

// To a node it is as if its labels had been edited.
void ClusterState::Impl::FollowHyperNodes(const HyperNodeTree::Change& change, Delta& delta) {
  if (change.levels) PublishTopologies(delta);
  for (const std::string& name : change.nodes) {
    const std::optional<NodeId> node = nodes_.Find(name);
    if (!node.has_value() || !nodes_.SetHyperNodes(*node, hyper_nodes_.LabelsOf(name))) continue;
    delta.nodes_changed.insert(*node);
    delta.nodes_lost = true;
  }
}

}  // namespace maniple
