// A shape's terms as counts: which it adds to, and which it looks at. Pure, but for the ids that
// queries are given when they are first asked for.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/model/model.h"
#include "plugins/framework/pod_counts.h"
#include "scheduler/state/pod_queries.h"

namespace maniple {

[[nodiscard]] inline bool AsksOfPods(const PodConstraints& constraints) {
  return !constraints.pod_terms.empty() || !constraints.spread.empty();
}

// What one pod with these constraints adds where it stands, if it matches these counts. By count.
[[nodiscard]] std::vector<PodCountChange> ChangesBy(const PodConstraints& constraints,
                                                    std::span<const PodCountId> matches,
                                                    PodQueries& queries);
// What it looks at; null: nothing.
[[nodiscard]] std::shared_ptr<const ShapeTerms> TermsOf(const PodConstraints& constraints,
                                                        std::span<const PodCountId> matches,
                                                        PodQueries& queries);

// The labels of nodes whose values are the domains of these terms.
[[nodiscard]] std::vector<std::string> TopologyKeysOf(const PodConstraints& constraints);

}  // namespace maniple
