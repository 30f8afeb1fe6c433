// The number of distinct selectors that the pods of each namespace ask about,
// so that no namespace asks too much of all pods.
//
// Owned by PodTable; scheduling thread. Selectors are counted from when they are first asked until
// the next sweep after the last pod that asked.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "scheduler/state/pod_caps.h"
#include "scheduler/state/pod_queries.h"
#include "scheduler/state/shape_terms.h"

namespace maniple {

class AskedQueries final {
 public:
  // Whether a pod of the namespace may ask so many queries, even if all are new there.
  [[nodiscard]] bool MayAsk(absl::string_view namespace_name, size_t queries) const {
    const auto at = asked_.find(namespace_name);
    const size_t known = at == asked_.end() ? 0 : at->second.size();
    return known + queries <= kMostQueriesOfNamespace;
  }
  void Note(absl::string_view namespace_name, const OwnTerms& own, const PodQueries& queries) {
    absl::flat_hash_set<PodQueryId>& asked = asked_[namespace_name];
    own.ForEachCount([&](PodCountId count) { asked.insert(queries.Of(count).query); });
  }
  // Whether all of these queries are counted for the namespace.
  [[nodiscard]] bool Asks(absl::string_view namespace_name, const OwnTerms& own,
                          const PodQueries& queries) const {
    const auto at = asked_.find(namespace_name);
    bool asks = at != asked_.end();
    own.ForEachCount(
        [&](PodCountId count) { asks = asks && at->second.contains(queries.Of(count).query); });
    return asks;
  }
  void Clear() { asked_.clear(); }

 private:
  absl::flat_hash_map<std::string, absl::flat_hash_set<PodQueryId>> asked_;
};

}  // namespace maniple
