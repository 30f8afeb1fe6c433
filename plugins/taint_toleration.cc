// TaintToleration: every NoSchedule and NoExecute taint of the node needs a toleration.
#include "plugins/factories.h"

#include "absl/strings/match.h"

namespace maniple {
namespace {

// Taints that Kubernetes itself sets for as long as a node is in some state: not-ready,
// unreachable, memory-pressure, …; cloud providers do so while a machine starts or is shut down.
// https://kubernetes.io/docs/reference/labels-annotations-taints/
bool TellsOfCondition(absl::string_view key) {
  return absl::StartsWith(key, "node.kubernetes.io/") ||
         absl::StartsWith(key, "node.cloudprovider.kubernetes.io/");
}

class BoundTaintToleration final : public NodeFilter {
 public:
  BoundTaintToleration(const CycleInput& cycle, const PodShape& shape)
      : tables_(*cycle.snapshot.tables),
        question_(cycle.question),
        tolerations_(shape.constraints.tolerations) {}

  FilterScope scope() const override { return FilterScope::kNodeClass; }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    const NodeClassId id = node.block.rows().classes[node.row];
    for (const Taint& taint : tables_.classes[id.index()]->taints) {
      if (taint.effect == TaintEffect::kPreferNoSchedule || Tolerates(tolerations_, taint))
        continue;
      if (question_ == Question::kEver && TellsOfCondition(taint.key)) continue;
      return {.code = Code::kUnresolvable,
              .reason = {.id = kReasonTaint,
                         .taint = tables_.TaintKey(taint.key).value_or(TaintKeyId())}};
    }
    return {};
  }

 private:
  const Tables& tables_;
  Question question_;
  const std::vector<Toleration>& tolerations_;
};

class TaintToleration final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "TaintToleration"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    return std::make_unique<BoundTaintToleration>(cycle, shape);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeTaintToleration() {
  return std::make_unique<TaintToleration>();
}

}  // namespace maniple
