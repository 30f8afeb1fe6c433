// PodAffinityPreference: the sum of the weights by which the pods around a node draw the pod there
// or drive it away. They are the pod's own preferred terms, those of others, and one for each pod
// that requires to be near it; from the least (0) to the most (100) among the nodes that fit.
#include "plugins/factories.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "plugins/framework/label_domains.h"

namespace maniple {
namespace {

class BoundPodAffinityPreference final : public NodeScore {
 public:
  BoundPodAffinityPreference(const Snapshot& snapshot, const ShapeTerms& terms) {
    for (const CountInDomain& term : terms.drawn) {
      const std::optional<size_t> column = ColumnOf(*snapshot.tables, term.topology_key);
      if (!term.count.valid() || !column.has_value()) continue;
      auto label = std::ranges::find_if(
          labels_, [&](const Label& known) { return known.domains.column() == *column; });
      if (label == labels_.end()) {
        labels_.push_back({.domains = LabelDomains(snapshot, *column), .drawn = {}});
        labels_.back().sums.resize(labels_.back().domains.count());
        label = labels_.end() - 1;
      }
      label->drawn.emplace_back(term.count, term.weight);
    }
  }

  [[nodiscard]] bool indifferent() const { return labels_.empty(); }
  bool looks_around() const override { return true; }

  void Compare(BlockSpan blocks, const NodeSet& fitting) override {
    for (Label& label : labels_) {
      std::ranges::fill(label.sums, 0);
      for (const auto& [count, weight] : label.drawn) {
        label.domains.AddTo(label.sums, blocks, count, weight);
      }
    }
    least_ = std::numeric_limits<int64_t>::max();
    most_ = std::numeric_limits<int64_t>::min();
    for (size_t b = 0; b < blocks.size(); ++b) {
      fitting[b].ForEach([&](uint32_t row) {
        const int64_t drawn = DrawnTo({.block = *blocks[b], .row = row});
        least_ = std::min(least_, drawn);
        most_ = std::max(most_, drawn);
      });
    }
  }

  int64_t Score(const NodeView& node) const override {
    if (most_ <= least_) return 0;
    return static_cast<int64_t>(
        static_cast<double>(kMostScore) *
        (static_cast<double>(DrawnTo(node) - least_) / static_cast<double>(most_ - least_)));
  }

 private:
  struct Label {
    LabelDomains domains;
    std::vector<std::pair<PodCountId, int64_t>> drawn;  // with their weights
    std::vector<int64_t> sums;                          // by domain
  };

  [[nodiscard]] int64_t DrawnTo(const NodeView& node) const {
    int64_t sum = 0;
    for (const Label& label : labels_) {
      const uint32_t domain = label.domains.Of(node);
      if (domain != LabelDomains::kNone) sum += label.sums[domain];
    }
    return sum;
  }

  std::vector<Label> labels_;
  int64_t least_ = 0, most_ = 0;
};

class PodAffinityPreference final : public ScorePlugin {
 public:
  absl::string_view name() const override { return "PodAffinityPreference"; }
  std::unique_ptr<NodeScore> Bind(const CycleInput& cycle, const PodShape& shape) const override {
    if (shape.terms == nullptr || shape.terms->drawn.empty()) return nullptr;
    auto bound = std::make_unique<BoundPodAffinityPreference>(cycle.snapshot, *shape.terms);
    if (bound->indifferent()) return nullptr;
    return bound;
  }
};

}  // namespace

std::unique_ptr<const ScorePlugin> MakePodAffinityPreference() {
  return std::make_unique<PodAffinityPreference>();
}

}  // namespace maniple
