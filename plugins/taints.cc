#include "plugins/taints.h"

namespace maniple {
namespace {

class BoundTaintToleration final : public NodeFilter {
 public:
  BoundTaintToleration(const Tables& tables, const PodShape& shape)
      : tables_(tables), tolerations_(shape.constraints.tolerations) {}

  FilterScope scope() const override { return FilterScope::kNodeClass; }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    const NodeClassId id = node.block.rows().classes[node.row];
    for (const Taint& taint : tables_.classes[id.index()]->taints) {
      if (taint.effect == TaintEffect::kPreferNoSchedule || Tolerates(tolerations_, taint))
        continue;
      return {.code = Code::kUnresolvable,
              .reason = {.id = kReasonTaint,
                         .taint = tables_.TaintKey(taint.key).value_or(TaintKeyId())}};
    }
    return {};
  }

 private:
  const Tables& tables_;
  const std::vector<Toleration>& tolerations_;
};

class TaintToleration final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "TaintToleration"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    return std::make_unique<BoundTaintToleration>(*cycle.snapshot.tables, shape);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeTaintToleration() {
  return std::make_unique<TaintToleration>();
}

}  // namespace maniple
