#include "scheduler/cycle/domains/gang_search.h"

#include <algorithm>
#include <utility>

#include "api/base/status_macros.h"
#include "scheduler/cycle/domains/restriction.h"

namespace maniple {
namespace {

// By kind: does the result put a member where it is to be only if no other node will do? Members
// without GPUs go where those with GPUs are.
std::vector<bool> OnLastResorts(const QuorumProblem& problem, const std::vector<Kind>& kinds,
                                const Overlay& overlay, const DomainResult& result) {
  std::vector<bool> misplaced(kinds.size(), false);
  const auto wants_gpu = [](const Kind& kind) {
    return kind.bound != nullptr && kind.bound->shape().wants_gpu;
  };
  const bool some_want_gpu = std::ranges::any_of(kinds, wants_gpu);
  for (const MemberPlace& place : result.search.places) {
    const uint32_t kind = problem.kinds[place.want];
    if (misplaced[kind] || kinds[kind].bound == nullptr) continue;
    if (some_want_gpu && !wants_gpu(kinds[kind])) continue;
    misplaced[kind] = kinds[kind].bound->IsLastResort(overlay.At(place.node));
  }
  return misplaced;
}

NodeSet WithoutLastResorts(const BoundShape& bound, const Overlay& overlay) {
  NodeSet nodes(overlay.block_count());
  for (uint32_t b = 0; b < nodes.size(); ++b) {
    const NodeBlock& block = overlay.Block(b);
    block.rows().present.ForEach([&](uint32_t row) {
      if (!bound.IsLastResort({.block = block, .row = row})) nodes[b].Set(row);
    });
  }
  return nodes;
}

}  // namespace

GangSearch::GangSearch(const Snapshot& snapshot, const GangRequest& request, QuorumProblem problem)
    : snapshot_(snapshot), request_(request), problem_(std::move(problem)) {}

absl::Status GangSearch::Resolve(LevelStore& levels) {
  ASSIGN_OR_RETURN(choice_, ResolveTopology(snapshot_, request_, levels));
  groups_ = GroupsOf(snapshot_, request_, choice_);
  return absl::OkStatus();
}

DomainResult GangSearch::Search(BoundKinds& kinds, const DomainChoice& choice, Overlay& overlay,
                                SearchGoal goal) {
  DomainResult result = SearchAll(kinds, choice, overlay, goal);
  // Scores rank the nodes of a domain, and not the domains.
  if (goal != SearchGoal::kNodes || result.search.outcome != SearchResult::Outcome::kFound ||
      !choice.wishes()) {
    return result;
  }
  const std::vector<bool> misplaced = OnLastResorts(problem_, kinds.kinds, overlay, result);
  if (std::ranges::count(misplaced, true) == 0) return result;
  Restriction elsewhere(kinds.kinds);
  for (size_t k = 0; k < misplaced.size(); ++k) {
    if (misplaced[k]) elsewhere.To(WithoutLastResorts(*kinds.kinds[k].bound, overlay), k);
  }
  DomainResult better = SearchAll(kinds, choice, overlay, goal);
  const bool as_many = better.search.outcome == SearchResult::Outcome::kFound &&
                       better.search.places.size() >= result.search.places.size();
  return as_many ? better : result;
}

// Without a choice of domains there is nothing that members are bound to.
DomainResult GangSearch::SearchAll(BoundKinds& kinds, const DomainChoice& choice, Overlay& overlay,
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
