#include "scheduler/state/node_label_keys.h"

#include "api/base/sort_unique.h"
#include "scheduler/state/volume_resolve.h"

namespace maniple {
namespace {

void NoteKeys(const std::vector<SelectorRequirement>& requirements,
              std::vector<std::string>& keys) {
  for (const SelectorRequirement& requirement : requirements) keys.push_back(requirement.key);
}

void NoteKeys(const NodeTerms& terms, std::vector<std::string>& keys) {
  for (const NodeSelectorTerm& term : terms) NoteKeys(term.expressions, keys);
}

void NoteKeys(const VolumeNeeds& needs, std::vector<std::string>& keys) {
  for (const NodeTerms& terms : needs.reachable) NoteKeys(terms, keys);
  if (!needs.zones.empty()) {
    for (const absl::string_view key : kZoneLabels) keys.emplace_back(key);
  }
  for (const UnboundClaim& claim : needs.unbound) {
    if (claim.reserved_where.has_value()) NoteKeys(*claim.reserved_where, keys);
    if (!claim.provision_where.has_value()) continue;
    for (const NodeTerms& terms : *claim.provision_where) NoteKeys(terms, keys);
  }
}

}  // namespace

std::vector<std::string> LabelKeysOf(const NodeTerms& terms) {
  std::vector<std::string> keys;
  NoteKeys(terms, keys);
  return keys;
}

std::vector<std::string> LabelKeysOf(const PodConstraints& constraints) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : constraints.node_selector.entries()) keys.push_back(key);
  if (constraints.required_node_terms.has_value()) {
    for (const NodeSelectorTerm& term : *constraints.required_node_terms) {
      NoteKeys(term.expressions, keys);
    }
  }
  for (const PreferredNodeTerm& preferred : constraints.preferred_node_terms) {
    NoteKeys(preferred.term.expressions, keys);
  }
  if (const VolumeNeeds* volumes = constraints.volumes.get()) NoteKeys(*volumes, keys);
  return keys;
}

std::vector<std::string> TopologyKeysOf(const PodConstraints& constraints) {
  std::vector<std::string> keys;
  const PodTerms& terms = constraints.pod_terms;
  for (const auto* required : {&terms.near, &terms.apart}) {
    for (const PodAffinityTerm& term : *required) keys.push_back(term.topology_key);
  }
  for (const auto* preferred : {&terms.rather_near, &terms.rather_apart}) {
    for (const WeightedPodTerm& rather : *preferred) keys.push_back(rather.term.topology_key);
  }
  for (const TopologySpreadConstraint& spread : constraints.spread) {
    keys.push_back(spread.topology_key);
  }
  SortUnique(keys);
  return keys;
}

}  // namespace maniple
