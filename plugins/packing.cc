// Packing: the fuller the node would be, the better; GPUs count most when the pod asks for them.
//
// So small requests fill nodes that are broken already, and whole nodes stay whole for pods that
// need them.
#include "plugins/factories.h"

#include <algorithm>

namespace maniple {
namespace {

// GPUs weigh this much against one of cpu and memory.
constexpr int64_t kGpuWeight = 8;

struct Part {
  ResourceId resource;
  int64_t want = 0;
  int64_t weight = 1;
};

// How full the node is in this resource with one more pod, in percent; a resource that it lacks
// counts as full.
int64_t PercentUsed(int64_t allocatable, int64_t free, int64_t want) {
  const int64_t used = allocatable - free + want;
  if (allocatable <= 0 || used >= allocatable) return kMostScore;
  if (used <= 0) return 0;
  return static_cast<int64_t>(100.0 * static_cast<double>(used) / static_cast<double>(allocatable));
}

class BoundPacking final : public NodeScore {
 public:
  BoundPacking(const Tables& tables, const PodShape& shape) {
    for (const ResourceId resource : {kCpu, kMemory}) parts_.push_back({.resource = resource});
    for (const auto& [resource, want] : shape.requests) {
      if (resource == kPods) continue;
      if (resource == kCpu || resource == kMemory) {
        parts_[resource == kCpu ? 0 : 1].want = want;
        continue;
      }
      const bool gpu = tables.FactsOf(resource).gpu;
      parts_.push_back({.resource = resource, .want = want, .weight = gpu ? kGpuWeight : 1});
    }
    for (const Part& part : parts_) total_weight_ += part.weight;
  }

  int64_t Score(const NodeView& node) const override {
    int64_t sum = 0;
    for (const Part& part : parts_) {
      sum += part.weight * PercentUsed(node.block.Allocatable(part.resource)[node.row],
                                       node.block.Free(part.resource)[node.row], part.want);
    }
    return sum / total_weight_;
  }

  void AddTo(const NodeBlock& block, const NodeMask& rows, int64_t weight,
             std::span<int64_t> totals) const override {
    std::array<int64_t, kBlockNodes> sums{};
    for (const Part& part : parts_) {
      const Columns::Column& allocatable = block.Allocatable(part.resource);
      const Columns::Column& free = block.Free(part.resource);
      rows.ForEach([&](uint32_t row) {
        sums[row] += part.weight * PercentUsed(allocatable[row], free[row], part.want);
      });
    }
    rows.ForEach([&](uint32_t row) { totals[row] += weight * (sums[row] / total_weight_); });
  }

 private:
  std::vector<Part> parts_;
  int64_t total_weight_ = 0;
};

class Packing final : public ScorePlugin {
 public:
  absl::string_view name() const override { return "Packing"; }
  std::unique_ptr<NodeScore> Bind(const CycleInput& cycle, const PodShape& shape) const override {
    if (shape.gpus.Devices(GpuKind::kSlice) > 0) return nullptr;  // SlicePacking scores these
    return std::make_unique<BoundPacking>(*cycle.snapshot.tables, shape);
  }
};

}  // namespace

std::unique_ptr<const ScorePlugin> MakePacking() { return std::make_unique<Packing>(); }

}  // namespace maniple
