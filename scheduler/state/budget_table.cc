#include "scheduler/state/budget_table.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace maniple {

BudgetTable::Budgets::const_iterator BudgetTable::FirstFrom(absl::string_view namespace_name,
                                                            absl::string_view name) const {
  return std::lower_bound(budgets_.begin(), budgets_.end(), std::pair(namespace_name, name),
                          [](const BudgetFacts& budget, const auto& at) {
                            return std::pair<absl::string_view, absl::string_view>(
                                       budget.namespace_name, budget.name) < at;
                          });
}

bool BudgetTable::IsAt(Budgets::const_iterator at, absl::string_view namespace_name,
                       absl::string_view name) const {
  return at != budgets_.end() && at->namespace_name == namespace_name && at->name == name;
}

void BudgetTable::Put(BudgetFacts budget, Delta& delta) {
  const auto at = FirstFrom(budget.namespace_name, budget.name);
  if (!IsAt(at, budget.namespace_name, budget.name)) {
    List(budget);
    budgets_.insert(at, std::move(budget));
    return;
  }
  BudgetFacts& known = budgets_[static_cast<size_t>(at - budgets_.begin())];
  if (budget.selector != known.selector) {
    Unlist(known);
    List(budget);
    delta.budgets_changed = true;
  }
  if (budget.allowed > known.allowed) delta.budgets_changed = true;
  known = std::move(budget);
}

void BudgetTable::List(const BudgetFacts& budget) {
  if (!budget.selector.has_value()) return;
  QueryPlaces best;
  size_t fewest = std::numeric_limits<size_t>::max();
  for (const SelectorRequirement& requirement : budget.selector->requirements) {
    NarrowestPlaces narrowest(labels_);
    narrowest.Note(requirement);
    QueryPlaces places = narrowest.Take();
    if (places.key.empty()) continue;
    const size_t crowd = listing_.CrowdAt(budget.namespace_name, places);
    if (crowd < fewest) best = std::move(places);
    fewest = std::min(fewest, crowd);
  }
  best.namespaces = {budget.namespace_name};
  listing_.Add(best, budget.name);
  places_.emplace(std::pair(budget.namespace_name, budget.name), std::move(best));
}

void BudgetTable::Unlist(const BudgetFacts& budget) {
  const auto at = places_.find(std::pair(budget.namespace_name, budget.name));
  if (at == places_.end()) return;
  listing_.Remove(at->second, budget.name);
  places_.erase(at);
}

void BudgetTable::Upsert(const PodDisruptionBudget& budget, Delta& delta) {
  const bool counted = budget.observed_generation >= budget.meta.generation;
  Put({.namespace_name = budget.meta.namespace_name,
       .name = budget.meta.name,
       .selector = budget.selector,
       .allowed = counted ? std::max(budget.disruptions_allowed, 0) : 0},
      delta);
}

void BudgetTable::Refuse(const ObjectKey& key, Delta& delta) {
  Put({.namespace_name = key.namespace_name, .name = key.name, .selector = LabelSelector{}}, delta);
}

void BudgetTable::Remove(const ObjectKey& key, Delta& delta) {
  const auto at = FirstFrom(key.namespace_name, key.name);
  if (!IsAt(at, key.namespace_name, key.name)) return;
  Unlist(*at);
  budgets_.erase(at);
  delta.budgets_changed = true;
}

void BudgetTable::NoteLabels(absl::string_view namespace_name, Delta& delta) const {
  if (AnyIn(namespace_name)) delta.budgets_changed = true;
}

bool BudgetTable::AnyIn(absl::string_view namespace_name) const {
  const auto first = FirstFrom(namespace_name, "");
  return first != budgets_.end() && first->namespace_name == namespace_name;
}

std::vector<uint32_t> BudgetTable::Covering(absl::string_view namespace_name, PodId pod) const {
  std::vector<uint32_t> covering;
  listing_.ForEach(namespace_name, pod, labels_, [&](const std::string& name) {
    ++budgets_visited_;
    const auto at = FirstFrom(namespace_name, name);
    const auto index = static_cast<uint32_t>(at - budgets_.begin());
    if (covering.size() == 2 && index > covering.back()) return VisitNext::kList;
    if (!labels_.Matches(pod, *at->selector)) return VisitNext::kQuery;
    covering.insert(std::ranges::upper_bound(covering, index), index);
    if (covering.size() > 2) covering.pop_back();
    return VisitNext::kQuery;
  });
  return covering;
}

}  // namespace maniple
