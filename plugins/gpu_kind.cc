// GpuKind: GPUs of the kind that the pod asks for come first, those of another kind last.
//
// A pod that asks for one GPU wants a whole one of its own; next best is a shared one, last a MIG
// slice that goes by the same name. A pod that names slices or shared GPUs in its node selector or
// affinity gets these first. Nodes whose last repartitioning failed stand behind others of their
// kind.
#include "plugins/factories.h"

#include <algorithm>
#include <vector>

namespace maniple {
namespace {

// One misfit outweighs every other score together, a suspect node only some: see the weight in
// builtin.cc.
constexpr int64_t kOtherSlicing = 60;
constexpr int64_t kOtherSharing = 30;
constexpr int64_t kSuspectNode = 10;
// The best score of a node whose GPUs are not of the kind that the pod asks for.
constexpr int64_t kMostOfMisfits = kMostScore - kOtherSharing;

bool SharesWhatIsAsked(const GpuFacts& gpus, const GpuAsk& ask) {
  if (gpus.shares_plain_name || gpus.sharing == GpuSharing::kHami) {
    return ask.Devices(GpuKind::kWhole) > 0;
  }
  return std::any_of(gpus.shared_profiles.begin(), gpus.shared_profiles.end(),
                     [&ask](const SharedProfile& shared) {
                       return shared.keeps_name &&
                              std::any_of(ask.requests.begin(), ask.requests.end(),
                                          [&shared](const GpuRequest& request) {
                                            return !request.what.shared &&
                                                   request.what.profile == shared.profile;
                                          });
                     });
}

// Pods of HAMi ask for parts, so shared GPUs are what they want.
bool WantsParts(const GpuAsk& ask) {
  return std::any_of(ask.requests.begin(), ask.requests.end(), [](const GpuRequest& request) {
    return request.what.kind != GpuKind::kWhole && request.what.kind != GpuKind::kSlice;
  });
}

int64_t ScoreOf(const GpuFacts& gpus, const GpuAsk& ask) {
  int64_t score = kMostScore;
  const bool asks_whole = ask.Devices(GpuKind::kWhole) > 0;
  if (asks_whole && gpus.sliced() != ask.names_slices) score -= kOtherSlicing;
  const bool wants_shared = ask.names_shared || WantsParts(ask);
  if (SharesWhatIsAsked(gpus, ask) != wants_shared) score -= kOtherSharing;
  if (gpus.condition == GpuCondition::kSuspect) score -= kSuspectNode;
  return score;
}

class BoundGpuKind final : public NodeScore {
 public:
  explicit BoundGpuKind(std::vector<int64_t> by_class) : by_class_(std::move(by_class)) {}

  int64_t Score(const NodeView& node) const override {
    return by_class_[node.block.rows().classes[node.row].index()];
  }

  bool IsLastResort(const NodeView& node) const override { return Score(node) <= kMostOfMisfits; }

  void AddTo(const NodeBlock& block, const NodeMask& rows, int64_t weight,
             std::span<int64_t> totals) const override {
    const std::vector<NodeClassId>& classes = block.rows().classes;
    rows.ForEach([&](uint32_t row) { totals[row] += weight * by_class_[classes[row].index()]; });
  }

 private:
  std::vector<int64_t> by_class_;
};

class GpuKindScore final : public ScorePlugin {
 public:
  absl::string_view name() const override { return "GpuKind"; }
  std::unique_ptr<NodeScore> Bind(const CycleInput& cycle, const PodShape& shape) const override {
    if (!shape.wants_gpu) return nullptr;
    std::vector<int64_t> by_class;
    int64_t least = kMostScore;
    for (const auto& node_class : cycle.snapshot.tables->classes) {
      by_class.push_back(node_class != nullptr ? ScoreOf(node_class->gpus, shape.gpus)
                                               : kMostScore);
      least = std::min(least, by_class.back());
    }
    if (least == kMostScore) return nullptr;  // every node has the GPUs that it asks for
    return std::make_unique<BoundGpuKind>(std::move(by_class));
  }
};

}  // namespace

std::unique_ptr<const ScorePlugin> MakeGpuKind() { return std::make_unique<GpuKindScore>(); }

}  // namespace maniple
