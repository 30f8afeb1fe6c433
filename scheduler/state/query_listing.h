// Queries listed by something that all their pods have in common: a namespace, a label, or a key.
//
// A query is listed at one kind of place, so that a pod meets it at most once, and meets only
// queries that may select it. Owned by PodQueries and BudgetTable, or made for a few queries by
// their asker; scheduling thread.
//
//   listing.Add(PlacesFor(query, labels), id);
//   listing.ForEach(namespace_name, pod, labels, [&](PodQueryId id) { …; return VisitNext::kQuery;
//   });
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "api/model/ids.h"
#include "api/model/labels.h"
#include "scheduler/state/pod_labels.h"

namespace maniple {

using PodQueryId = Id<struct PodQueryTag>;

// Every pod that the query selects is in one of the namespaces and carries the key with one of the
// values.
struct QueryPlaces {
  std::vector<std::string> namespaces;  // empty: any
  std::string key;                      // "": any labels
  std::vector<std::string> values;      // empty: any; else each once
  friend auto operator<=>(const QueryPlaces&, const QueryPlaces&) = default;
};

// Among the conditions on selected pods, the one that the fewest pods meet now.
class NarrowestPlaces final {
 public:
  explicit NarrowestPlaces(const PodLabels& labels) : labels_(labels) {}

  // Selected pods meet the requirement.
  void Note(const SelectorRequirement& requirement);
  // Selected pods are in one of these. REQUIRES: not empty.
  void NoteNamespaces(const std::vector<std::string>& namespaces);
  [[nodiscard]] QueryPlaces Take();

 private:
  const PodLabels& labels_;
  QueryPlaces best_;
  size_t fewest_ = 0;
};

// Whether the rest of a list is walked, too. Its queries come in the order of ids.
enum class VisitNext : uint8_t { kQuery, kList };

template <typename QueryId>
class ListingOf final {
 public:
  void Add(const QueryPlaces& places, const QueryId& query);
  // REQUIRES: it was added there.
  void Remove(const QueryPlaces& places, const QueryId& query);
  // The queries that may select the pod, each once.
  void ForEach(absl::string_view namespace_name, PodId pod, const PodLabels& labels,
               absl::FunctionRef<VisitNext(const QueryId&)> visit) const;
  // How many queries a pod of that namespace meets at the fullest of these places.
  [[nodiscard]] size_t CrowdAt(absl::string_view namespace_name, const QueryPlaces& places) const;

 private:
  using Queries = absl::btree_set<QueryId>;
  struct InNamespace {
    absl::flat_hash_map<PodLabels::Pair, Queries> by_label;
    absl::flat_hash_map<std::string, Queries> by_key;
    Queries others;
    [[nodiscard]] bool empty() const {
      return by_label.empty() && by_key.empty() && others.empty();
    }
  };

  void AddIn(InNamespace& listed, const QueryPlaces& places, const QueryId& query);
  void RemoveFrom(absl::string_view namespace_name, const QueryPlaces& places,
                  const QueryId& query);

  absl::flat_hash_map<std::string, InNamespace> by_namespace_;  // "": of any
};

using QueryListing = ListingOf<PodQueryId>;

}  // namespace maniple
