// A shape's terms as counts: which it adds to, and which it looks at. Pure, but for the ids that
// queries are given when they are first asked for.
//
//   const OwnTerms own = OwnTermsOf(constraints, queries);
//   shape.counts = ChangesBy(own, matches, queries);
//   shape.terms = TermsOf(own, matches, queries);
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "api/model/model.h"
#include "plugins/framework/pod_counts.h"
#include "scheduler/state/pod_queries.h"

namespace maniple {

[[nodiscard]] inline bool AsksOfPods(const PodConstraints& constraints) {
  return !constraints.pod_terms.empty() || !constraints.spread.empty();
}

// The part of a shape's terms that does not depend on the selectors of others.
// It is the same for all shapes with these constraints, so that a new selector does
// not ask pods for their own terms again.
struct OwnTerms {
  std::vector<PodCountChange> carried;  // for pods that the terms select; by count, none zero
  ShapeTerms asked;                     // without others' terms, and as if it never selected itself

  // Every count that the terms name, some of them twice.
  void ForEachCount(absl::FunctionRef<void(PodCountId)> visit) const;
};
[[nodiscard]] OwnTerms OwnTermsOf(const PodConstraints& constraints, PodQueries& queries);

// The counts that one pod with these terms changes where it stands, if it matches these. By count.
[[nodiscard]] std::vector<PodCountChange> ChangesBy(const OwnTerms& own,
                                                    std::span<const PodCountId> matches,
                                                    const PodQueries& queries);
// The terms that it looks at; null: none.
[[nodiscard]] std::shared_ptr<const ShapeTerms> TermsOf(const OwnTerms& own,
                                                        std::span<const PodCountId> matches,
                                                        const PodQueries& queries);

}  // namespace maniple
