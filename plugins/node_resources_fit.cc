// NodeResourcesFit: every requested resource has to be free on the node, one pod slot included.
//
// A zero request asks nothing, a resource that the node does not have counts as zero, and free room
// may be negative. A per-node cap: the node takes as many members as its scarcest resource allows.
#include "plugins/factories.h"

#include <algorithm>

namespace maniple {
namespace {

// floor(free / want), at most kNoCap. Both are below 2^50 in size, where dividing doubles never
// rounds across a whole number.
int32_t CountOf(int64_t free, int64_t want) {
  if (free < want) return 0;
  const double count = static_cast<double>(free) / static_cast<double>(want);
  return count < static_cast<double>(kNoCap) ? static_cast<int32_t>(count) : kNoCap;
}

class BoundResourcesFit final : public NodeFilter {
 public:
  explicit BoundResourcesFit(const PodShape& shape) : requests_(shape.requests) {}

  FilterScope scope() const override { return FilterScope::kDynamic; }
  FilterCoupling coupling() const override { return FilterCoupling::kPerNodeCap; }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    for (const auto& [resource, want] : requests_) {
      const int64_t free = node.block.Free(resource)[node.row];
      if (free >= want) continue;
      const bool could = node.block.Allocatable(resource)[node.row] >= want;
      return {.code = could ? Code::kUnschedulable : Code::kUnresolvable,
              .reason = {.id = kReasonInsufficient,
                         .resource = resource,
                         .want = want,
                         .have = std::max<int64_t>(free, 0)}};
    }
    return {};
  }

  void Narrow(const NodeBlock& block, const PartialPlan&, NodeMask& fits) const override {
    for (const auto& [resource, want] : requests_) {
      const Columns::Column& free = block.Free(resource);
      for (uint32_t w = 0; w < fits.words().size(); ++w) {
        if (fits.words()[w] == 0) continue;
        uint64_t enough = 0;
        for (uint32_t bit = 0; bit < 64; ++bit) {
          enough |= uint64_t{free[w * 64 + bit] >= want} << bit;
        }
        fits.words()[w] &= enough;
      }
    }
  }

  bool MayHelp(const NodeBlock& block) const override {
    return std::all_of(requests_.begin(), requests_.end(), [&block](const auto& request) {
      return block.MaxFree(request.first) >= request.second;
    });
  }

  void Cap(const NodeBlock& block, const NodeMask& rows, std::span<int32_t> caps) const override {
    for (const auto& [resource, want] : requests_) {
      const Columns::Column& free = block.Free(resource);
      rows.ForEach([&, want = want](uint32_t row) {
        caps[row] = std::min(caps[row], CountOf(free[row], want));
      });
    }
  }

  int32_t CapOn(const NodeView& node) const override {
    int32_t cap = kNoCap;
    for (const auto& [resource, want] : requests_) {
      cap = std::min(cap, CountOf(node.block.Free(resource)[node.row], want));
    }
    return cap;
  }

 private:
  const std::vector<std::pair<ResourceId, int64_t>>& requests_;  // of the snapshot's shape
};

class ResourcesFit final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "NodeResourcesFit"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput&,
                                                   const PodShape& shape) const override {
    return std::make_unique<BoundResourcesFit>(shape);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeNodeResourcesFit() {
  return std::make_unique<ResourcesFit>();
}

}  // namespace maniple
