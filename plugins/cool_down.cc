// CoolDown: a node that has just rejected a pod is left alone for a while.
#include "plugins/factories.h"

#include <algorithm>

namespace maniple {
namespace {

class BoundCoolDown final : public NodeFilter {
 public:
  explicit BoundCoolDown(absl::Time now) : now_(now) {}

  FilterScope scope() const override { return FilterScope::kDynamic; }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    for (const NodeBlock::CoolDown& cool : node.block.cool_downs()) {
      if (cool.row == node.row && cool.until > now_) {
        return {.code = Code::kWait, .reason = {.id = kReasonCoolDown}};
      }
    }
    return {};
  }

  void Narrow(const NodeBlock& block, const PartialPlan&, NodeMask& fits) const override {
    for (const NodeBlock::CoolDown& cool : block.cool_downs()) {
      if (cool.until > now_) fits.Clear(cool.row);
    }
  }

 private:
  absl::Time now_;
};

class CoolDown final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "CoolDown"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape&) const override {
    const auto& blocks = cycle.snapshot.blocks;
    if (std::all_of(blocks.begin(), blocks.end(),
                    [](const auto& block) { return block->cool_downs().empty(); })) {
      return nullptr;
    }
    return std::make_unique<BoundCoolDown>(cycle.now);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeCoolDown() { return std::make_unique<CoolDown>(); }

}  // namespace maniple
