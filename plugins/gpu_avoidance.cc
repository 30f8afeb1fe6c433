// GpuAvoidance: pods that ask for no GPU stay off nodes that have some, while they can.
#include "plugins/factories.h"

#include <algorithm>
#include <vector>

namespace maniple {
namespace {

class BoundGpuAvoidance final : public NodeScore {
 public:
  BoundGpuAvoidance(const Tables& tables, std::vector<ResourceId> gpus)
      : tables_(tables), gpus_(std::move(gpus)) {}

  int64_t Score(const NodeView& node) const override {
    const bool has_gpu = std::any_of(gpus_.begin(), gpus_.end(), [&node](ResourceId gpu) {
      return node.block.Allocatable(gpu)[node.row] > 0;
    });
    if (has_gpu) return 0;
    // A node that has lost its GPUs for a while will want its room back.
    const NodeClassId id = node.block.rows().classes[node.row];
    return tables_.classes[id.index()]->gpus.product.empty() ? kMostScore : 0;
  }

  bool IsLastResort(const NodeView& node) const override { return Score(node) == 0; }

 private:
  const Tables& tables_;
  std::vector<ResourceId> gpus_;
};

class GpuAvoidance final : public ScorePlugin {
 public:
  absl::string_view name() const override { return "GpuAvoidance"; }
  std::unique_ptr<NodeScore> Bind(const CycleInput& cycle, const PodShape& shape) const override {
    if (shape.wants_gpu) return nullptr;
    std::vector<ResourceId> gpus;
    const std::vector<ResourceFacts>& resources = cycle.snapshot.tables->resources;
    for (uint32_t i = 0; i < resources.size(); ++i) {
      if (resources[i].gpu) gpus.push_back(ResourceId(i));
    }
    const auto& classes = cycle.snapshot.tables->classes;
    const bool labelled = std::any_of(classes.begin(), classes.end(), [](const auto& node_class) {
      return node_class != nullptr && !node_class->gpus.product.empty();
    });
    if (gpus.empty() && !labelled) return nullptr;
    return std::make_unique<BoundGpuAvoidance>(*cycle.snapshot.tables, std::move(gpus));
  }
};

}  // namespace

std::unique_ptr<const ScorePlugin> MakeGpuAvoidance() { return std::make_unique<GpuAvoidance>(); }

}  // namespace maniple
