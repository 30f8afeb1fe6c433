// Sweeps of unused entries, publishing, and the invariants.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/state/cluster_state_impl.h"
#include "scheduler/state/node_label_keys.h"

namespace maniple {

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

// First the shapes, then parts that are left without any: each step lets the next find more.
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
  pods_.ForEachCharge([&](NodeId, ShapeId shape, bool) { ++running[shape.index()]; });
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
  std::vector<PodCounts> counted(nodes_.rows()), promised(nodes_.rows());
  pods_.ForEachCharge([&](NodeId node, ShapeId shape, bool nominee) {
    (nominee ? promised : counted)[node.index()].Add(0, shapes_.Of(shape).counts, 1);
  });
  for (const auto& [id, room] : holds_) {
    promised[room.node.index()].Add(0, shapes_.Of(room.shape).counts, 1);
  }
  const auto listed = [](const PodCounts& counts) {
    std::vector<std::pair<PodCountId, int64_t>> all;
    for (const PodCounts::Entry& entry : counts.entries()) {
      all.emplace_back(entry.count, entry.value);
    }
    return all;
  };
  for (uint32_t i = 0; i < nodes_.rows(); ++i) {
    if (nodes_.CountsOn(NodeId(i), false) == listed(counted[i]) &&
        nodes_.CountsOn(NodeId(i), true) == listed(promised[i])) {
      continue;
    }
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

}  // namespace maniple
