#include "scheduler/state/cluster_state.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <variant>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "api/gpu/gpu_resource.h"
#include "scheduler/state/gang_table.h"
#include "scheduler/state/node_label_keys.h"
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
        pods_(options_.scheduler_names, {.shapes = shapes_,
                                         .nodes = nodes_,
                                         .gangs = gangs_,
                                         .budgets = budgets_,
                                         .mix = mix_,
                                         .volumes = volumes_,
                                         .labels = labels_,
                                         .queries = queries_,
                                         .counters = counters_}) {
    draft_.tables.nvlink_labels = options_.nvlink_domain_labels;
    nodes_.TrackColumns(options_.nvlink_domain_labels);
  }

  void Apply(const ObjectUpserted& event, Delta& delta) {
    std::visit([&](const auto& object) { Upsert(object, delta); }, event.object);
  }
  void Apply(const ObjectDeleted& event, Delta& delta);
  void Apply(const ObjectInvalid& event, Delta& delta);
  void Apply(const KindSynced& event, Delta&) { synced_[static_cast<size_t>(event.kind)] = true; }

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
  bool Synced(ResourceKind kind) const { return synced_[static_cast<size_t>(kind)]; }
  const StateCounters& counters() const { return counters_; }
  absl::Status CheckInvariants() const;

 private:
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
    pods_.FollowVolumes(delta);
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
  // The objects of storage.
  template <typename Stored>
  void Upsert(const Stored& object, Delta& delta) {
    volumes_.Upsert(object);
    FollowVolumes(object.meta.name, delta);
  }
  // After a change of a storage object of that name.
  void FollowVolumes(absl::string_view name, Delta& delta);
  void RemoveConfiguration(const ObjectKey& key, Delta& delta);
  void SetNamespaceLabels(absl::string_view name, const std::optional<StringMap>& labels,
                          Delta& delta);

  void RemoveNode(NodeId node, Delta& delta);
  // Room that pods and holds take now is given and taken by shapes as they will be.
  void NumberResources(const std::vector<std::string>& names);
  void NumberGpusOf(const Pod& pod);
  void ForEachRoom(absl::FunctionRef<void(NodeId, ShapeId)> visit) const;
  [[nodiscard]] UsedIds ShapesInUse(std::span<const ShapeId> kept) const;
  [[nodiscard]] size_t Sweepable() const;
  void TrackLabelsAgain();
  void PublishTopologies(Delta& delta);
  void TrackLevels();
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
  PodTable pods_;

  size_t after_sweep_ = 0;  // what was in use then

  uint32_t next_hold_ = 0;
  absl::btree_map<HoldId, HeldRoom> holds_;
  bool holds_changed_ = true;

  absl::btree_map<std::string, Topology> topologies_;
  std::array<bool, kResourceKinds> synced_{};

  SnapshotPtr published_;
  std::shared_ptr<const Tables> tables_;
  std::shared_ptr<const std::vector<HeldRoom>> held_;
};

// ---- nodes

void ClusterState::Impl::Upsert(const Node& node, Delta& delta) {
  if (node.meta.name.empty()) return;  // no server has such a node
  std::vector<std::string> names;
  for (const ResourceAmount& entry : node.allocatable) names.push_back(entry.resource);
  NumberResources(names);
  const NodeTable::Change change = nodes_.Upsert(node);
  if (change.facts_changed) delta.nodes_changed.insert(change.node);
  if (change.room_grew) delta.room_grew.insert(change.node);
  if (change.appeared) {
    nodes_.SetAttachLimits(change.node, volumes_.LimitsOf(node.meta.name));
    pods_.NodeAppeared(change.node, delta);
  }
}

void ClusterState::Impl::ForEachRoom(absl::FunctionRef<void(NodeId, ShapeId)> visit) const {
  pods_.ForEachCharge(visit);
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
  charge(NodeBlock::Change::kGiveRoom);
  shapes_.NumberForNodes(fresh);
  charge(NodeBlock::Change::kTakeRoom);
}

// A pod that runs with GPUs which its node does not report, or not any more: they are in use.
void ClusterState::Impl::NumberGpusOf(const Pod& pod) {
  if (pod.node_name.empty() || pod.phase == PodPhase::kPending) return;
  if (pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed) return;
  std::vector<std::string> names;
  for (const ResourceAmount& request : pod.constraints.requests) {
    if (shapes_.NodeResource(request.resource).has_value()) continue;
    if (GpuResourceOf(request.resource).has_value()) names.push_back(request.resource);
  }
  NumberResources(names);
}

