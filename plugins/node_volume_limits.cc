// NodeVolumeLimits: a node attaches only so many volumes of a CSI driver; one volume that several
// pods of the node use counts once.
#include "plugins/factories.h"

#include <algorithm>
#include <vector>

namespace maniple {
namespace {

class BoundVolumeLimits final : public NodeFilter {
 public:
  BoundVolumeLimits(const CycleInput& cycle, const PodShape& shape)
      : tables_(*cycle.snapshot.tables), now_(cycle.question == Question::kNow) {
    for (const VolumeUseId use : shape.volume_uses) {
      const Tables::VolumeUseFacts& facts = tables_.volume_uses[use.index()];
      if (facts.use.kind != VolumeUseKind::kAttached) continue;
      auto at = std::find_if(asks_.begin(), asks_.end(),
                             [&facts](const Ask& ask) { return ask.driver == facts.driver; });
      if (at == asks_.end()) at = asks_.insert(at, {.driver = facts.driver});
      if (IsPrivate(use)) {
        ++at->own;
      } else {
        at->shared.push_back(use);
      }
    }
  }

  [[nodiscard]] bool asks() const { return !asks_.empty(); }
  FilterScope scope() const override { return FilterScope::kDynamic; }
  FilterCoupling coupling() const override { return FilterCoupling::kPerNodeCap; }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    for (const Ask& ask : asks_) {
      const std::optional<int64_t> most = LimitOf(node, ask.driver);
      if (!most.has_value() || CapOf(ask, node, *most) > 0) continue;
      return {.code = Code::kUnschedulable, .reason = {.id = kReasonAttachLimit}};
    }
    return {};
  }

  int32_t CapOn(const NodeView& node) const override {
    int32_t cap = kNoCap;
    for (const Ask& ask : asks_) {
      const std::optional<int64_t> most = LimitOf(node, ask.driver);
      if (most.has_value()) cap = std::min(cap, CapOf(ask, node, *most));
    }
    return cap;
  }

 private:
  // The volumes of a driver that one pod of the shape attaches.
  struct Ask {
    VolumeDriverId driver;
    int64_t own = 0;                  // that no other pod uses
    std::vector<VolumeUseId> shared;  // one by one
  };

  [[nodiscard]] bool IsPrivate(VolumeUseId use) const {
    return tables_.volume_uses[use.index()].use.name.empty();
  }

  // The limit for pods; volumes that no pod uses pass by themselves.
  [[nodiscard]] std::optional<int64_t> LimitOf(const NodeView& node, VolumeDriverId driver) const {
    const auto& limits = node.block.rows().attach_limits;
    const NodeRows::AttachLimit wanted{.row = node.row, .driver = driver, .most = 0};
    const auto at = std::lower_bound(limits.begin(), limits.end(), wanted);
    if (at == limits.end() || at->row != node.row || at->driver != driver) return std::nullopt;
    return now_ ? at->most - at->unused : at->most;
  }

  [[nodiscard]] int32_t CapOf(const Ask& ask, const NodeView& node, int64_t most) const {
    int64_t attached = 0;
    auto missing = static_cast<int64_t>(ask.shared.size());
    VolumeUseId last;  // equal ones stand together
    for (const NodeBlock::UsedVolume& used : node.block.UsedVolumesOn(node.row)) {
      const Tables::VolumeUseFacts& facts = tables_.volume_uses[used.use.index()];
      if (facts.use.kind != VolumeUseKind::kAttached || facts.driver != ask.driver) continue;
      if (!IsPrivate(used.use) && used.use == last) continue;
      last = used.use;
      ++attached;
      if (std::find(ask.shared.begin(), ask.shared.end(), used.use) != ask.shared.end()) --missing;
    }
    if (ask.own == 0 && missing == 0) return kNoCap;  // all of them are attached already
    const int64_t left = most - attached - missing;
    if (left < ask.own) return 0;
    if (ask.own == 0) return kNoCap;
    return static_cast<int32_t>(std::min<int64_t>(left / ask.own, kNoCap));
  }

  const Tables& tables_;
  const bool now_;
  std::vector<Ask> asks_;
};

class NodeVolumeLimits final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "NodeVolumeLimits"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    if (shape.volume_uses.empty()) return nullptr;
    auto bound = std::make_unique<BoundVolumeLimits>(cycle, shape);
    if (!bound->asks()) return nullptr;
    return bound;
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeNodeVolumeLimits() {
  return std::make_unique<NodeVolumeLimits>();
}

}  // namespace maniple
