// PodDisruptionBudgets, and which of them cover a pod of ours.
//
// Owned by ClusterState; scheduling thread. The budgets of a pod are worked out only when
// asked for, that is when a gang looks for victims. Only selectors that name a label of the pod,
// or name none that it must have, are asked (query_listing.h).
//
//   const std::vector<BudgetFacts>& budgets = table.all();
//   for (const uint32_t i : table.Covering("team-a", pod)) …budgets[i].allowed…
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "api/model/ids.h"
#include "api/model/object.h"
#include "scheduler/state/delta.h"
#include "scheduler/state/pod_labels.h"
#include "scheduler/state/query_listing.h"

namespace maniple {

struct BudgetFacts {
  std::string namespace_name, name;
  std::optional<LabelSelector> selector;  // absent = no pod; empty = every pod of the namespace
  // The disruptions allowed now; 0 while its status was counted for an older spec, never negative.
  int32_t allowed = 0;
  friend bool operator==(const BudgetFacts&, const BudgetFacts&) = default;
};

class BudgetTable final {
 public:
  // Borrows the labels of all pods for its life.
  explicit BudgetTable(const PodLabels& labels) : labels_(labels) {}

  void Upsert(const PodDisruptionBudget& budget, Delta& delta);
  // A budget that cannot be read covers every pod of its namespace, and allows nothing.
  void Refuse(const ObjectKey& key, Delta& delta);
  void Remove(const ObjectKey& key, Delta& delta);

  // A member's labels have changed, or it has just become a member.
  void NoteLabels(absl::string_view namespace_name, Delta& delta) const;

  [[nodiscard]] const std::vector<BudgetFacts>& all() const { return budgets_; }
  // Indices into all(), ascending; the first two of several, which nobody can evict it under.
  [[nodiscard]] std::vector<uint32_t> Covering(absl::string_view namespace_name, PodId pod) const;
  [[nodiscard]] bool AnyIn(absl::string_view namespace_name) const;
  [[nodiscard]] int64_t budgets_visited() const { return budgets_visited_; }  // so far

 private:
  using Budgets = std::vector<BudgetFacts>;
  // The first that is not before that name.
  [[nodiscard]] Budgets::const_iterator FirstFrom(absl::string_view namespace_name,
                                                  absl::string_view name) const;
  [[nodiscard]] bool IsAt(Budgets::const_iterator at, absl::string_view namespace_name,
                          absl::string_view name) const;
  void Put(BudgetFacts budget, Delta& delta);
  // Lists it by what the fewest budgets are listed by.
  void List(const BudgetFacts& budget);
  void Unlist(const BudgetFacts& budget);

  Budgets budgets_;  // by namespace and name
  // By name. All those with a selector; what each is listed by is remembered.
  ListingOf<std::string> listing_;
  absl::flat_hash_map<std::pair<std::string, std::string>, QueryPlaces> places_;
  mutable int64_t budgets_visited_ = 0;
  const PodLabels& labels_;
};

}  // namespace maniple
