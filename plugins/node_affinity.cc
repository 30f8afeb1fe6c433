// NodeAffinity: the node selector, and one of the required affinity terms, must match the node.
#include "plugins/factories.h"

#include <algorithm>

#include "plugins/framework/node_terms.h"

namespace maniple {
namespace {

class BoundNodeAffinity final : public NodeFilter {
 public:
  BoundNodeAffinity(const Tables& tables, const PodConstraints& constraints)
      : selector_(tables, constraints.node_selector) {
    any_term_ = !constraints.required_node_terms.has_value();
    of_class_only_ = selector_.of_class_only();
    if (any_term_) return;
    for (const NodeSelectorTerm& term : *constraints.required_node_terms) {
      terms_.emplace_back(tables, term);
      of_class_only_ = of_class_only_ && terms_.back().of_class_only();
    }
  }

  FilterScope scope() const override {
    return of_class_only_ ? FilterScope::kNodeClass : FilterScope::kDynamic;
  }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    const bool matches =
        selector_.Matches(node) &&
        (any_term_ || std::any_of(terms_.begin(), terms_.end(),
                                  [&node](const BoundTerm& term) { return term.Matches(node); }));
    if (matches) return {};
    return {.code = Code::kUnresolvable, .reason = {.id = kReasonNodeAffinity}};
  }

 private:
  BoundTerm selector_;
  std::vector<BoundTerm> terms_;  // ORed; none of them = nothing matches
  bool any_term_ = false;         // no affinity was asked for
  bool of_class_only_ = true;
};

class NodeAffinity final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "NodeAffinity"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    const PodConstraints& constraints = shape.constraints;
    if (constraints.node_selector.empty() && !constraints.required_node_terms.has_value()) {
      return nullptr;
    }
    return std::make_unique<BoundNodeAffinity>(*cycle.snapshot.tables, constraints);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeNodeAffinity() { return std::make_unique<NodeAffinity>(); }

}  // namespace maniple
