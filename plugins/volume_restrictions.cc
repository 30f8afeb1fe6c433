#include "plugins/volume_restrictions.h"

#include <algorithm>
#include <vector>

namespace maniple {
namespace {

bool Names(const PodShape& shape, VolumeUseId use) {
  return std::find(shape.volume_uses.begin(), shape.volume_uses.end(), use) !=
         shape.volume_uses.end();
}

// Whether some pod takes it. Room that is held for a pod to come does not.
bool IsUsed(const Snapshot& snapshot, VolumeUseId use) {
  int64_t users = 0;
  for (const auto& block : snapshot.blocks) {
    users += std::count_if(block->used_volumes().begin(), block->used_volumes().end(),
                           [use](const NodeBlock::UsedVolume& used) { return used.use == use; });
  }
  if (users == 0) return false;
  return users >
         std::count_if(snapshot.holds->begin(), snapshot.holds->end(), [&](const HeldRoom& held) {
           return Names(snapshot.tables->ShapeOf(held.shape), use);
         });
}

class BoundVolumeRestrictions final : public NodeFilter {
 public:
  BoundVolumeRestrictions(const CycleInput& cycle, const PodShape& shape)
      : tables_(*cycle.snapshot.tables) {
    for (const VolumeUseId use : shape.volume_uses) {
      const VolumeUse& what = tables_.volume_uses[use.index()].use;
      switch (what.kind) {
        case VolumeUseKind::kAttached:
          break;
        case VolumeUseKind::kDisk:
          disks_.push_back(&what.disk);
          break;
        case VolumeUseKind::kExclusive:
          exclusive_.push_back(use);
          in_use_ = in_use_ || (cycle.question == Question::kNow && IsUsed(cycle.snapshot, use));
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

  Verdict Check(const NodeView& node, const PartialPlan& placed) const override {
    if (DiskIsTaken(node)) {
      return {.code = Code::kUnschedulable, .reason = {.id = kReasonDiskInUse}};
    }
    // Whose leaving would help is not looked for: the one that uses it may be anywhere.
    if (in_use_ || IsPlaced(placed)) {
      return {.code = Code::kUnresolvable, .reason = {.id = kReasonClaimInUse}};
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
      return std::any_of(exclusive_.begin(), exclusive_.end(),
                         [&shape](VolumeUseId use) { return Names(shape, use); });
    });
  }

  const Tables& tables_;
  std::vector<const Disk*> disks_;
  std::vector<VolumeUseId> exclusive_;
  bool in_use_ = false;        // one of the claims, by a pod that stands already
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
