// SlicePacking: MIG slices go to the nodes with most of their GPUs in use, so that whole nodes fall
// idle.
//
// Use is counted in compute slices over all profiles and whole GPUs of a node.
// So a node half taken by 3g slices is a better place for a 1g than an idle one. For pods that
// ask for slices it stands in for Packing, which looks at the requested profile alone.
#include "plugins/factories.h"

#include <algorithm>
#include <vector>

namespace maniple {
namespace {

struct SlicePart {
  ResourceId resource;
  int32_t slices = 0;  // of each; 0 = a whole GPU, as many as its node's GPUs have
};

class BoundSlicePacking final : public NodeScore {
 public:
  BoundSlicePacking(const Tables& tables, std::vector<SlicePart> parts)
      : tables_(tables), parts_(std::move(parts)) {}

  int64_t Score(const NodeView& node) const override {
    const NodeClassId id = node.block.rows().classes[node.row];
    const int32_t whole = tables_.classes[id.index()]->gpus.compute_slices;
    // Amounts are below 2^50 and GPUs are few: doubles lose nothing that a percentage shows.
    double all = 0, free = 0;
    for (const SlicePart& part : parts_) {
      const double slices = part.slices > 0 ? part.slices : whole;
      all += slices * static_cast<double>(node.block.Allocatable(part.resource)[node.row]);
      free += slices * static_cast<double>(node.block.Free(part.resource)[node.row]);
    }
    if (all <= 0) return 0;
    const double used = 100.0 * (all - free) / all;
    return static_cast<int64_t>(std::clamp(used, 0.0, static_cast<double>(kMostScore)));
  }

 private:
  const Tables& tables_;
  std::vector<SlicePart> parts_;
};

// GPUs and slices of all kinds; replicas are left out, since many of them are one device.
std::vector<SlicePart> PartsOf(const Tables& tables) {
  std::vector<SlicePart> parts;
  for (uint32_t i = 0; i < tables.resources.size(); ++i) {
    if (!tables.resources[i].gpu) continue;
    const std::optional<GpuResource> what = GpuResourceOf(tables.resources[i].name);
    if (!what.has_value() || what->shared) continue;
    if (what->kind == GpuKind::kWhole) parts.push_back({.resource = ResourceId(i)});
    if (what->kind != GpuKind::kSlice) continue;
    const int32_t slices = ComputeSlicesOf(what->profile);
    if (slices > 0) parts.push_back({.resource = ResourceId(i), .slices = slices});
  }
  return parts;
}

class SlicePacking final : public ScorePlugin {
 public:
  absl::string_view name() const override { return "SlicePacking"; }
  std::unique_ptr<NodeScore> Bind(const CycleInput& cycle, const PodShape& shape) const override {
    if (shape.gpus.Devices(GpuKind::kSlice) == 0) return nullptr;
    const Tables& tables = *cycle.snapshot.tables;
    return std::make_unique<BoundSlicePacking>(tables, PartsOf(tables));
  }
};

}  // namespace

std::unique_ptr<const ScorePlugin> MakeSlicePacking() { return std::make_unique<SlicePacking>(); }

}  // namespace maniple