void ClusterState::Impl::RemoveNode(NodeId node, Delta& delta) {
  const std::vector<PodId> left = pods_.LeaveNode(node);
  for (auto it = holds_.begin(); it != holds_.end();) {
    if (it->second.node == node) {
      nodes_.Charge(node, shapes_.Of(it->second.shape), NodeBlock::Change::kGiveRoom);
      holds_changed_ = true;
      it = holds_.erase(it);
    } else {
      ++it;
    }
  }
  nodes_.Remove(node);
  pods_.SettleAfterNode(left, delta);
  delta.nodes_changed.erase(node);
  delta.room_grew.erase(node);
  delta.nodes_gone.push_back(node);
}

void ClusterState::Impl::FollowVolumes(absl::string_view name, Delta& delta) {
  pods_.FollowVolumes(delta);
  if (volumes_.free_volumes_changed()) delta.volumes_changed = true;
  // A CSINode has its node's name.
  const std::optional<NodeId> node = nodes_.Find(name);
  if (node.has_value() && nodes_.SetAttachLimits(*node, volumes_.LimitsOf(name))) {
    delta.room_grew.insert(*node);
  }
}

// ---- what configures us

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
                  GangTable::ClassFacts{.value = object.value, .preempts = object.preempts}, delta);
  delta.queues_changed = true;
}

void ClusterState::Impl::Upsert(const Topology& object, Delta& delta) {
  topologies_[object.meta.name] = object;
  PublishTopologies(delta);
}

void ClusterState::Impl::PublishTopologies(Delta& delta) {
  draft_.tables.topologies.clear();
  for (const auto& [name, topology] : topologies_) draft_.tables.topologies.push_back(topology);
  draft_.changed = true;
  TrackLevels();
  delta.queues_changed = true;
}

