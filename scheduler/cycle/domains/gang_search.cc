#include "scheduler/cycle/domains/gang_search.h"

#include <utility>

#include "api/base/status_macros.h"

namespace maniple {

GangSearch::GangSearch(const Snapshot& snapshot, const GangRequest& request, QuorumProblem problem)
    : snapshot_(snapshot), request_(request), problem_(std::move(problem)) {}

absl::Status GangSearch::Resolve(LevelStore& levels) {
  ASSIGN_OR_RETURN(choice_, ResolveTopology(snapshot_, request_, levels));
  groups_ = GroupsOf(snapshot_, request_, choice_);
  return absl::OkStatus();
}

// Without a choice of domains there is nothing that members are bound to.
DomainResult GangSearch::Search(BoundKinds& kinds, const DomainChoice& choice, Overlay& overlay,
                                SearchGoal goal) {
  const MemberGroups unbound = choice.binding() ? MemberGroups() : groups_.Unbound();
  const MemberGroups& groups = choice.binding() ? groups_ : unbound;
  DomainResult result = SearchDomains({.problem = problem_,
                                       .kinds = kinds.kinds,
                                       .scope = request_.scope,
                                       .choice = choice,
                                       .groups = groups,
                                       .pinned = request_.pinned},
                                      overlay, goal);
  gave_up_ = gave_up_ || result.search.outcome == SearchResult::Outcome::kGaveUp;
  return result;
}

DomainResult GangSearch::SearchWithin(const std::vector<std::optional<NodeSet>>& allowed,
                                      BoundKinds& kinds, Overlay& overlay) {
  for (size_t k = 0; k < allowed.size(); ++k) {
    if (kinds.kinds[k].bound == nullptr) continue;
    kinds.kinds[k].bound->RestrictTo(allowed[k].has_value() ? &*allowed[k] : nullptr);
  }
  return Search(kinds, choice_.OnlyBinding(), overlay, SearchGoal::kAnswerOnly);
}

}  // namespace maniple
