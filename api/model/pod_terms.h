// The terms of a pod on the pods around it: affinity, anti-affinity and topology spread.
// Plain values.
//
// As decoded they are complete. A term names its namespaces: the pod's own where the spec names
// none. matchLabelKeys and mismatchLabelKeys have become requirements of the selector with
// the pod's own labels. So pods with equal values here ask the same, whatever their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/model/labels.h"

namespace maniple {

struct PodAffinityTerm {
  std::string topology_key;
  std::optional<LabelSelector> selector;            // absent: no pod
  std::vector<std::string> namespaces;              // sorted
  std::optional<LabelSelector> namespace_selector;  // these too; absent: no more, empty: every one
  friend auto operator<=>(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};
struct WeightedPodTerm {
  int32_t weight = 0;  // 0..100
  PodAffinityTerm term;
  friend auto operator<=>(const WeightedPodTerm&, const WeightedPodTerm&) = default;
};

struct PodTerms {
  std::vector<PodAffinityTerm> near, apart;                // required; sorted, each once
  std::vector<WeightedPodTerm> rather_near, rather_apart;  // sorted; equal ones weigh twice

  [[nodiscard]] bool empty() const {
    return near.empty() && apart.empty() && rather_near.empty() && rather_apart.empty();
  }
  friend auto operator<=>(const PodTerms&, const PodTerms&) = default;
};

enum class WhenUnsatisfiable : uint8_t { kDoNotSchedule, kScheduleAnyway };
// Whether the nodes that the pod's own node affinity, or taints, keep it off count as domains.
enum class NodeInclusion : uint8_t { kHonor, kIgnore };

struct TopologySpreadConstraint {
  std::string topology_key;
  WhenUnsatisfiable when_unsatisfiable = WhenUnsatisfiable::kDoNotSchedule;
  int32_t max_skew = 1;
  int32_t min_domains = 1;
  NodeInclusion node_affinity = NodeInclusion::kHonor;
  NodeInclusion node_taints = NodeInclusion::kIgnore;
  std::string namespace_name;             // the pod's own: pods of no other one are counted
  std::optional<LabelSelector> selector;  // absent: no pod; empty: counts none, but the pod itself
  friend auto operator<=>(const TopologySpreadConstraint&,
                          const TopologySpreadConstraint&) = default;
};

}  // namespace maniple
