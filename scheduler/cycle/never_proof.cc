#include "scheduler/cycle/never_proof.h"

#include <utility>

namespace maniple {

using Outcome = SearchResult::Outcome;

std::optional<Rejection> NeverProof::Find(const Overlay& now) {
  if (now.spent()) return std::nullopt;
  const Snapshot& snapshot = search_.snapshot();
  Overlay emptied(snapshot, Overlay::View::kEmptied, now.work());
  for (const Pinned& pinned : search_.request().pinned) {
    if (snapshot.HasNode(pinned.node)) emptied.Place(pinned.node, pinned.shape);
  }
  BoundKinds some_day = request_.Bind(Question::kEver, now);
  if (now.spent()) return std::nullopt;
  std::vector<std::optional<NodeSet>> allowed;
  if (quota_ != nullptr) allowed = quota_->NodesOfAnyOption();
  QuotaBudget budget = search_.SetBudget(QuotaBudget());
  const DomainResult ever = search_.SearchWithin(allowed, some_day, emptied);
  std::optional<Rejection> proof;
  if (ever.search.outcome == Outcome::kProven) {
    proof = refusals_.Of(RejectionCode::kNeverFits, ever, emptied, in_the_way_);
  } else if (quota_ != nullptr && quota_->complete() && quota_->choices().size() > 1) {
    proof = ByChoice(some_day, emptied);
  }
  search_.SetBudget(std::move(budget));
  return proof;
}

// Some flavors may have the nodes and never the quota, and the others the quota and never the
// nodes.
std::optional<Rejection> NeverProof::ByChoice(BoundKinds& some_day, Overlay& emptied) {
  std::optional<DomainResult> last;
  const std::vector<const QuotaOption*>* lacks_quota = nullptr;
  for (const std::vector<const QuotaOption*>& options : quota_->choices()) {
    search_.SetBudget(quota_->BudgetOf(options, QuotaBudget::Of::kEver));
    const bool covered = quota_->Covers(search_.problem(), search_.request().scope);
    if (!covered) search_.SetBudget(QuotaBudget());
    std::vector<std::optional<NodeSet>> allowed;
    for (const QuotaOption* option : options) allowed.push_back(option->nodes);
    last = search_.SearchWithin(allowed, some_day, emptied);
    if (last->search.outcome == Outcome::kProven) continue;
    if (covered) return std::nullopt;
    if (lacks_quota == nullptr) lacks_quota = &options;
  }
  if (lacks_quota != nullptr) return ExceedsMaxQuota(*lacks_quota);
  return refusals_.Of(RejectionCode::kNeverFits, *last, emptied, in_the_way_);
}

Rejection NeverProof::ExceedsMaxQuota(const std::vector<const QuotaOption*>& options) const {
  Rejection rejection{.code = RejectionCode::kExceedsMaxQuota, .shape = request_.shapes().front()};
  rejection.nodes_in_the_way = true;
  rejection.quota = quota_->ShortageOf(search_.problem(), search_.request().scope, options);
  rejection.nodes = search_.snapshot().node_count();
  rejection.wanted = search_.problem().total;
  return rejection;
}

}  // namespace maniple
