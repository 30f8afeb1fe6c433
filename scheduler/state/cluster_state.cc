// Objects that come and go, and room that is kept.
#include "scheduler/state/cluster_state.h"

#include <utility>

#include "api/base/sort_unique.h"
#include "api/gpu/gpu_resource.h"
#include "scheduler/state/cluster_state_impl.h"
#include "scheduler/state/node_label_keys.h"

namespace maniple {

void ClusterState::Impl::Upsert(const Node& node, Delta& delta) {
  if (node.meta.name.empty()) return;  // no server has such a node
  std::vector<std::string> names;
  for (const ResourceAmount& entry : node.allocatable) names.push_back(entry.resource);
  NumberResources(names);
  hyper_nodes_.PutNode(node.meta.name, node.meta.labels);
  const NodeTable::Change change = nodes_.Upsert(node, hyper_nodes_.LabelsOf(node.meta.name));
  if (change.facts_changed) delta.nodes_changed.insert(change.node);
  if (change.lost) delta.nodes_lost = true;
  if (change.room_grew) delta.room_grew.insert(change.node);
  delta.nodes_grew = delta.nodes_grew || change.room_grew;
  if (change.appeared) {
    pods_.NodeAppeared(change.node, delta);
    nodes_.SetAttachLimits(change.node, LimitsOf(change.node));  // which count the pods there
  }
}

void ClusterState::Impl::ForEachRoom(absl::FunctionRef<void(NodeId, ShapeId)> visit) const {
  pods_.ForEachCharge([&](NodeId node, ShapeId shape, bool) { visit(node, shape); });
  for (const auto& [id, room] : holds_) visit(room.node, room.shape);
}

void ClusterState::Impl::NumberResources(const std::vector<std::string>& names) {
  std::vector<std::string> fresh;
  for (const std::string& name : names) {
    if (!shapes_.NodeResource(name).has_value()) fresh.push_back(name);
  }
  if (fresh.empty()) return;
  UsedIds asking;
  for (const ShapeId shape : shapes_.AskingFor(fresh)) asking.Note(shape);
  const auto charge = [&](NodeBlock::Change change) {
    ForEachRoom([&](NodeId node, ShapeId shape) {
      if (asking.Has(shape)) nodes_.Charge(node, shapes_.Of(shape), change);
    });
  };
  charge(NodeBlock::Change::kGiveAmounts);
  shapes_.NumberForNodes(fresh);
  charge(NodeBlock::Change::kTakeAmounts);
}

// GPUs of a running pod that its node does not report, or no longer reports, are in use.
void ClusterState::Impl::NumberGpusOf(const Pod& pod) {
  if (pod.node_name.empty() || pod.phase == PodPhase::kPending) return;
  if (pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed) return;
  // Any user may have made a name up, and numbers are for what nodes have.
  constexpr size_t kMostOfPod = 8;
  std::vector<std::string> names;
  for (const ResourceAmount& request : pod.constraints.requests) {
    if (names.size() == kMostOfPod || shapes_.is_half_full()) break;
    if (shapes_.NodeResource(request.resource).has_value()) continue;
    if (GpuResourceOf(request.resource).has_value()) names.push_back(request.resource);
  }
  NumberResources(names);
}

void ClusterState::Impl::RemoveNode(NodeId node, Delta& delta) {
  const std::vector<PodId> left = pods_.LeaveNode(node);
  for (auto it = holds_.begin(); it != holds_.end();) {
    if (it->second.node == node) {
      nodes_.Charge(node, shapes_.Of(it->second.shape), NodeBlock::Change::kGivePromised);
      holds_changed_ = true;
      it = holds_.erase(it);
    } else {
      ++it;
    }
  }
  hyper_nodes_.RemoveNode(nodes_.NameOf(node));
  nodes_.Remove(node);
  pods_.SettleAfterNode(left, delta);
  delta.nodes_changed.erase(node);
  delta.room_grew.erase(node);
  delta.nodes_gone.push_back(node);
}

void ClusterState::Impl::FollowVolumes(Delta& delta) {
  pods_.FollowVolumes(delta);
  if (volumes_.free_volumes_changed()) delta.volumes_changed = true;
  FollowLimits(delta);
}

void ClusterState::Impl::FollowLimits(Delta& delta) {
  for (const std::string& name : volumes_.TakeStaleLimits()) {
    const std::optional<NodeId> node = nodes_.Find(name);
    if (node.has_value() && nodes_.SetAttachLimits(*node, LimitsOf(*node))) {
      delta.room_grew.insert(*node);
    }
  }
}

std::vector<NodeAttachments> ClusterState::Impl::LimitsOf(NodeId node) const {
  return volumes_.LimitsOf(nodes_.NameOf(node),
                           [&](PodId pod) { return pods_.TakesRoomOn(pod, node); });
}

// ---- objects that configure us

void ClusterState::Impl::Upsert(const Namespace& object, Delta& delta) {
  gangs_.SetNamespaceQueue(object.meta.name, object.meta.labels.Get(kDefaultQueueLabel), delta);
  SetNamespaceLabels(object.meta.name, object.meta.labels, delta);
  delta.queues_changed = true;
}

void ClusterState::Impl::SetNamespaceLabels(absl::string_view name,
                                            const std::optional<StringMap>& labels, Delta& delta) {
  pods_.NamespaceChanged(name, queries_.SetNamespaceLabels(name, labels), delta);
}

void ClusterState::Impl::Upsert(const PriorityClass& object, Delta& delta) {
  gangs_.SetClass(object.meta.name,
                  GangRules::ClassFacts{.value = object.value, .preempts = object.preempts}, delta);
  delta.queues_changed = true;
}

void ClusterState::Impl::RemoveConfiguration(const ObjectKey& key, Delta& delta) {
  if (key.kind == ResourceKind::kNamespace) {
    gangs_.SetNamespaceQueue(key.name, "", delta);
    SetNamespaceLabels(key.name, std::nullopt, delta);
  } else if (key.kind == ResourceKind::kPriorityClass) {
    gangs_.SetClass(key.name, std::nullopt, delta);
  } else if (key.kind == ResourceKind::kTopology) {
    topologies_.erase(key.name);
    PublishTopologies(delta);
  } else {
    return;  // the loop keeps the objects of quota itself
  }
  delta.queues_changed = true;
}

void ClusterState::Impl::Upsert(const ForeignObject& object, Delta& delta) {
  if (object.hyper_node != nullptr) return UpsertHyperNode(object, delta);
  producers_.Upsert(object, pods_.producers_changed());
  FollowProducers(delta);
}

void ClusterState::Impl::Apply(const KindServed& event, Delta& delta) {
  const auto kind = static_cast<size_t>(event.kind);
  if (event.state != ServedState::kServed && kind < synced_.size()) synced_[kind] = true;
  producers_.SetServed(event, pods_.producers_changed());
  FollowProducers(delta);
}

void ClusterState::Impl::Apply(const ObjectDeleted& event, Delta& delta) {
  Withdraw({.key = event.key, .uid = event.uid}, delta);
}

void ClusterState::Impl::Apply(const ObjectInvalid& event, Delta& delta) {
  Withdraw({.key = event.key, .uid = event.uid, .refused = &event}, delta);
}

bool ClusterState::Impl::HasNode(absl::string_view pod_uid) const {
  const std::optional<PodId> pod = pods_.WithUid(pod_uid);
  if (!pod.has_value()) return false;
  const PodFacts& facts = *pods_.Find(*pod);
  return facts.node.valid() || facts.reserved.valid() || facts.is_awaited;
}

void ClusterState::Impl::Withdraw(const Withdrawal& what, Delta& delta) {
  const ObjectKey& key = what.key;
  if (IsForeign(key.kind)) return WithdrawForeign(what, delta);
  switch (key.kind) {
    case ResourceKind::kPod:
      // One that cannot be read takes the place of any that had its name; who has a node goes on
      // using it.
      if (what.refused != nullptr && HasNode(what.uid)) return;
      pods_.Remove(key.namespace_name, key.name, what.refused != nullptr ? "" : what.uid, delta);
      FollowProducers(delta);
      FollowVolumes(delta);
      return;
    case ResourceKind::kNode:
      if (const std::optional<NodeId> node = nodes_.Find(key.name)) {
        WithdrawNode(*node, what, delta);
      }
      return;
    case ResourceKind::kPodGroup: {
      const GangKey group{.namespace_name = key.namespace_name, .name = key.name};
      if (what.refused != nullptr) {
        gangs_.RefuseGroup(group, what.uid, what.refused->problem, delta);
      } else {
        gangs_.RemoveGroup(group, what.uid, delta);
      }
      return;
    }
    case ResourceKind::kPodDisruptionBudget:
      what.refused != nullptr ? budgets_.Refuse(key, delta) : budgets_.Remove(key, delta);
      return;
    case ResourceKind::kPersistentVolumeClaim:
    case ResourceKind::kPersistentVolume:
    case ResourceKind::kStorageClass:
    case ResourceKind::kCsiNode:
    case ResourceKind::kCsiDriver:
    case ResourceKind::kCsiStorageCapacity:
    case ResourceKind::kVolumeAttachment:
      what.refused != nullptr ? volumes_.Refuse(key) : volumes_.Remove(key);
      FollowVolumes(delta);
      return;
    case ResourceKind::kNamespace:
    case ResourceKind::kPriorityClass:
    case ResourceKind::kQueue:
    case ResourceKind::kCohort:
    case ResourceKind::kResourceFlavor:
    case ResourceKind::kTopology:
      RemoveConfiguration(key, delta);
      return;
  }
}

void ClusterState::Impl::WithdrawForeign(const Withdrawal& what, Delta& delta) {
  if (IsHyperNode(what.key.kind)) {
    if (what.refused != nullptr) return RefuseHyperNode(*what.refused, delta);
    return RemoveHyperNode(what.key.name, what.uid, delta);
  }
  if (what.refused != nullptr) {
    producers_.Refuse(*what.refused, pods_.producers_changed());
  } else {
    producers_.Remove(what.key, what.uid, pods_.producers_changed());
  }
  FollowProducers(delta);
}

// A node that cannot be read keeps its pods, and gets no more.
void ClusterState::Impl::WithdrawNode(NodeId node, const Withdrawal& what, Delta& delta) {
  if (what.refused != nullptr) {
    delta.nodes_changed.insert(nodes_.Disable(node).node);
    delta.nodes_lost = true;
    return;
  }
  // A late event about a node whose name another one has taken since changes nothing.
  const absl::string_view uid = nodes_.UidOf(node);
  if (what.uid.empty() || uid.empty() || what.uid == uid) RemoveNode(node, delta);
}

// ---- room kept by us

HoldId ClusterState::Impl::Hold(NodeId node, ShapeId shape) {
  CHECK(nodes_.Has(node)) << "holding room on a node that is gone";
  const HoldId hold(next_hold_++);
  holds_.emplace(hold, HeldRoom{.hold = hold, .node = node, .shape = shape});
  holds_changed_ = true;
  nodes_.Charge(node, shapes_.Of(shape), NodeBlock::Change::kTakePromised);
  return hold;
}

void ClusterState::Impl::ReleaseHold(HoldId hold, Delta& delta) {
  const auto it = holds_.find(hold);
  if (it == holds_.end()) return;
  nodes_.Charge(it->second.node, shapes_.Of(it->second.shape), NodeBlock::Change::kGivePromised);
  delta.room_grew.insert(it->second.node);
  holds_changed_ = true;
  holds_.erase(it);
}

std::vector<const PodShape*> ClusterState::Impl::HeldOn(NodeId node) const {
  std::vector<const PodShape*> held;
  for (const auto& [id, hold] : holds_) {
    if (hold.node == node) held.push_back(&shapes_.Of(hold.shape));
  }
  return held;
}

void ClusterState::Impl::PublishFreeVolumes() {
  std::optional<std::vector<FreeVolume>> free = volumes_.TakeFreeVolumes();
  if (!free.has_value() || *free == *draft_.tables.free_volumes) return;
  draft_.tables.free_volumes = std::make_shared<const std::vector<FreeVolume>>(*std::move(free));
  draft_.changed = true;
  TrackLabelsOfFreeVolumes();
}

void ClusterState::Impl::TrackLabelsOfFreeVolumes() {
  std::vector<std::string> keys;
  for (const FreeVolume& volume : *draft_.tables.free_volumes) {
    if (!volume.where.has_value()) continue;
    for (std::string& key : LabelKeysOf(*volume.where)) keys.push_back(std::move(key));
  }
  SortUnique(keys);
  nodes_.TrackLabels(keys);
}

}  // namespace maniple
