// NVLink within a node, as far as a scheduler can promise it. The kubelet decides which GPU
// a pod gets, so a promise has to hold for any of the free ones.
//
// Any GPUs of an all-to-all node are linked. Of n GPUs in linked pairs with f free, two are linked
// for sure iff f > n/2: then some pair is free as a whole. For more than two nothing is known.
// Where there are no links, or none are known, nothing is promised. Slices have no links at all,
// nor have replicas, of which several may be one GPU.
//
// RequireNvlink makes this a filter for pods that ask for it; NvlinkPreference scores all pods that
// ask for more than one GPU.
#include "plugins/factories.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace maniple {
namespace {

constexpr int64_t kPair = 2;

// The one resource whose devices are to be linked. None: the pod asks for slices or replicas,
// or for GPUs of several makers.
std::optional<ResourceId> LinkableOf(const Tables& tables, const PodShape& shape) {
  std::optional<ResourceId> linkable;
  for (const auto& [resource, amount] : shape.requests) {
    const std::optional<GpuResource> what = GpuResourceOf(tables.FactsOf(resource).name);
    if (!what.has_value()) continue;
    if (what->kind != GpuKind::kWhole && what->kind != GpuKind::kSlice) continue;
    if (what->kind == GpuKind::kSlice || what->shared || linkable.has_value()) return std::nullopt;
    linkable = resource;
  }
  return linkable;
}

// The GPUs of a node in pairs, with those whose partner may be taken or broken:
// the label counts GPUs that failed.
int64_t GpusOf(const GpuFacts& facts, int64_t allocatable) {
  return std::max<int64_t>(facts.count, allocatable);
}

GpuLinkage LinkageFor(const GpuFacts& facts) {
  const bool replicas = facts.shares_plain_name && facts.linkage == GpuLinkage::kPairs;
  return replicas ? GpuLinkage::kNone : facts.linkage;
}

// The number of pods with two GPUs each that fit one after the other, each with a promised pair.
int64_t PairsPromised(int64_t free, int64_t gpus) {
  return 2 * free > gpus ? (2 * free - gpus + 3) / 4 : 0;
}

class BoundRequireNvlink final : public NodeFilter {
 public:
  BoundRequireNvlink(const Tables& tables, const PodShape& shape)
      : tables_(tables), want_(shape.gpus.AllDevices()), resource_(LinkableOf(tables, shape)) {}

  FilterScope scope() const override { return FilterScope::kDynamic; }
  FilterCoupling coupling() const override { return FilterCoupling::kPerNodeCap; }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    if (CapOn(node) > 0) return {};
    const bool could = CapWith(node, AllocatableOn(node)) > 0;
    return {.code = could ? Code::kUnschedulable : Code::kUnresolvable,
            .reason = {.id = kReasonNoNvlink, .want = want_, .have = FreeOn(node)}};
  }

  int32_t CapOn(const NodeView& node) const override { return CapWith(node, FreeOn(node)); }

 private:
  int64_t FreeOn(const NodeView& node) const {
    return resource_.has_value() ? std::max<int64_t>(node.block.Free(*resource_)[node.row], 0) : 0;
  }
  int64_t AllocatableOn(const NodeView& node) const {
    return resource_.has_value() ? node.block.Allocatable(*resource_)[node.row] : 0;
  }

  int32_t CapWith(const NodeView& node, int64_t free) const {
    if (!resource_.has_value()) return 0;
    const NodeClassId id = node.block.rows().classes[node.row];
    const GpuFacts& facts = tables_.classes[id.index()]->gpus;
    switch (LinkageFor(facts)) {
      case GpuLinkage::kAllToAll:
        return kNoCap;
      case GpuLinkage::kPairs: {
        if (want_ > kPair) return 0;
        const int64_t pods = PairsPromised(free, GpusOf(facts, AllocatableOn(node)));
        return static_cast<int32_t>(std::min<int64_t>(pods, kNoCap));
      }
      case GpuLinkage::kNone:
      case GpuLinkage::kUnknown:
        return 0;
    }
    return 0;
  }

  const Tables& tables_;
  int64_t want_;
  std::optional<ResourceId> resource_;
};

class RequireNvlink final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "RequireNvlink"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    if (!shape.constraints.requires_nvlink || shape.gpus.AllDevices() <= 1) return nullptr;
    return std::make_unique<BoundRequireNvlink>(*cycle.snapshot.tables, shape);
  }
};

// A promised link stands far above a possible one: see the weight in builtin.cc.
constexpr int64_t kPairPromised = 95;
constexpr int64_t kPairPossible = 15;
constexpr int64_t kNobodyKnows = 10;

class BoundNvlinkPreference final : public NodeScore {
 public:
  BoundNvlinkPreference(const Tables& tables, ResourceId resource, int64_t want)
      : tables_(tables), resource_(resource), want_(want) {
    by_class_.reserve(tables.classes.size());
    for (const auto& node_class : tables.classes) {
      by_class_.push_back(node_class != nullptr ? OfClass(node_class->gpus) : 0);
    }
  }

  int64_t Score(const NodeView& node) const override {
    const NodeClassId id = node.block.rows().classes[node.row];
    const int64_t known = by_class_[id.index()];
    if (known != kPairPossible || want_ > kPair) return known;
    const int64_t gpus =
        GpusOf(tables_.classes[id.index()]->gpus, node.block.Allocatable(resource_)[node.row]);
    const int64_t pairs = PairsPromised(node.block.Free(resource_)[node.row], gpus);
    return pairs > 0 ? kPairPromised : kPairPossible;
  }

 private:
  static int64_t OfClass(const GpuFacts& facts) {
    switch (LinkageFor(facts)) {
      case GpuLinkage::kAllToAll:
        return kMostScore;
      case GpuLinkage::kPairs:
        return kPairPossible;
      case GpuLinkage::kUnknown:
        return kNobodyKnows;
      case GpuLinkage::kNone:
        return 0;
    }
    return 0;
  }

  const Tables& tables_;
  ResourceId resource_;
  int64_t want_;
  std::vector<int64_t> by_class_;
};

// Whether nodes differ in their known links, or may: some pairs may be taken.
bool LinksDiffer(const Tables& tables) {
  std::optional<GpuLinkage> seen;
  for (const auto& node_class : tables.classes) {
    if (node_class == nullptr) continue;
    const GpuLinkage linkage = LinkageFor(node_class->gpus);
    if (linkage == GpuLinkage::kPairs || seen.value_or(linkage) != linkage) return true;
    seen = linkage;
  }
  return false;
}

class NvlinkPreference final : public ScorePlugin {
 public:
  absl::string_view name() const override { return "NvlinkPreference"; }
  std::unique_ptr<NodeScore> Bind(const CycleInput& cycle, const PodShape& shape) const override {
    const Tables& tables = *cycle.snapshot.tables;
    const int64_t want = shape.gpus.AllDevices();
    if (want <= 1) return nullptr;
    const std::optional<ResourceId> resource = LinkableOf(tables, shape);
    if (!resource.has_value() || !LinksDiffer(tables)) return nullptr;
    return std::make_unique<BoundNvlinkPreference>(tables, *resource, want);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeRequireNvlink() {
  return std::make_unique<RequireNvlink>();
}
std::unique_ptr<const ScorePlugin> MakeNvlinkPreference() {
  return std::make_unique<NvlinkPreference>();
}

}  // namespace maniple
