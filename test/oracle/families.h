// The families of rules that are compared with kube-scheduler's, and their random cases.
//
// A case is a JSON object: {family, pod, nodes, pods, namespaces, …} with plain Kubernetes objects,
// as test/oracle/filter_oracle reads them. Generators are hostile and dense: few keys and values,
// so that rules meet; and what they make depends on the generator's randomness alone.
#pragma once

#include <span>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/base/random.h"
#include "api/codec/json.h"

namespace maniple {

struct FilterFamily {
  absl::string_view name;                  // of the plugin, as the Go program knows it
  std::vector<absl::string_view> filters;  // rows of plugins/builtin.cc that answer together
  absl::string_view score;                 // a row of plugins/builtin.cc; "" = none to compare
  // How good a score of ours must be.
  enum class Likeness { kSameOrder, kEqual } likeness = Likeness::kSameOrder;
  Json (*make)(Random& random);
};
[[nodiscard]] std::span<const FilterFamily> FilterFamilies();
// REQUIRES: there is such a family.
[[nodiscard]] const FilterFamily& FamilyNamed(absl::string_view name);

// The case of the family with this number; equal numbers make equal cases.
[[nodiscard]] Json CaseOf(const FilterFamily& family, uint64_t number);

// Each family's generator; in the file that its comment names.
Json NodeNameCase(Random& random);            // cases_nodes.cc
Json NodeUnschedulableCase(Random& random);   // cases_nodes.cc
Json TaintCase(Random& random);               // cases_nodes.cc
Json NodeAffinityCase(Random& random);        // cases_nodes.cc
Json ImageCase(Random& random);               // cases_nodes.cc
Json NodePortsCase(Random& random);           // cases_resources.cc
Json ResourcesCase(Random& random);           // cases_resources.cc
Json TopologySpreadCase(Random& random);      // cases_pods.cc
Json PodAffinityCase(Random& random);         // cases_pods.cc
Json VolumeBindingCase(Random& random);       // cases_volumes.cc
Json VolumeZoneCase(Random& random);          // cases_volumes.cc
Json VolumeRestrictionsCase(Random& random);  // cases_volumes.cc
Json VolumeLimitsCase(Random& random);        // cases_volumes.cc

}  // namespace maniple
