// Queries that pods' terms ask: selections of pods, each with an id, and the pods that they select.
//
// Owned by ClusterState; scheduling thread. A query stays until a sweep finds that no shape
// asks it. It is listed by something that all its pods have in common (query_listing.h).
// So a pod meets only queries that may select it, and a new query only pods that it may select.
//
//   const PodCountId count = queries.Intern({*SelectionOf(term)}, PodCountKind::kPresent, "");
//   const std::vector<PodCountId> matches = queries.MatchesOf(pod);
//   const AskedAnew anew = queries.TakeFresh();   // known pods are matched anew …
//   for (const QueryPlaces& places : anew.places) // … if they are at one of these
//     …queries.MatchesAnew(pod, matches, anew)…
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "api/model/ids.h"
#include "api/model/pod_terms.h"
#include "plugins/framework/pod_counts.h"
#include "scheduler/state/pod_labels.h"
#include "scheduler/state/query_listing.h"
#include "scheduler/state/swept_ids.h"

namespace maniple {

// Pods of these namespaces with these labels.
struct PodSelection {
  std::vector<std::string> namespaces;              // sorted
  std::optional<LabelSelector> namespace_selector;  // these too; absent: no more
  LabelSelector selector;
  friend auto operator<=>(const PodSelection&, const PodSelection&) = default;
};
// Pods that every part selects. Sorted, not empty.
using PodQuery = std::vector<PodSelection>;

// The selection of a term; none: no pod.
[[nodiscard]] std::optional<PodSelection> SelectionOf(const PodAffinityTerm& term);
[[nodiscard]] std::optional<PodSelection> SelectionOf(const TopologySpreadConstraint& constraint);

enum class PodCountKind : uint8_t {
  kPresent,  // pods that the query selects
  kLive,     // … and that are not about to end
  // Of pods that carry a term with the query and the topology key, for pods that it selects:
  kApart,  // how many require to be apart
  kDrawn,  // the sum of the weights of their preferences, below zero for apart
};

// Queries to be answered again, and the places of pods that they may select.
struct AskedAnew {
  std::vector<PodQueryId> queries;  // sorted
  std::vector<QueryPlaces> places;  // each once
  QueryListing listing;             // of these queries alone
};

class PodQueries final {
 public:
  explicit PodQueries(const PodLabels& labels) : labels_(labels) {}

  struct Facts {
    PodQueryId query;
    PodCountKind kind = PodCountKind::kPresent;
    std::string topology_key;  // "" where pods are counted
    friend auto operator<=>(const Facts&, const Facts&) = default;
  };
  [[nodiscard]] PodCountId Intern(PodQuery query, PodCountKind kind,
                                  absl::string_view topology_key);
  // REQUIRES: interned here.
  [[nodiscard]] const Facts& Of(PodCountId count) const { return counts_[count.index()]; }
  // Forgets all other counts, and queries of which none is left. REQUIRES: no shape matches them.
  void KeepOnly(const UsedIds& counts);
  [[nodiscard]] size_t size() const { return count_ids_.size(); }
  // Queries that gained a count since the last call.
  [[nodiscard]] AskedAnew TakeFresh();

  struct PodIdentity {
    PodId pod;  // its labels are known
    absl::string_view namespace_name;
    bool terminating = false;
  };
  // Sorted.
  [[nodiscard]] std::vector<PodCountId> MatchesOf(const PodIdentity& pod) const;
  // The same, if the pod matched `before` and only the answers of `anew` may be others now.
  [[nodiscard]] std::vector<PodCountId> MatchesAnew(const PodIdentity& pod,
                                                    const std::vector<PodCountId>& before,
                                                    const AskedAnew& anew) const;
  // The same by looking at every query: for tests and simulation.
  [[nodiscard]] std::vector<PodCountId> MatchesOfSlowly(const PodIdentity& pod) const;

  // Queries that select pods of the namespace no more, or did not before; no labels: it is not
  // known.
  [[nodiscard]] AskedAnew SetNamespaceLabels(absl::string_view name,
                                             const std::optional<StringMap>& labels);

 private:
  struct Query {
    const PodQuery* what = nullptr;  // the key in query_ids_; null: the number is vacant
    std::vector<PodCountId> counts;
    QueryPlaces places;
    bool fresh = false;  // stands in fresh_
  };
  PodQueryId Put(PodQuery query);
  void Drop(PodQueryId query);
  [[nodiscard]] QueryPlaces PlacesFor(const PodQuery& query) const;
  [[nodiscard]] AskedAnew Anew(std::vector<PodQueryId> queries) const;
  // For each query that selects namespaces, the answers of its parts for this one.
  [[nodiscard]] std::vector<bool> SelectionsOf(absl::string_view namespace_name) const;
  // A namespace that is not known. Terms of a pod to be placed list the namespaces
  // that they select, which it is not among; other terms are held against its labels,
  // of which there are none.
  enum class Unknown : uint8_t { kIsNotListed, kHasNoLabels };
  [[nodiscard]] bool Selects(const Query& query, const PodIdentity& pod, Unknown unknown) const;
  [[nodiscard]] bool InNamespaces(const PodSelection& part, absl::string_view name,
                                  Unknown unknown) const;
  void AddMatches(PodQueryId query, const PodIdentity& pod, std::vector<PodCountId>& out) const;

  const PodLabels& labels_;
  std::map<PodQuery, PodQueryId> query_ids_;  // its nodes stay in place
  std::vector<Query> queries_;
  std::vector<Facts> counts_;  // of a vacant number: no query
  SweptNumbers query_numbers_, count_numbers_;
  absl::btree_map<Facts, PodCountId> count_ids_;
  std::vector<PodQueryId> fresh_;
  QueryListing listing_;
  absl::flat_hash_map<std::string, StringMap> namespaces_;
  std::vector<PodQueryId> selecting_namespaces_;  // by their labels
};

}  // namespace maniple
