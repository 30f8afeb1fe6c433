// The flavors that each shape of a gang may be charged in. They give the choices that a decision
// tries, in order, and the reason when the quota covers none.
//
// Members of one shape use one flavor, different shapes may use different ones. Borrows the ask and
// the request; lives for one decision.
#pragma once

#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/question/quorum.h"
#include "scheduler/cycle/question/quota_ask.h"

namespace maniple {

// Those of all these options together; none: all nodes.
[[nodiscard]] std::optional<NodeSet> NodesOf(const std::vector<const QuotaOption*>& options);

class QuotaChoices final {
 public:
  // `shapes` by kind. A shape whose members stand already is tried in their flavor first. Surplus
  // keeps to that; a quorum may be completed in other flavors.
  QuotaChoices(const QuotaAsk& ask, const GangRequest& request, const std::vector<ShapeId>& shapes);

  // One option per kind; the first kind's first option first.
  [[nodiscard]] const std::vector<std::vector<const QuotaOption*>>& choices() const {
    return choices_;
  }
  // False: there are more than are tried.
  [[nodiscard]] bool complete() const { return complete_; }
  struct Narrowed {
    std::vector<std::vector<const QuotaOption*>> choices;
    bool complete = true;
  };
  // Of more choices than are tried, at most `most`, in the same order.
  // They are without options that `may` refuses, and without options whose cost for
  // the members of every quorum exceeds `available`.
  [[nodiscard]] Narrowed Narrow(
      const QuorumProblem& problem, size_t most, QuotaBudget::Of available,
      absl::FunctionRef<bool(uint32_t kind, const QuotaOption& option)> may) const;
  [[nodiscard]] QuotaBudget BudgetOf(const std::vector<const QuotaOption*>& options,
                                     QuotaBudget::Of of) const {
    return QuotaBudget(*ask_.tree, ask_.queue, options, of);
  }
  // Could the requested members be charged within problem.budget, room aside? False is a proof.
  [[nodiscard]] bool Covers(const QuorumProblem& problem, DecideScope scope) const;
  // Why no choice covers them.
  [[nodiscard]] Rejection Reject(const QuorumProblem& problem, DecideScope scope) const;
  // By kind: the nodes of all its options together; none: all nodes.
  [[nodiscard]] std::vector<std::optional<NodeSet>> NodesOfAnyOption() const;
  // The first cell of the quota tree that can never cover the quorum; else the first that does not
  // cover it now; else the first that it needs.
  [[nodiscard]] QuotaShortage ShortageOf(const QuorumProblem& problem, DecideScope scope,
                                         const std::vector<const QuotaOption*>& options) const;

 private:
  const QuotaAsk& ask_;
  std::vector<std::vector<const QuotaOption*>> options_;  // by kind
  std::vector<std::vector<const QuotaOption*>> choices_;
  bool complete_ = true;
};

}  // namespace maniple
