#include "api/gpu/gpu_ask.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace maniple {
namespace {

// Beyond this no sum or product here can overflow, and no node has so many.
constexpr int64_t kMostDevices = int64_t{1} << 50;

bool IsOneOf(const LabelKeys& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool MoreThanOne(const std::string& text) {
  int64_t replicas = 0;
  return absl::SimpleAtoi(text, &replicas) && replicas > 1;
}

class Names final {
 public:
  Names(const GpuRules& rules, GpuAsk& ask) : rules_(rules), ask_(ask) {}

  void Read(const std::vector<NodeSelectorTerm>& terms) {
    for (const NodeSelectorTerm& term : terms) Read(term);
  }
  void Read(const NodeSelectorTerm& term) {
    for (const SelectorRequirement& requirement : term.expressions) Read(requirement);
  }
  void Read(const SelectorRequirement& requirement) {
    if (requirement.op == SelectorOperator::kExists) {
      if (IsOneOf(rules_.partition, requirement.key)) ask_.names_slices = true;
    } else if (requirement.op == SelectorOperator::kGt) {
      int64_t least = 0;
      const bool some = requirement.values.size() == 1 &&
                        absl::SimpleAtoi(requirement.values[0], &least) && least >= 1;
      if (some && IsOneOf(rules_.replicas, requirement.key)) ask_.names_shared = true;
    } else if (requirement.op == SelectorOperator::kIn) {
      for (const std::string& value : requirement.values) Read(requirement.key, value);
    }
  }
  void Read(const std::string& key, const std::string& value) {
    if (IsOneOf(rules_.product, key)) {
      if (absl::StrContains(value, "-MIG-")) ask_.names_slices = true;
      if (absl::EndsWith(value, "-SHARED")) ask_.names_shared = true;
    }
    if (IsOneOf(rules_.partition, key)) ask_.names_slices = true;
    if (IsOneOf(rules_.mig_strategy, key) && value == "single") ask_.names_slices = true;
    if (IsOneOf(rules_.replicas, key) && MoreThanOne(value)) ask_.names_shared = true;
    if (IsOneOf(rules_.sharing_strategy, key) && value != "none") ask_.names_shared = true;
  }

 private:
  const GpuRules& rules_;
  GpuAsk& ask_;
};

}  // namespace

int64_t GpuAsk::Devices(GpuKind kind) const {
  int64_t devices = 0;
  for (const GpuRequest& request : requests) {
    if (request.what.kind == kind && !request.what.shared) devices += request.amount;
  }
  return std::min(devices, kMostDevices);
}

int64_t GpuAsk::AllDevices() const {
  int64_t devices = 0;
  for (const GpuRequest& request : requests) {
    if (request.what.kind == GpuKind::kWhole || request.what.kind == GpuKind::kSlice) {
      devices = std::min(devices + request.amount, kMostDevices);
    }
  }
  return devices;
}

GpuAsk GpuAskOf(const PodConstraints& constraints, const GpuRules& rules) {
  GpuAsk ask;
  for (const ResourceAmount& request : constraints.requests) {
    std::optional<GpuResource> what = GpuResourceOf(request.resource);
    const int64_t amount = std::clamp<int64_t>(request.amount.units(), 0, kMostDevices);
    if (!what.has_value() || amount == 0) continue;
    int64_t most = amount;
    for (const ResourceAmount& of_one : constraints.most_per_container) {
      if (of_one.resource == request.resource) {
        most = std::clamp<int64_t>(of_one.amount.units(), 0, amount);
      }
    }
    ask.requests.push_back(
        {.what = *std::move(what), .amount = amount, .most_per_container = most});
  }
  if (ask.requests.empty()) return ask;
  Names names(rules, ask);
  for (const auto& [key, value] : constraints.node_selector.entries()) names.Read(key, value);
  if (constraints.required_node_terms.has_value()) names.Read(*constraints.required_node_terms);
  for (const PreferredNodeTerm& preferred : constraints.preferred_node_terms) {
    if (preferred.weight > 0) names.Read(preferred.term);
  }
  return ask;
}

}  // namespace maniple
