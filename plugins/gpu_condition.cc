// GpuCondition: pods that ask for GPUs, or slices of them, keep off four kinds of nodes.
// Their GPUs are being repartitioned, get another driver, have invalid slices, or failed their last
// change where the configuration says to skip such nodes.
//
// Such a node may still report its GPUs, and its labels may be unchanged.
// Running pods are not asked about: a bound or reserved pod stays.
#include "plugins/factories.h"

namespace maniple {
namespace {

Verdict VerdictOn(GpuCondition condition) {
  const ReasonId reason = ReasonOf(condition);
  if (reason == kReasonNone) return {};
  const bool passes =
      condition == GpuCondition::kRepartitioned || condition == GpuCondition::kDriverUpgrade;
  return {.code = passes ? Code::kWait : Code::kUnresolvable, .reason = {.id = reason}};
}

class BoundGpuCondition final : public NodeFilter {
 public:
  explicit BoundGpuCondition(const Tables& tables) : tables_(tables) {}

  FilterScope scope() const override { return FilterScope::kNodeClass; }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    const NodeClassId id = node.block.rows().classes[node.row];
    return VerdictOn(tables_.classes[id.index()]->gpus.condition);
  }

 private:
  const Tables& tables_;
};

class GpuConditionFilter final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "GpuCondition"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    // All of these conditions pass, by themselves or by an operator's hand.
    if (!shape.wants_gpu || cycle.question == Question::kEver) return nullptr;
    return std::make_unique<BoundGpuCondition>(*cycle.snapshot.tables);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeGpuCondition() {
  return std::make_unique<GpuConditionFilter>();
}

}  // namespace maniple
