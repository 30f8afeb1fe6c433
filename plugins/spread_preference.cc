// SpreadPreference: topology spread that is only preferred (ScheduleAnyway): the fewer matching
// pods in the node's domains, the better.
#include "plugins/factories.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "plugins/framework/spread_nodes.h"

namespace maniple {
namespace {

class BoundSpreadPreference final : public NodeScore {
 public:
  BoundSpreadPreference(const CycleInput& cycle, const PodShape& shape)
      : nodes_(cycle, shape, WhenUnsatisfiable::kScheduleAnyway) {
    for (const SpreadNodes::Constraint& constraint : nodes_.constraints()) {
      levels_.push_back({.constraint = &constraint, .sums = {}});
      // Every node counts as a domain of its own by this label, whatever its value.
      levels_.back().by_node = constraint.count->constraint.topology_key == kHostnameLabel;
    }
  }

  bool looks_around() const override { return true; }

  void Compare(BlockSpan blocks, const NodeSet& fitting) override {
    for (Level& level : levels_) {
      level.log_domains = std::log(static_cast<double>(DomainsAmong(level, blocks, fitting) + 2));
      if (!level.by_node) SpreadNodes::Sum(*level.constraint, blocks, level.sums);
    }
    least_ = std::numeric_limits<int64_t>::max();
    most_ = 0;
    for (size_t b = 0; b < blocks.size(); ++b) {
      fitting[b].ForEach([&](uint32_t row) {
        if (!nodes_.HasAllKeys(blocks[b]->rows(), row)) return;
        const int64_t crowd = CrowdAt({.block = *blocks[b], .row = row});
        least_ = std::min(least_, crowd);
        most_ = std::max(most_, crowd);
      });
    }
  }

  int64_t Score(const NodeView& node) const override {
    if (!nodes_.HasAllKeys(node.block.rows(), node.row)) return 0;
    if (most_ == 0) return kMostScore;
    return kMostScore * (most_ + least_ - CrowdAt(node)) / most_;
  }

 private:
  struct Level {
    const SpreadNodes::Constraint* constraint;
    std::vector<int64_t> sums;  // by domain
    bool by_node = false;
    double log_domains = 0;
  };

  // The number of domains of the nodes that fit; nodes without all keys are left out.
  [[nodiscard]] int64_t DomainsAmong(const Level& level, BlockSpan blocks,
                                     const NodeSet& fitting) const {
    int64_t domains = 0;
    std::vector<bool> seen(level.constraint->domains.count(), false);
    for (size_t b = 0; b < blocks.size(); ++b) {
      const NodeRows& rows = blocks[b]->rows();
      fitting[b].ForEach([&](uint32_t row) {
        if (!nodes_.HasAllKeys(rows, row)) return;
        const uint32_t domain = level.constraint->domains.Of(rows, row);
        if (!level.by_node && seen[domain]) return;
        seen[domain] = true;
        ++domains;
      });
    }
    return domains;
  }

  // Matching pods near the node. In a large number of domains each of them weighs more, and where a
  // larger skew is allowed, differences weigh less.
  [[nodiscard]] int64_t CrowdAt(const NodeView& node) const {
    double crowd = 0;
    for (const Level& level : levels_) {
      const SpreadCount& count = *level.constraint->count;
      int64_t pods = 0;
      if (!level.by_node) {
        pods = level.sums[level.constraint->domains.Of(node)];
      } else if (count.count.valid()) {
        pods = node.block.pod_counts().At(count.count, node.row);
      }
      crowd += static_cast<double>(pods) * level.log_domains +
               static_cast<double>(count.constraint.max_skew - int64_t{1});
    }
    return std::llround(crowd);
  }

  SpreadNodes nodes_;
  std::vector<Level> levels_;
  int64_t least_ = 0, most_ = 0;
};

class SpreadPreference final : public ScorePlugin {
 public:
  absl::string_view name() const override { return "SpreadPreference"; }
  std::unique_ptr<NodeScore> Bind(const CycleInput& cycle, const PodShape& shape) const override {
    if (shape.terms == nullptr) return nullptr;
    const bool any = std::ranges::any_of(shape.terms->spread, [](const SpreadCount& count) {
      return count.constraint.when_unsatisfiable == WhenUnsatisfiable::kScheduleAnyway;
    });
    if (!any) return nullptr;
    return std::make_unique<BoundSpreadPreference>(cycle, shape);
  }
};

}  // namespace

std::unique_ptr<const ScorePlugin> MakeSpreadPreference() {
  return std::make_unique<SpreadPreference>();
}

}  // namespace maniple