void ClusterState::Impl::TrackLevels() {
  std::vector<std::string> keys;
  for (const auto& [name, topology] : topologies_) {
    for (const TopologyLevel& level : topology.levels) keys.push_back(level.node_label);
  }
  nodes_.TrackColumns(keys);
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

void ClusterState::Impl::Apply(const ObjectDeleted& event, Delta& delta) {
  const ObjectKey& key = event.key;
  // A late word about an object whose name another has taken since.
  const auto is_older = [&event](absl::string_view uid) {
    return !event.uid.empty() && !uid.empty() && event.uid != uid;
  };
  switch (key.kind) {
    case ResourceKind::kPod:
      pods_.Remove(key.namespace_name, key.name, event.uid, delta);
      pods_.FollowVolumes(delta);
      return;
    case ResourceKind::kNode: {
      const std::optional<NodeId> node = nodes_.Find(key.name);
      if (node.has_value() && !is_older(nodes_.UidOf(*node))) RemoveNode(*node, delta);
      return;
    }
    case ResourceKind::kPodGroup:
      gangs_.RemoveGroup({.namespace_name = key.namespace_name, .name = key.name}, event.uid,
                         delta);
      return;
    case ResourceKind::kPodDisruptionBudget:
      budgets_.Remove(key, delta);
      return;
    case ResourceKind::kPersistentVolumeClaim:
    case ResourceKind::kPersistentVolume:
    case ResourceKind::kStorageClass:
    case ResourceKind::kCsiNode:
    case ResourceKind::kCsiDriver:
    case ResourceKind::kCsiStorageCapacity:
      volumes_.Remove(key);
      FollowVolumes(key.name, delta);
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

void ClusterState::Impl::Apply(const ObjectInvalid& event, Delta& delta) {
  const ObjectKey& key = event.key;
  switch (key.kind) {
    case ResourceKind::kPod:
      pods_.Remove(key.namespace_name, key.name, "", delta);
      pods_.FollowVolumes(delta);
      return;
    case ResourceKind::kNode:
      if (const std::optional<NodeId> node = nodes_.Find(key.name)) {
        delta.nodes_changed.insert(nodes_.Disable(*node).node);
      }
      return;
    case ResourceKind::kPodGroup:
      gangs_.RefuseGroup({.namespace_name = key.namespace_name, .name = key.name}, event.uid,
                         event.problem, delta);
      return;
    case ResourceKind::kPodDisruptionBudget:
      budgets_.Refuse(key, delta);
      return;
    case ResourceKind::kPersistentVolumeClaim:
    case ResourceKind::kPersistentVolume:
    case ResourceKind::kStorageClass:
    case ResourceKind::kCsiNode:
    case ResourceKind::kCsiDriver:
    case ResourceKind::kCsiStorageCapacity:
      volumes_.Refuse(key);
      FollowVolumes(key.name, delta);
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

// ---- room kept by us

HoldId ClusterState::Impl::Hold(NodeId node, ShapeId shape) {
  CHECK(nodes_.Has(node)) << "holding room on a node that is gone";
  const HoldId hold(next_hold_++);
  holds_.emplace(hold, HeldRoom{.hold = hold, .node = node, .shape = shape});
  holds_changed_ = true;
  nodes_.Charge(node, shapes_.Of(shape), NodeBlock::Change::kTakeRoom);
  return hold;
}

void ClusterState::Impl::ReleaseHold(HoldId hold, Delta& delta) {
  const auto it = holds_.find(hold);
  if (it == holds_.end()) return;
  nodes_.Charge(it->second.node, shapes_.Of(it->second.shape), NodeBlock::Change::kGiveRoom);
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
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  nodes_.TrackLabels(keys);
}

// ---- sweeps

size_t ClusterState::Impl::Sweepable() const {
  return shapes_.size() + queries_.size() + nodes_.tracked_labels();
}

bool ClusterState::Impl::WantsSweep() const {
  return options_.sweep_slack == 0 || Sweepable() > 2 * after_sweep_ + options_.sweep_slack;
}

UsedIds ClusterState::Impl::ShapesInUse(std::span<const ShapeId> kept) const {
  UsedIds used;
  pods_.NoteShapes(used);
  for (const auto& [id, room] : holds_) used.Note(room.shape);
  for (const ShapeId shape : kept) used.Note(shape);
  return used;
}

void ClusterState::Impl::TrackLabelsAgain() {
  nodes_.ForgetLabelsOfNoNode();
  shapes_.ForEach([this](const PodShape& shape) {
    nodes_.TrackLabels(LabelKeysOf(shape.constraints));
    nodes_.TrackColumns(TopologyKeysOf(shape.constraints));
  });
  nodes_.TrackColumns(options_.nvlink_domain_labels);
  TrackLevels();
  TrackLabelsOfFreeVolumes();
}

// First the shapes, then what is left without any: each step makes the next find more.
void ClusterState::Impl::Sweep(std::span<const ShapeId> kept) {
  UsedIds used = ShapesInUse(kept);
  mix_.Condense(shapes_, used);
  mix_.ForEachListed([&used](ShapeId shape) { used.Note(shape); });
  nodes_.KeepOnlyImages(shapes_.KeepOnly(std::move(used)));

  const UsedIds counts = shapes_.CountsAskedFor();
  shapes_.MatchOnly(counts);
  nodes_.KeepOnlyCounts(counts);
  queries_.KeepOnly(counts);
  pods_.CountQueriesAgain();

  UsedIds resources = nodes_.ResourcesInUse();
  for (const ResourceId resource : {kPods, kCpu, kMemory}) resources.Note(resource);
  mix_.NoteResources(resources);
  shapes_.KeepOnlyNodeResources(resources);

  TrackLabelsAgain();
  after_sweep_ = Sweepable();
  ++counters_.sweeps;
}

SnapshotPtr ClusterState::Impl::Publish() {
  PublishFreeVolumes();
  std::shared_ptr<const RequestMix> mix = mix_.Renew();
  if (published_ != nullptr && !nodes_.changed() && !draft_.changed && !holds_changed_ &&
      published_->mix == mix) {
    return published_;
  }
  if (draft_.changed) {
    tables_ = std::make_shared<const Tables>(draft_.tables);
    draft_.changed = false;
  }
  if (holds_changed_) {
    std::vector<HeldRoom> held;
    for (const auto& [hold, room] : holds_) held.push_back(room);
    held_ = std::make_shared<const std::vector<HeldRoom>>(std::move(held));
    holds_changed_ = false;
  }
  Snapshot next;
  next.version = published_ == nullptr ? 1 : published_->version + 1;
  next.tables = tables_;
  next.holds = held_;
  next.mix = std::move(mix);
  nodes_.PublishInto(next);
  published_ = std::make_shared<const Snapshot>(std::move(next));
  return published_;
}

// ---- invariants

absl::Status ClusterState::Impl::CheckRoom() const {
  absl::btree_map<std::pair<NodeId, ResourceId>, int64_t> used;
  const auto charge = [&](NodeId node, ShapeId shape) {
    for (const auto& [resource, amount] : shapes_.Of(shape).requests) {
      used[{node, resource}] += amount;
    }
  };
  ForEachRoom(charge);
  for (uint32_t i = 0; i < nodes_.rows(); ++i) {
    for (uint32_t r = 0; r < draft_.tables.resources.size(); ++r) {
      const auto it = used.find({NodeId(i), ResourceId(r)});
      const int64_t taken = it == used.end() ? 0 : it->second;
      const int64_t allocatable = nodes_.Allocatable(NodeId(i), ResourceId(r));
      if (nodes_.Free(NodeId(i), ResourceId(r)) == allocatable - taken) continue;
      return absl::InternalError(
          absl::StrCat("node ", nodes_.NameOf(NodeId(i)), ": ", draft_.tables.resources[r].name,
                       " free ", nodes_.Free(NodeId(i), ResourceId(r)), ", but allocatable ",
                       allocatable, ", taken ", taken));
    }
  }
  return absl::OkStatus();
}

absl::Status ClusterState::Impl::CheckMix() const {
  std::vector<int64_t> running(draft_.tables.shapes.size());
  pods_.ForEachCharge([&](NodeId, ShapeId shape) { ++running[shape.index()]; });
  for (uint32_t i = 0; i < running.size(); ++i) {
    if (!shapes_.Has(ShapeId(i)) || !shapes_.Of(ShapeId(i)).wants_gpu ||
        mix_.running(ShapeId(i)) == running[i])
      continue;
    return absl::InternalError(absl::StrCat("the mix counts ", mix_.running(ShapeId(i)),
                                            " running pods of shape ", i, ", not ", running[i]));
  }
  return absl::OkStatus();
}

absl::Status ClusterState::Impl::CheckCounts() const {
  std::vector<PodCounts> counted(nodes_.rows());
  pods_.ForEachCharge([&](NodeId node, ShapeId shape) {
    counted[node.index()].Add(0, shapes_.Of(shape).counts, 1);
  });
  for (uint32_t i = 0; i < nodes_.rows(); ++i) {
    std::vector<std::pair<PodCountId, int64_t>> truth;
    for (const PodCounts::Entry& entry : counted[i].entries()) {
      truth.emplace_back(entry.count, entry.value);
    }
    if (nodes_.CountsOn(NodeId(i)) == truth) continue;
    return absl::InternalError(
        absl::StrCat("node ", nodes_.NameOf(NodeId(i)), ": its pods are miscounted"));
  }
  return absl::OkStatus();
}

absl::Status ClusterState::Impl::CheckInvariants() const {
  for (const absl::Status& status :
       {pods_.CheckInvariants(), CheckRoom(), CheckMix(), CheckCounts(), nodes_.CheckInvariants(),
        gangs_.CheckInvariants()}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// ---- the face

ClusterState::ClusterState(ClusterStateOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
ClusterState::~ClusterState() = default;

void ClusterState::Apply(const ObjectEvent& event, absl::Time now, Delta& delta) {
  impl_->mix().NoteTime(now);
  std::visit([&](const auto& what) { impl_->Apply(what, delta); }, event);
}
SnapshotPtr ClusterState::Publish() { return impl_->Publish(); }
bool ClusterState::WantsSweep() const { return impl_->WantsSweep(); }
void ClusterState::Sweep(std::span<const ShapeId> kept) { impl_->Sweep(kept); }
void ClusterState::Reserve(PodId pod, NodeId node) { impl_->pods().Reserve(pod, node); }
void ClusterState::Release(PodId pod, Delta& delta) { impl_->pods().Release(pod, delta); }
void ClusterState::NoteBound(PodId pod, absl::string_view node_name, Delta& delta) {
  impl_->pods().NoteBound(pod, node_name, delta);
}
HoldId ClusterState::Hold(NodeId node, ShapeId shape) { return impl_->Hold(node, shape); }
void ClusterState::ReleaseHold(HoldId hold, Delta& delta) { impl_->ReleaseHold(hold, delta); }
void ClusterState::CoolDown(NodeId node, absl::Time until) {
  if (impl_->nodes().Has(node)) impl_->nodes().SetCoolDown(node, until);
}

std::vector<PodCountId> ClusterState::TakeChangedCounts() {
  return impl_->nodes().TakeChangedCounts();
}

const Gang* ClusterState::FindGang(GangId gang) const { return impl_->gangs().Find(gang); }
void ClusterState::SetAdmitted(GangId gang, const std::optional<std::string>& queue, Delta& delta) {
  impl_->gangs().SetAdmitted(gang, queue, delta);
}

void ClusterState::RecallSucceeded(GangId gang) { impl_->gangs().RecallSucceeded(gang); }
std::optional<GangId> ClusterState::GangNamed(const GangKey& key) const {
  return impl_->gangs().Named(key);
}
std::vector<GangId> ClusterState::Gangs() const { return impl_->gangs().All(); }
const PodFacts* ClusterState::FindPod(PodId pod) const { return impl_->pods().Find(pod); }
std::optional<PodId> ClusterState::PodWithUid(absl::string_view uid) const {
  return impl_->pods().WithUid(uid);
}
const GpuFacts& ClusterState::GpusOf(NodeId node) const { return impl_->nodes().GpusOf(node); }
StringMap ClusterState::LabelsOf(NodeId node) const { return impl_->nodes().LabelsOf(node); }
absl::string_view ClusterState::NodeName(NodeId node) const { return impl_->nodes().NameOf(node); }
std::optional<NodeId> ClusterState::NodeNamed(absl::string_view name) const {
  return impl_->nodes().Find(name);
}
bool ClusterState::Synced(ResourceKind kind) const { return impl_->Synced(kind); }
const std::vector<BudgetFacts>& ClusterState::Budgets() const { return impl_->budgets().all(); }
std::vector<uint32_t> ClusterState::BudgetsOf(PodId pod) const {
  const PodFacts* facts = FindPod(pod);
  if (facts == nullptr || !facts->gang.valid()) return {};
  return impl_->budgets().Covering(facts->namespace_name, pod);
}
std::vector<ClaimToBind> ClusterState::ClaimsToBind(PodId pod) const {
  return impl_->volumes().ToBind(pod);
}
ClaimSight ClusterState::SightOf(const ClaimGoal& goal) const {
  return impl_->volumes().SightOf(goal);
}
void ClusterState::AssumeVolume(PodId pod, const std::string& volume) {
  impl_->volumes().Assume(pod, volume);
}
bool ClusterState::ReachesVolumes(PodId pod, NodeId node) const {
  const NodeTable& nodes = impl_->nodes();
  return nodes.Has(node) && impl_->volumes().Reached(pod, nodes.NameOf(node), nodes.LabelsOf(node));
}
std::string ClusterState::VolumeTroubleOf(PodId pod) const {
  return impl_->volumes().TroubleOf(pod);
}
bool ClusterState::MayFit(ShapeId shape, NodeId node) const {
  // Whom room is promised to that the pod may outrank is not asked here.
  if (impl_->pods().AnyNominatedTo(node)) return impl_->nodes().Has(node);
  return impl_->nodes().MayFit(node, impl_->shapes().Of(shape));
}
bool ClusterState::LooksAt(ShapeId shape, std::span<const PodCountId> counts) const {
  const ShapeTerms* terms = impl_->shapes().Of(shape).terms.get();
  return terms != nullptr && std::ranges::any_of(counts, [terms](PodCountId count) {
           return LooksAtCount(*terms, count);
         });
}
ShapeId ClusterState::RoomShapeOf(ShapeId shape) const {
  return impl_->shapes().Of(shape).room_shape;
}
bool ClusterState::AsksOfPods(ShapeId shape) const {
  return impl_->shapes().Of(shape).terms != nullptr;
}
std::vector<PromisedRoom> ClusterState::PromisedBelow(int32_t priority) const {
  return impl_->pods().PromisedBelow(priority);
}
bool ClusterState::StillFits(ShapeId shape, NodeId node, int32_t priority) const {
  std::vector<const PodShape*> yielding = impl_->HeldOn(node);
  for (const PromisedRoom& room : PromisedBelow(priority)) {
    if (room.node == node) yielding.push_back(&impl_->shapes().Of(room.shape));
  }
  return impl_->nodes().StillFits(node, impl_->shapes().Of(shape), yielding);
}
const StateCounters& ClusterState::counters() const { return impl_->counters(); }
absl::Status ClusterState::CheckInvariants() const { return impl_->CheckInvariants(); }

}  // namespace maniple
