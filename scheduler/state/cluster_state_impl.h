// The inside of ClusterState, shared by its sources: cluster_state.cc (objects that come and go),
// cluster_state_places.cc (which nodes are close to each other), cluster_state_sweep.cc (what is
// given back, what is published, what must hold) and cluster_state_face.cc.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/btree_map.h"
#include "scheduler/state/cluster_state.h"
#include "scheduler/state/gang_table.h"
#include "scheduler/state/hyper_node_tree.h"
#include "scheduler/state/node_table.h"
#include "scheduler/state/observed_mix.h"
#include "scheduler/state/pod_table.h"
#include "scheduler/state/shape_table.h"
#include "scheduler/state/volume_table.h"

namespace maniple {

class ClusterState::Impl final {
 public:
  explicit Impl(ClusterStateOptions options)
      : options_(std::move(options)),
        queries_(labels_),
        shapes_(draft_, options_.gpus, queries_),
        nodes_(draft_, shapes_, options_.gpus),
        gangs_(options_.default_queue),
        budgets_(labels_),
        mix_(shapes_, draft_, ModelsOfNodes()),
        producers_(options_.producers),
        pods_(options_.scheduler_names, {.shapes = shapes_,
                                         .nodes = nodes_,
                                         .gangs = gangs_,
                                         .budgets = budgets_,
                                         .mix = mix_,
                                         .volumes = volumes_,
                                         .labels = labels_,
                                         .queries = queries_,
                                         .producers = producers_,
                                         .counters = counters_}),
        synced_(kResourceKinds + options_.producers.kinds.size()) {
    draft_.tables.nvlink_labels = options_.nvlink_domain_labels;
    nodes_.TrackColumns(options_.nvlink_domain_labels);
  }

  void Apply(const ObjectUpserted& event, Delta& delta) {
    std::visit([&](const auto& object) { Upsert(object, delta); }, event.object);
  }
  void Apply(const ObjectDeleted& event, Delta& delta);
  void Apply(const ObjectInvalid& event, Delta& delta);
  void Apply(const KindSynced& event, Delta&) {
    const auto kind = static_cast<size_t>(event.kind);
    if (kind < synced_.size()) synced_[kind] = true;
  }
  void Apply(const KindServed& event, Delta& delta);

  SnapshotPtr Publish();
  [[nodiscard]] bool WantsSweep() const;
  void Sweep(std::span<const ShapeId> kept);
  HoldId Hold(NodeId node, ShapeId shape);
  void ReleaseHold(HoldId hold, Delta& delta);
  [[nodiscard]] std::vector<const PodShape*> HeldOn(NodeId node) const;

  NodeTable& nodes() { return nodes_; }
  const NodeTable& nodes() const { return nodes_; }
  GangTable& gangs() { return gangs_; }
  const GangTable& gangs() const { return gangs_; }
  const ShapeTable& shapes() const { return shapes_; }
  PodTable& pods() { return pods_; }
  const PodTable& pods() const { return pods_; }
  const BudgetTable& budgets() const { return budgets_; }
  VolumeTable& volumes() { return volumes_; }
  const VolumeTable& volumes() const { return volumes_; }
  ObservedMix& mix() { return mix_; }
  // After pods with volumes came to a node or left it: what is attached there is theirs, or is not.
  void FollowLimits(Delta& delta);
  bool Synced(ResourceKind kind) const { return synced_.at(static_cast<size_t>(kind)); }
  bool AllSynced() const {
    return std::all_of(synced_.begin(), synced_.end(), [](bool synced) { return synced; });
  }
  void KeepRunners(bool keep) { keeps_runners_ = keep; }
  const StateCounters& counters() const { return counters_; }
  absl::Status CheckInvariants() const;

 private:
  // An object is gone, or the server holds one that cannot be used.
  struct Withdrawal {
    const ObjectKey& key;
    absl::string_view uid;
    const ObjectInvalid* refused = nullptr;  // null: it is gone
  };
  void Withdraw(const Withdrawal& what, Delta& delta);
  [[nodiscard]] bool HasNode(absl::string_view pod_uid) const;  // or is on its way to one
  void WithdrawForeign(const Withdrawal& what, Delta& delta);
  void WithdrawNode(NodeId node, const Withdrawal& what, Delta& delta);

