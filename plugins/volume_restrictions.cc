// VolumeRestrictions: disks that only one pod of a node may use, or several that only read;
// and ReadWriteOncePod claims, which one running pod of the cluster may use at a time.
#include "plugins/factories.h"

#include <algorithm>
#include <vector>

#include "plugins/framework/cluster_filter.h"

namespace maniple {
namespace {

bool Names(const PodShape& shape, VolumeUseId use) {
  return std::find(shape.volume_uses.begin(), shape.volume_uses.end(), use) !=
         shape.volume_uses.end();
}

int64_t UsersOn(const NodeBlock& block, VolumeUseId use) {
  return std::count_if(block.used_volumes().begin(), block.used_volumes().end(),
                       [use](const NodeBlock::UsedVolume& used) { return used.use == use; });
}

// A claim that only one pod of the cluster may use.
class ExclusiveClaim final {
 public:
  ExclusiveClaim(const Snapshot& snapshot, VolumeUseId use) : use_(use) {
    for (const auto& block : snapshot.blocks) users_at_first_ += UsersOn(*block, use);
    // A pod to come does not use the room that is held for it yet.
    if (users_at_first_ == 0) return;
    held_ = std::count_if(snapshot.holds->begin(), snapshot.holds->end(), [&](const auto& held) {
      return Names(snapshot.tables->ShapeOf(held.shape), use);
    });
  }

  [[nodiscard]] VolumeUseId use() const { return use_; }
  // Counts users with the placed and freed room in these blocks.
  // Freed room counts as held room as far as there is some: the two cannot be told apart.
  void Count(BlockSpan blocks) {
    int64_t users = 0;
    for (const NodeBlock* block : blocks) users += UsersOn(*block, use_);
    const int64_t freed = std::max<int64_t>(0, users_at_first_ - users);
    in_use_ = users_at_first_ - held_ - std::max<int64_t>(0, freed - held_) > 0;
  }
  [[nodiscard]] bool in_use() const { return in_use_; }

 private:
  VolumeUseId use_;
  int64_t users_at_first_ = 0, held_ = 0;
  bool in_use_ = false;  // by a pod that stands already
};

class BoundVolumeRestrictions final : public ClusterFilter {
 public:
  BoundVolumeRestrictions(const CycleInput& cycle, const PodShape& shape)
      : tables_(*cycle.snapshot.tables), now_(cycle.question == Question::kNow) {
    for (const VolumeUseId use : shape.volume_uses) {
      const VolumeUse& what = tables_.volume_uses[use.index()].use;
      switch (what.kind) {
        case VolumeUseKind::kAttached:
          break;
        case VolumeUseKind::kDisk:
          disks_.push_back(&what.disk);
          break;
        case VolumeUseKind::kExclusive:
          exclusive_.emplace_back(cycle.snapshot, use);
          break;
      }
    }
    for (const Disk* disk : disks_) one_per_node_ = one_per_node_ || Collide(*disk, *disk);
  }

  [[nodiscard]] bool asks() const { return !disks_.empty() || !exclusive_.empty(); }
  FilterScope scope() const override { return FilterScope::kDynamic; }
  FilterCoupling coupling() const override {
    return exclusive_.empty() ? FilterCoupling::kPerNodeCap : FilterCoupling::kShared;
  }

  // The user of such a claim may be anywhere.
  bool looks_around() const override { return now_ && !exclusive_.empty(); }
  void LookAround(BlockSpan blocks) override {
    in_use_ = false;
    for (ExclusiveClaim& claim : exclusive_) {
      claim.Count(blocks);
      in_use_ = in_use_ || claim.in_use();
    }
  }

  Verdict Check(const NodeView& node, const PartialPlan& placed) const override {
    if (DiskIsTaken(node)) {
      return {.code = Code::kUnschedulable, .reason = {.id = kReasonDiskInUse}};
    }
    if (in_use_ || IsPlaced(placed)) {
      return {.code = Code::kUnschedulable, .reason = {.id = kReasonClaimInUse}};
    }
    return {};
  }

  int32_t CapOn(const NodeView& node) const override {
    if (in_use_ || DiskIsTaken(node)) return 0;
    return one_per_node_ || !exclusive_.empty() ? 1 : kNoCap;
  }

 private:
  [[nodiscard]] bool DiskIsTaken(const NodeView& node) const {
    if (disks_.empty()) return false;
    for (const NodeBlock::UsedVolume& used : node.block.UsedVolumesOn(node.row)) {
      const VolumeUse& theirs = tables_.volume_uses[used.use.index()].use;
      if (theirs.kind != VolumeUseKind::kDisk) continue;
      if (std::any_of(disks_.begin(), disks_.end(),
                      [&theirs](const Disk* disk) { return Collide(*disk, theirs.disk); })) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool IsPlaced(const PartialPlan& placed) const {
    if (exclusive_.empty()) return false;
    return std::any_of(placed.placed.begin(), placed.placed.end(), [this](const PlacedMember& m) {
      const PodShape& shape = tables_.ShapeOf(m.shape);
      return std::any_of(
          exclusive_.begin(), exclusive_.end(),
          [&shape](const ExclusiveClaim& claim) { return Names(shape, claim.use()); });
    });
  }

  const Tables& tables_;
  std::vector<const Disk*> disks_;
  std::vector<ExclusiveClaim> exclusive_;
  const bool now_;
  bool in_use_ = false;        // one of the claims
  bool one_per_node_ = false;  // two pods of the shape collide
};

class VolumeRestrictions final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "VolumeRestrictions"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    if (shape.volume_uses.empty()) return nullptr;
    auto bound = std::make_unique<BoundVolumeRestrictions>(cycle, shape);
    if (!bound->asks()) return nullptr;
    return bound;
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeVolumeRestrictions() {
  return std::make_unique<VolumeRestrictions>();
}

}  // namespace maniple
