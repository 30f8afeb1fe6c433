// What pods' terms ask about: selections of pods, each with an id, and which pods they select.
//
// Owned by ClusterState; scheduling thread. A query stays for good once some term has asked it. It
// is listed under a label that all its pods carry, where it names one, so that a pod meets only
// the queries that may select it, and a new query only pods that it may select.
//
//   const PodCountId count = queries.Intern(QueryOf(term), PodCountKind::kPresent, "");
//   for (const PodQueryId fresh : queries.TakeFresh()) …queries.Candidates(fresh)…  // match anew
//   const std::vector<PodCountId> matches = queries.MatchesOf(pod);
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

namespace maniple {

using PodQueryId = Id<struct PodQueryTag>;

// Pods of these namespaces with these labels.
struct PodSelection {
  std::vector<std::string> namespaces;              // sorted
  std::optional<LabelSelector> namespace_selector;  // these too; absent: no more
  LabelSelector selector;
  friend auto operator<=>(const PodSelection&, const PodSelection&) = default;
};
// Pods that every part selects. Sorted, not empty.
using PodQuery = std::vector<PodSelection>;

// What a term selects; none: no pod.
[[nodiscard]] std::optional<PodSelection> SelectionOf(const PodAffinityTerm& term);
[[nodiscard]] std::optional<PodSelection> SelectionOf(const TopologySpreadConstraint& constraint);

enum class PodCountKind : uint8_t {
  kPresent,  // pods that the query selects
  kLive,     // … and that are not about to end
  // Of those who carry a term with the query and the topology key, for pods that it selects:
  kApart,  // how many require to be apart
  kDrawn,  // the sum of the weights of what they would rather, below zero for apart
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
  // Queries that gained a count since the last call.
  [[nodiscard]] std::vector<PodQueryId> TakeFresh();
  // Pods that the query may select, in the order of ids; none: any pod.
  [[nodiscard]] std::optional<std::vector<PodId>> Candidates(PodQueryId query) const;

  struct PodIdentity {
    PodId pod;  // its labels are known
    absl::string_view namespace_name;
    bool terminating = false;
  };
  // Sorted.
  [[nodiscard]] std::vector<PodCountId> MatchesOf(const PodIdentity& pod) const;
  // The same by looking at every query: for tests and simulation.
  [[nodiscard]] std::vector<PodCountId> MatchesOfSlowly(const PodIdentity& pod) const;

  // Whether that may change what pods of the namespace match; no labels: it is not known.
  bool SetNamespaceLabels(absl::string_view name, const std::optional<StringMap>& labels);

 private:
  struct Query {
    const PodQuery* what = nullptr;  // the key in query_ids_
    std::vector<PodCountId> counts;
    std::vector<PodLabels::Pair> listed_under;  // empty: it may select pods of any labels
  };
  // The labels of which every selected pod carries one, as few pods as possible carrying them.
  [[nodiscard]] std::vector<PodLabels::Pair> LabelsToListUnder(const PodQuery& query) const;
  // A namespace that is not known: terms of a pod that is to be placed list those they select, and
  // that is not among them; terms of others are held against its labels, of which there are none.
  enum class Unknown : uint8_t { kIsNotListed, kHasNoLabels };
  [[nodiscard]] bool Selects(const Query& query, const PodIdentity& pod, Unknown unknown) const;
  [[nodiscard]] bool InNamespaces(const PodSelection& part, absl::string_view name,
                                  Unknown unknown) const;
  void AddMatches(PodQueryId query, const PodIdentity& pod, std::vector<PodCountId>& out) const;

  const PodLabels& labels_;
  std::map<PodQuery, PodQueryId> query_ids_;  // its nodes stay in place
  std::vector<Query> queries_;
  std::vector<Facts> counts_;
  absl::btree_map<Facts, PodCountId> count_ids_;
  std::vector<PodQueryId> fresh_;
  absl::flat_hash_map<PodLabels::Pair, std::vector<PodQueryId>> by_label_;
  // Those listed under no label: by their only namespace, and the rest.
  absl::flat_hash_map<std::string, std::vector<PodQueryId>> by_namespace_;
  std::vector<PodQueryId> broad_;
  absl::flat_hash_map<std::string, StringMap> namespaces_;
  bool selects_namespaces_ = false;
};

}  // namespace maniple
