#include "scheduler/state/budget_table.h"

#include <algorithm>
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
    budgets_.insert(at, std::move(budget));
    return;
  }
  BudgetFacts& known = budgets_[static_cast<size_t>(at - budgets_.begin())];
  if (budget.allowed > known.allowed || budget.selector != known.selector) {
    delta.budgets_changed = true;
  }
  known = std::move(budget);
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
  for (auto at = FirstFrom(namespace_name, "");
       at != budgets_.end() && at->namespace_name == namespace_name; ++at) {
    if (!at->selector.has_value() || !labels_.Matches(pod, *at->selector)) continue;
    covering.push_back(static_cast<uint32_t>(at - budgets_.begin()));
  }
  return covering;
}

}  // namespace maniple
