// WholeGpus: a container that asks for more than one GPU wants GPUs, not slices or replicas that go
// by the same name.
//
// Where MIG slices are presented as nvidia.com/gpu, eight of them are not eight GPUs.
// Where replicas are, two of them may be the same GPU twice, and the kubelet may refuse them.
// Per container: two containers with one each are served by slices and replicas as well.
#include "plugins/factories.h"

#include <algorithm>

namespace maniple {
namespace {

class BoundWholeGpus final : public NodeFilter {
 public:
  BoundWholeGpus(const Tables& tables, const GpuAsk& ask) : tables_(tables), ask_(ask) {}

  FilterScope scope() const override { return FilterScope::kNodeClass; }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    const GpuFacts& gpus = tables_.classes[node.block.rows().classes[node.row].index()]->gpus;
    for (const GpuRequest& request : ask_.requests) {
      if (request.most_per_container <= 1 || !IsOnePerContainer(gpus, request.what)) continue;
      const bool sliced = request.what.kind == GpuKind::kWhole && gpus.sliced();
      return {.code = Code::kUnresolvable,
              .reason = {.id = sliced ? kReasonGpusSliced : kReasonGpusShared,
                         .want = request.most_per_container}};
    }
    return {};
  }

 private:
  const Tables& tables_;
  const GpuAsk& ask_;  // of the snapshot's shape
};

class WholeGpus final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "WholeGpus"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    const auto& requests = shape.gpus.requests;
    if (std::none_of(requests.begin(), requests.end(),
                     [](const GpuRequest& request) { return request.most_per_container > 1; })) {
      return nullptr;
    }
    return std::make_unique<BoundWholeGpus>(*cycle.snapshot.tables, shape.gpus);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeWholeGpus() { return std::make_unique<WholeGpus>(); }

}  // namespace maniple