  ObservedMix::ModelSource ModelsOfNodes() const {
    const LabelKeys& labels = options_.gpus.product;
    return {.label = labels.empty() ? "" : labels.front(),
            .for_each_gpu = [this](const GpuModels& models, ObservedMix::GpuVisitor visit) {
              nodes_.ForEachGpu(models, visit);
            }};
  }
  void Upsert(const Pod& pod, Delta& delta) {
    NumberGpusOf(pod);
    pods_.Upsert(pod, delta);
    FollowProducers(delta);
    FollowVolumes(delta);
  }
  void Upsert(const Node& node, Delta& delta);
  void Upsert(const Namespace& object, Delta& delta);
  void Upsert(const PriorityClass& object, Delta& delta);
  void Upsert(const PodGroup& object, Delta& delta) { gangs_.UpsertGroup(object, delta); }
  // The loop keeps these itself, in the quota book.
  void Upsert(const Queue&, Delta&) {}
  void Upsert(const Cohort&, Delta&) {}
  void Upsert(const ResourceFlavor&, Delta&) {}
  void Upsert(const Topology& object, Delta& delta);
  void Upsert(const PodDisruptionBudget& object, Delta& delta) { budgets_.Upsert(object, delta); }
  void Upsert(const ForeignObject& object, Delta& delta);
  // The objects of storage.
  template <typename Stored>
  void Upsert(const Stored& object, Delta& delta) {
    volumes_.Upsert(object);
    FollowVolumes(delta);
  }
  // After a change of a storage object, or of a pod.
  void FollowVolumes(Delta& delta);
  [[nodiscard]] std::vector<NodeAttachments> LimitsOf(NodeId node) const;
  void RemoveConfiguration(const ObjectKey& key, Delta& delta);
  void SetNamespaceLabels(absl::string_view name, const std::optional<StringMap>& labels,
                          Delta& delta);

  void FollowProducers(Delta& delta) {
    const bool stay = keeps_runners_ && AllSynced();
    pods_.FollowProducers(stay ? PodTable::Runners::kStay : PodTable::Runners::kMove, delta);
  }
  void RemoveNode(NodeId node, Delta& delta);
  // Takes back room of pods and holds by their present shapes, and charges it by their new ones.
  void NumberResources(const std::vector<std::string>& names);
  void NumberGpusOf(const Pod& pod);
  void ForEachRoom(absl::FunctionRef<void(NodeId, ShapeId)> visit) const;
  [[nodiscard]] UsedIds ShapesInUse(std::span<const ShapeId> kept) const;
  [[nodiscard]] size_t Sweepable() const;
  void TrackLabelsAgain();
  void PublishTopologies(Delta& delta);
  void TrackLevels();
  void UpsertHyperNode(const ForeignObject& object, Delta& delta);
  void RemoveHyperNode(absl::string_view name, absl::string_view uid, Delta& delta);
  void RefuseHyperNode(const ObjectInvalid& event, Delta& delta);
  void FollowHyperNodes(const HyperNodeTree::Change& change, Delta& delta);
  [[nodiscard]] bool IsHyperNode(ResourceKind kind) const;
  void PublishFreeVolumes();
  void TrackLabelsOfFreeVolumes();
  [[nodiscard]] absl::Status CheckRoom() const;
  [[nodiscard]] absl::Status CheckMix() const;
  [[nodiscard]] absl::Status CheckCounts() const;

  ClusterStateOptions options_;
  StateCounters counters_;
  DraftTables draft_;
  PodLabels labels_;
  PodQueries queries_;
  ShapeTable shapes_;
  NodeTable nodes_;
  GangTable gangs_;
  BudgetTable budgets_;
  ObservedMix mix_;
  VolumeTable volumes_;
  GangDirectory producers_;
  PodTable pods_;

  size_t after_sweep_ = 0;  // the number in use then

  uint32_t next_hold_ = 0;
  absl::btree_map<HoldId, HeldRoom> holds_;
  bool holds_changed_ = true;

  absl::btree_map<std::string, Topology> topologies_;
  HyperNodeTree hyper_nodes_;
  absl::btree_map<std::string, std::string> refused_hyper_nodes_;  // by name: why, told in the log
  std::vector<bool> synced_;  // by ResourceKind: listed, or known to be nowhere
  bool keeps_runners_ = true;

  SnapshotPtr published_;
  std::shared_ptr<const Tables> tables_;
  std::shared_ptr<const std::vector<HeldRoom>> held_;
};

}  // namespace maniple
