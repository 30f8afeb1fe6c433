#include "scheduler/cycle/quota_choices.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "plugins/framework/snapshot.h"

namespace maniple {
namespace {

constexpr size_t kMostQuotaChoices = 64;
constexpr int64_t kMostQuotaSteps = 50'000;  // of the enumeration

bool Contains(const QuotaOption& option, NodeId node) {
  if (!option.nodes.has_value()) return true;
  const uint32_t block = BlockOf(node);
  return block < option.nodes->size() && (*option.nodes)[block].Test(RowOf(node));
}

// First the options that hold all standing members of the shape. Others serve only a quorum that
// must be completed, which could otherwise wait for ever after a change of flavors.
std::vector<const QuotaOption*> OptionsOf(const std::vector<QuotaOption>& all,
                                          const GangRequest& request, ShapeId shape) {
  std::vector<const QuotaOption*> others, keeping;
  for (const QuotaOption& option : all) {
    const bool keeps = std::ranges::all_of(request.pinned, [&](const Pinned& pinned) {
      return pinned.shape != shape || !pinned.node.valid() || Contains(option, pinned.node);
    });
    (keeps ? keeping : others).push_back(&option);
  }
  if (keeping.empty() || request.scope == DecideScope::kQuorum) {
    keeping.insert(keeping.end(), others.begin(), others.end());
  }
  return keeping;
}

std::vector<int64_t> NoLimits(const QuorumProblem& problem) {
  return std::vector<int64_t>(problem.kind_count, std::numeric_limits<int64_t>::max());
}

}  // namespace

QuotaChoices::QuotaChoices(const QuotaAsk& ask, const GangRequest& request,
                           const std::vector<ShapeId>& shapes)
    : ask_(ask) {
  for (const ShapeId shape : shapes) {
    options_.push_back(OptionsOf(ask.options.at(shape), request, shape));
  }
  if (options_.empty()) return;
  std::vector<size_t> at(options_.size(), 0);
  while (true) {
    std::vector<const QuotaOption*>& choice = choices_.emplace_back();
    for (size_t k = 0; k < at.size(); ++k) choice.push_back(options_[k][at[k]]);
    size_t k = at.size();
    while (k > 0 && ++at[k - 1] == options_[k - 1].size()) at[--k] = 0;
    if (k == 0) return;
    if (choices_.size() == kMostQuotaChoices) {
      complete_ = false;
      return;
    }
  }
}

QuotaChoices::Narrowed QuotaChoices::Narrow(
    const QuorumProblem& problem, size_t most, QuotaBudget::Of available,
    absl::FunctionRef<bool(uint32_t, const QuotaOption&)> may) const {
  std::vector<std::vector<const QuotaOption*>> options(options_.size());
  std::vector<int64_t> least;
  for (uint32_t k = 0; k < options.size(); ++k) {
    least.push_back(problem.LeastOf(k));
    std::ranges::copy_if(options_[k], std::back_inserter(options[k]),
                         [&](const QuotaOption* option) { return may(k, *option); });
  }
  Narrowed narrowed;
  std::vector<const QuotaOption*> choice;
  int64_t steps_left = kMostQuotaSteps;
  // `cost`: of the members of the first kinds; true: go on.
  const auto choose = [&](const auto& choose_next, const Demand& cost) -> bool {
    const size_t k = choice.size();
    if (k == options.size()) {
      narrowed.complete = narrowed.choices.size() < most;
      if (narrowed.complete) narrowed.choices.push_back(choice);
      return narrowed.complete;
    }
    for (const QuotaOption* option : options[k]) {
      narrowed.complete = narrowed.complete && --steps_left >= 0;
      if (!narrowed.complete) return false;
      Demand with = cost;
      AddTo(with, *option, least[k]);
      const bool fits = available == QuotaBudget::Of::kNow ? ask_.tree->Fits(ask_.queue, with)
                                                           : ask_.tree->FitsEver(ask_.queue, with);
      if (!fits) continue;
      choice.push_back(option);
      const bool go_on = choose_next(choose_next, with);
      choice.pop_back();
      if (!go_on) return false;
    }
    return true;
  };
  choose(choose, {});
  return narrowed;
}

bool QuotaChoices::Covers(const QuorumProblem& problem, DecideScope scope) const {
  switch (scope) {
    case DecideScope::kQuorum:
      return BudgetMayCover(problem);
    case DecideScope::kSurplus:
      break;
  }
  return std::ranges::any_of(problem.kinds,
                             [&](uint32_t kind) { return problem.budget.CountOf(kind) > 0; });
}

QuotaShortage QuotaChoices::ShortageOf(const QuorumProblem& problem, DecideScope scope,
                                       const std::vector<const QuotaOption*>& options) const {
  std::vector<int64_t> counts(problem.kind_count, 0);
  if (scope == DecideScope::kSurplus) {
    counts[problem.kinds.front()] = 1;
  } else {
    // Of members that the Queue could ever cover, if there are such.
    QuorumProblem ever = problem;
    ever.budget = BudgetOf(options, QuotaBudget::Of::kEver);
    auto chosen = SelectWithinBudget(ever);
    ever.budget = QuotaBudget();
    if (!chosen.has_value()) chosen = SelectQuorum(ever, NoLimits(problem));
    if (chosen.has_value()) {
      for (const size_t want : *chosen) ++counts[problem.kinds[want]];
    }
  }
  Demand needs;
  for (size_t k = 0; k < options.size(); ++k) AddTo(needs, *options[k], counts[k]);
  // A need that can never be covered tells more than one that is not covered now.
  std::optional<QuotaShortage> told;
  for (const CellAmount& need : needs) {
    const QuotaShortage shortage{.queue = ask_.queue,
                                 .cell = need.cell,
                                 .needs = need.amount,
                                 .available = ask_.tree->Available(ask_.queue, need.cell),
                                 .potential = ask_.tree->Potential(ask_.queue, need.cell),
                                 .used = ask_.tree->Usage(ask_.queue, need.cell)};
    const auto gravity = [](const QuotaShortage& s) {
      return (s.needs > s.potential ? 2 : 0) + (s.needs > s.available ? 1 : 0);
    };
    if (!told.has_value() || gravity(shortage) > gravity(*told)) told = shortage;
  }
  return told.value_or(QuotaShortage{.queue = ask_.queue});
}

Rejection QuotaChoices::Reject(const QuorumProblem& problem, DecideScope scope) const {
  Rejection rejection{.code = RejectionCode::kQuotaExceeded};
  const auto some_day = std::ranges::find_if(choices_, [&](const auto& options) {
    QuorumProblem empty = problem;
    empty.budget = BudgetOf(options, QuotaBudget::Of::kEver);
    return Covers(empty, scope);
  });
  if (some_day != choices_.end()) {
    rejection.quota = ShortageOf(problem, scope, *some_day);
    return rejection;
  }
  if (complete_) rejection.code = RejectionCode::kExceedsMaxQuota;
  // The choice that exceeds the quota least: nodes differ in their GPUs' worth, and so in price.
  for (const auto& options : choices_) {
    const QuotaShortage shortage = ShortageOf(problem, scope, options);
    const auto excess = [](const QuotaShortage& s) { return s.needs - s.potential; };
    if (!rejection.quota.has_value() || excess(shortage) < excess(*rejection.quota)) {
      rejection.quota = shortage;
    }
  }
  return rejection;
}

std::vector<std::optional<NodeSet>> QuotaChoices::NodesOfAnyOption() const {
  std::vector<std::optional<NodeSet>> all;
  for (const auto& options : options_) all.push_back(NodesOf(options));
  return all;
}

std::optional<NodeSet> NodesOf(const std::vector<const QuotaOption*>& options) {
  std::optional<NodeSet> nodes = NodeSet();
  for (const QuotaOption* option : options) {
    if (!option->nodes.has_value()) return std::nullopt;
    nodes->resize(std::max(nodes->size(), option->nodes->size()));
    for (size_t b = 0; b < option->nodes->size(); ++b) (*nodes)[b] |= (*option->nodes)[b];
  }
  return nodes;
}

}  // namespace maniple
