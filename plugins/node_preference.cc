// NodePreference: the sum of the weights of the preferred node affinity terms that match.
#include "plugins/factories.h"

#include <vector>

#include "plugins/framework/node_terms.h"

namespace maniple {
namespace {

class BoundNodePreference final : public NodeScore {
 public:
  BoundNodePreference(const Tables& tables, const std::vector<PreferredNodeTerm>& preferred) {
    for (const PreferredNodeTerm& term : preferred) {
      terms_.push_back({.term = BoundTerm(tables, term.term), .weight = term.weight});
      total_ += term.weight;
    }
  }

  [[nodiscard]] bool indifferent() const { return total_ <= 0; }

  int64_t Score(const NodeView& node) const override {
    int64_t sum = 0;
    for (const Weighted& weighted : terms_) {
      if (weighted.term.Matches(node)) sum += weighted.weight;
    }
    return kMostScore * sum / total_;
  }

 private:
  struct Weighted {
    BoundTerm term;
    int64_t weight = 0;
  };
  std::vector<Weighted> terms_;
  int64_t total_ = 0;
};

class NodePreference final : public ScorePlugin {
 public:
  absl::string_view name() const override { return "NodePreference"; }
  std::unique_ptr<NodeScore> Bind(const CycleInput& cycle, const PodShape& shape) const override {
    auto bound = std::make_unique<BoundNodePreference>(*cycle.snapshot.tables,
                                                       shape.constraints.preferred_node_terms);
    if (bound->indifferent()) return nullptr;
    return bound;
  }
};

}  // namespace

std::unique_ptr<const ScorePlugin> MakeNodePreference() {
  return std::make_unique<NodePreference>();
}

}  // namespace maniple
