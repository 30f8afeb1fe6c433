// Keeps kinds of pods to fewer nodes for as long as it lives.
//
// Borrows the kinds; for the length of a search.
#pragma once

#include <vector>

#include "plugins/framework/snapshot.h"
#include "scheduler/cycle/search/search_question.h"

namespace maniple {

class Restriction final {
 public:
  explicit Restriction(std::vector<Kind>& kinds);
  ~Restriction();
  Restriction(const Restriction&) = delete;
  Restriction& operator=(const Restriction&) = delete;

  // To those of `nodes` that the kind was allowed before, and to no others.
  void To(const NodeSet& nodes, size_t kind);

 private:
  std::vector<Kind>& kinds_;
  std::vector<const NodeSet*> before_;
  std::vector<NodeSet> sets_;
};

}  // namespace maniple
