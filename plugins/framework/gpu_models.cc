#include "plugins/framework/gpu_models.h"

#include <algorithm>

namespace maniple {
namespace {

// No label has such a value.
constexpr char kAnyOther[] = "/";

// A pod that lists more is taken for one that runs on any model: no list is as long, and each is
// gone through for each model.
constexpr size_t kMostNamedByPod = 64;

size_t ValuesNamed(const PodConstraints& pod, const std::string& label) {
  size_t values = 0;
  if (!pod.required_node_terms.has_value()) return values;
  for (const NodeSelectorTerm& term : *pod.required_node_terms) {
    for (const SelectorRequirement& requirement : term.expressions) {
      if (requirement.key == label) values += requirement.values.size();
    }
  }
  return values;
}

bool TermAllows(const NodeSelectorTerm& term, const std::string& label, const std::string* name) {
  return std::ranges::all_of(term.expressions, [&](const SelectorRequirement& requirement) {
    return requirement.key != label || Satisfies(requirement, name);
  });
}

bool Allows(const PodConstraints& pod, const std::string& label, const std::string& name) {
  const std::string* selected = pod.node_selector.Find(label);
  if (selected != nullptr && name != *selected) return false;
  if (!pod.required_node_terms.has_value()) return true;
  return std::ranges::any_of(*pod.required_node_terms, [&](const NodeSelectorTerm& term) {
    return TermAllows(term, label, &name);
  });
}

}  // namespace

uint32_t GpuModels::IndexOf(const std::string* name) const {
  const auto other = static_cast<uint32_t>(names.size());
  if (name == nullptr) return other;
  const auto at = std::ranges::lower_bound(names, *name);
  return at != names.end() && *at == *name ? static_cast<uint32_t>(at - names.begin()) : other;
}

void AddNamedModels(const PodConstraints& pod, const std::string& label,
                    std::vector<std::string>& names) {
  if (ValuesNamed(pod, label) > kMostNamedByPod) return;
  if (const std::string* selected = pod.node_selector.Find(label)) names.push_back(*selected);
  if (!pod.required_node_terms.has_value()) return;
  for (const NodeSelectorTerm& term : *pod.required_node_terms) {
    for (const SelectorRequirement& requirement : term.expressions) {
      if (requirement.key != label) continue;
      names.insert(names.end(), requirement.values.begin(), requirement.values.end());
    }
  }
}

uint64_t ModelsFor(const PodConstraints& pod, const GpuModels& models) {
  if (ValuesNamed(pod, models.label) > kMostNamedByPod) return ~uint64_t{0};
  uint64_t allowed = 0;
  for (size_t i = 0; i < models.names.size(); ++i) {
    if (Allows(pod, models.label, models.names[i])) allowed |= uint64_t{1} << i;
  }
  if (Allows(pod, models.label, kAnyOther)) allowed |= uint64_t{1} << models.names.size();
  return allowed;
}

}  // namespace maniple
