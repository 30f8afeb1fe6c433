// TaintPreference: the fewer untolerated PreferNoSchedule taints, the better.
#include "plugins/factories.h"

#include <algorithm>

namespace maniple {
namespace {

int64_t Untolerated(const NodeClass& node_class, const PodShape& shape) {
  return std::count_if(node_class.taints.begin(), node_class.taints.end(), [&](const Taint& taint) {
    return taint.effect == TaintEffect::kPreferNoSchedule &&
           !Tolerates(shape.constraints.tolerations, taint);
  });
}

class BoundTaintPreference final : public NodeScore {
 public:
  BoundTaintPreference(const Tables& tables, const PodShape& shape, int64_t most)
      : tables_(tables), shape_(shape), most_(most) {}

  int64_t Score(const NodeView& node) const override {
    const NodeClassId id = node.block.rows().classes[node.row];
    return kMostScore - kMostScore * Untolerated(*tables_.classes[id.index()], shape_) / most_;
  }

 private:
  const Tables& tables_;
  const PodShape& shape_;
  int64_t most_;  // untolerated taints of the worst class
};

class TaintPreference final : public ScorePlugin {
 public:
  absl::string_view name() const override { return "TaintPreference"; }
  std::unique_ptr<NodeScore> Bind(const CycleInput& cycle, const PodShape& shape) const override {
    int64_t most = 0;
    for (const auto& node_class : cycle.snapshot.tables->classes) {
      if (node_class != nullptr) most = std::max(most, Untolerated(*node_class, shape));
    }
    if (most == 0) return nullptr;
    return std::make_unique<BoundTaintPreference>(*cycle.snapshot.tables, shape, most);
  }
};

}  // namespace

std::unique_ptr<const ScorePlugin> MakeTaintPreference() {
  return std::make_unique<TaintPreference>();
}

}  // namespace maniple
