#include "plugins/framework/spread_nodes.h"

#include <algorithm>
#include <span>

#include "plugins/framework/node_terms.h"

namespace maniple {
namespace {

// Whether the pod's own node affinity, and its tolerations, let it onto a node.
class OwnNodes final {
 public:
  OwnNodes(const Tables& tables, const PodConstraints& constraints)
      : tables_(tables),
        constraints_(constraints),
        selector_(tables, constraints.node_selector),
        tolerated_(tables.classes.size()) {
    if (!constraints.required_node_terms.has_value()) return;
    for (const NodeSelectorTerm& term : *constraints.required_node_terms) {
      terms_.emplace_back(tables, term);
    }
  }

  [[nodiscard]] bool LetIn(const TopologySpreadConstraint& constraint, const NodeView& node) {
    return (constraint.node_affinity == NodeInclusion::kIgnore || AffinityLetsIn(node)) &&
           (constraint.node_taints == NodeInclusion::kIgnore || TaintsLetIn(node));
  }

 private:
  [[nodiscard]] bool AffinityLetsIn(const NodeView& node) const {
    return selector_.Matches(node) && (!constraints_.required_node_terms.has_value() ||
                                       std::ranges::any_of(terms_, [&node](const BoundTerm& term) {
                                         return term.Matches(node);
                                       }));
  }

  [[nodiscard]] bool TaintsLetIn(const NodeView& node) {
    const uint32_t of_class = node.block.rows().classes[node.row].index();
    std::optional<bool>& known = tolerated_[of_class];
    if (!known.has_value()) {
      known = std::ranges::all_of(tables_.classes[of_class]->taints, [this](const Taint& taint) {
        return taint.effect == TaintEffect::kPreferNoSchedule ||
               Tolerates(constraints_.tolerations, taint);
      });
    }
    return *known;
  }

  const Tables& tables_;
  const PodConstraints& constraints_;
  BoundTerm selector_;
  std::vector<BoundTerm> terms_;
  std::vector<std::optional<bool>> tolerated_;  // by class
};

void Add(const SpreadNodes::Constraint& constraint, std::span<const PodCounts::Entry> entries,
         size_t block, const NodeRows& rows, std::vector<int64_t>& sums) {
  for (const PodCounts::Entry& entry : entries) {
    if (!constraint.counted[block].Test(entry.row)) continue;
    sums[constraint.domains.Of(rows, entry.row)] += entry.value;
  }
}

}  // namespace

SpreadNodes::SpreadNodes(const CycleInput& cycle, const PodShape& shape, WhenUnsatisfiable when) {
  const Snapshot& snapshot = cycle.snapshot;
  for (const SpreadCount& count : shape.terms->spread) {
    if (count.constraint.when_unsatisfiable != when) continue;
    any_ = true;
    const std::optional<size_t> column = ColumnOf(*snapshot.tables, count.constraint.topology_key);
    if (!column.has_value()) {
      lacks_key_ = true;
      continue;
    }
    constraints_.push_back({.count = &count,
                            .domains = LabelDomains(snapshot, *column),
                            .counted = NodeSet(snapshot.blocks.size()),
                            .a_domain = {}});
    constraints_.back().a_domain.assign(constraints_.back().domains.count(), false);
  }
  if (lacks_key_) return;
  OwnNodes own(*snapshot.tables, shape.constraints);
  for (uint32_t b = 0; b < snapshot.blocks.size(); ++b) {
    const NodeBlock& block = *snapshot.blocks[b];
    block.rows().present.ForEach([&](uint32_t row) {
      if (!HasAllKeys(block.rows(), row)) return;
      for (Constraint& constraint : constraints_) {
        if (!own.LetIn(constraint.count->constraint, {.block = block, .row = row})) continue;
        constraint.counted[b].Set(row);
        constraint.a_domain[constraint.domains.Of(block.rows(), row)] = true;
      }
    });
  }
}

bool SpreadNodes::HasAllKeys(const NodeRows& rows, uint32_t row) const {
  return !lacks_key_ && std::ranges::all_of(constraints_, [&](const Constraint& constraint) {
    return constraint.domains.Of(rows, row) != LabelDomains::kNone;
  });
}

void SpreadNodes::Sum(const Constraint& constraint, BlockSpan blocks, std::vector<int64_t>& sums) {
  sums.assign(constraint.domains.count(), 0);
  if (!constraint.count->count.valid()) return;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const auto entries = blocks[b]->pod_counts().Of(constraint.count->count);
    Add(constraint, entries, b, blocks[b]->rows(), sums);
  }
}

std::vector<int64_t> SpreadNodes::SumWithPromised(const Constraint& constraint, BlockSpan blocks,
                                                  const std::vector<int64_t>& sums) {
  std::vector<int64_t> with;
  if (!constraint.count->count.valid()) return with;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const auto entries = blocks[b]->promised_counts().Of(constraint.count->count);
    if (entries.empty()) continue;
    if (with.empty()) with = sums;
    Add(constraint, entries, b, blocks[b]->rows(), with);
  }
  return with;
}

}  // namespace maniple
