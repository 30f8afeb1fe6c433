// Node selector terms made ready for one snapshot: each requirement knows where its label is found.
//
// Shared by the filter and the score of node affinity. Borrows the tables, keeps the terms.
#pragma once

#include <optional>
#include <vector>

#include "api/model/model.h"
#include "plugins/framework/snapshot.h"

namespace maniple {

class BoundTerm final {
 public:
  BoundTerm(const Tables& tables, const NodeSelectorTerm& term);
  // Every key must have its value; no entry at all matches everything.
  BoundTerm(const Tables& tables, const StringMap& selector);

  [[nodiscard]] bool Matches(const NodeView& node) const;
  // Whether the answer follows from the node's class alone.
  [[nodiscard]] bool of_class_only() const { return of_class_only_; }

 private:
  struct Clause {
    SelectorRequirement requirement;
    std::optional<size_t> column;  // where the label is a column
  };
  void Add(SelectorRequirement requirement);
  [[nodiscard]] bool MatchesLabel(const Clause& clause, const NodeView& node) const;

  const Tables& tables_;
  std::vector<Clause> clauses_;
  std::vector<SelectorRequirement> fields_;
  bool matches_nothing_ = false;
  bool of_class_only_ = true;
};

}  // namespace maniple
