// NodeUnschedulable: a cordoned node takes only pods that tolerate the cordon's taint.
#include "plugins/factories.h"

namespace maniple {
namespace {

class BoundUnschedulable final : public NodeFilter {
 public:
  explicit BoundUnschedulable(const Tables& tables) : tables_(tables) {}

  FilterScope scope() const override { return FilterScope::kNodeClass; }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    const NodeClassId id = node.block.rows().classes[node.row];
    if (!tables_.classes[id.index()]->unschedulable) return {};
    return {.code = Code::kUnresolvable, .reason = {.id = kReasonUnschedulable}};
  }

 private:
  const Tables& tables_;
};

class NodeUnschedulable final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "NodeUnschedulable"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    if (cycle.question == Question::kEver) return nullptr;
    const Taint cordon{.key = "node.kubernetes.io/unschedulable", .value = ""};
    if (Tolerates(shape.constraints.tolerations, cordon)) return nullptr;
    return std::make_unique<BoundUnschedulable>(*cycle.snapshot.tables);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeNodeUnschedulable() {
  return std::make_unique<NodeUnschedulable>();
}

}  // namespace maniple
