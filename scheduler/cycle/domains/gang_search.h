// The search for places of one gang, asked several times in a decision: under other flavors,
// without its topology, in the empty cluster.
//
// Belongs to one decision. Borrows snapshot and request.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/cycle/domains/domain_search.h"
#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/room/overlay.h"
#include "scheduler/cycle/search/bound_request.h"
#include "scheduler/cycle/topology/member_groups.h"
#include "scheduler/cycle/topology/topology.h"

namespace maniple {

class GangSearch final {
 public:
  GangSearch(const Snapshot& snapshot, const GangRequest& request, QuorumProblem problem);

  // Finds the domains that the request names. REQUIRES: called before the first search.
  [[nodiscard]] absl::Status Resolve(LevelStore& levels);

  // Puts a kind on nodes of last resort only where fewer members would start without them.
  [[nodiscard]] DomainResult Search(BoundKinds& kinds, const DomainChoice& choice, Overlay& overlay,
                                    SearchGoal goal);
  // Keeps to what is required, and each kind to its allowed nodes; none: to all.
  [[nodiscard]] DomainResult SearchWithin(const std::vector<std::optional<NodeSet>>& allowed,
                                          BoundKinds& kinds, Overlay& overlay);

  [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] const GangRequest& request() const { return request_; }
  [[nodiscard]] const QuorumProblem& problem() const { return problem_; }
  // Later searches keep to the budget. Returns the one before.
  QuotaBudget SetBudget(QuotaBudget budget) {
    return std::exchange(problem_.budget, std::move(budget));
  }
  [[nodiscard]] const DomainChoice& choice() const { return choice_; }
  [[nodiscard]] const MemberGroups& groups() const { return groups_; }
  // Some search gave up.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  [[nodiscard]] DomainResult SearchAll(BoundKinds& kinds, const DomainChoice& choice,
                                       Overlay& overlay, SearchGoal goal);

  const Snapshot& snapshot_;
  const GangRequest& request_;
  QuorumProblem problem_;
  DomainChoice choice_;
  MemberGroups groups_;
  bool gave_up_ = false;
};

}  // namespace maniple
