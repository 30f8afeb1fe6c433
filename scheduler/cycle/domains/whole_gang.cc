#include "scheduler/cycle/domains/whole_gang.h"

#include <limits>
#include <utility>
#include <vector>

#include "scheduler/cycle/domains/grouped_search.h"

namespace maniple {
namespace {

using Outcome = SearchResult::Outcome;

// The search for everyone is a wish: it ends early, so that the work is left for the quorum.
constexpr int64_t kMostWholeLooks = 100'000;
constexpr int kMostWholeTrials = 16;

QuorumProblem ForEveryone(const QuorumProblem& problem) {
  QuorumProblem everyone = problem;
  everyone.total = static_cast<int64_t>(problem.wants.size());
  everyone.budget = QuotaBudget();  // surplus is charged later, one by one
  return everyone;
}

bool LeavesSomeOut(const QuorumProblem& problem) {
  const std::vector<int64_t> no_limit(problem.kind_count, std::numeric_limits<int64_t>::max());
  const auto quorum = SelectQuorum(problem, no_limit);
  return quorum.has_value() && quorum->size() < problem.wants.size();
}

}  // namespace

WholeGangSearch::WholeGangSearch(const DomainSearch& ask, const DomainLevel& level,
                                 Overlay& overlay)
    : ask_(ask),
      level_(level),
      overlay_(overlay),
      everyone_(ForEveryone(ask.problem)),
      applies_(ask.scope == DecideScope::kQuorum && LeavesSomeOut(ask.problem)) {}

std::optional<SearchResult> WholeGangSearch::QuorumIn(uint32_t domain) {
  if (trials_ >= kMostWholeTrials || looks_ > kMostWholeLooks || overlay_.spent())
    return std::nullopt;
  SearchResult everyone = EveryoneIn(domain);
  if (everyone.outcome != Outcome::kFound) return std::nullopt;
  SearchResult quorum = QuorumOf(ask_.problem, std::move(everyone.places));
  if (quorum.outcome != Outcome::kFound) return std::nullopt;
  return quorum;
}

// Numbers strike a domain out cheaply; they know no scores, so that trials find the places first.
SearchResult WholeGangSearch::EveryoneIn(uint32_t domain) {
  if (trials_ > 0 && Joint(domain).outcome == Outcome::kProven) return {};
  const NodeSet within = level_.NodesOf(overlay_.base(), domain);
  const DomainSearch ask{.problem = everyone_,
                         .kinds = ask_.kinds,
                         .scope = ask_.scope,
                         .choice = ask_.choice,
                         .groups = ask_.groups,
                         .pinned = ask_.pinned};
  const bool free = ask_.groups.empty() && ask_.choice.sub_groups.empty();
  SearchResult tried = free ? TryToPlace(everyone_, ask_.kinds, overlay_, &within)
                            : TryToPlaceGroups(ask, overlay_, &within);
  if (tried.outcome == Outcome::kFound) return tried;
  ++trials_;
  for (const NodeMask& nodes : within) looks_ += nodes.Count() * everyone_.total;
  return tried.outcome == Outcome::kGaveUp ? Joint(domain) : tried;
}

SearchResult WholeGangSearch::Joint(uint32_t domain) {
  if (joint_ == nullptr) {
    joint_ = std::make_unique<JointSearch>(everyone_, ask_.kinds, &ask_.groups, overlay_, nullptr);
    nodes_ = joint_->ByDomain(level_);
  }
  return joint_->Search(nodes_[domain]);
}

}  // namespace maniple
