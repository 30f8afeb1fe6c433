// Plain values with exactly the Kubernetes fields we schedule on. No behaviour beyond lookup and
// comparison.
//
// Amounts are what the scheduler counts with: cpu in milli, everything else in whole units
// (api/codec/quantity.h). Lists that Kubernetes treats as sets are sorted, so that equal meaning is
// equal bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/amount.h"
#include "api/model/pod_volumes.h"

namespace maniple {

// A small sorted map of strings: labels, annotations, node selectors.
class StringMap final {
 public:
  StringMap() = default;
  explicit StringMap(std::vector<std::pair<std::string, std::string>> entries);

  void Set(absl::string_view key, absl::string_view value);
  [[nodiscard]] const std::string* Find(absl::string_view key) const;
  // "" when absent.
  [[nodiscard]] absl::string_view Get(absl::string_view key) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& entries() const {
    return entries_;
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

  friend auto operator<=>(const StringMap&, const StringMap&) = default;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;  // sorted by key, keys unique
};

struct OwnerReference {
  std::string kind, name, uid;
  friend auto operator<=>(const OwnerReference&, const OwnerReference&) = default;
};

struct ObjectMeta {
  std::string name;
  std::string namespace_name;
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  absl::Time created = absl::InfinitePast();
  std::optional<absl::Time> deleted;  // deletionTimestamp
  StringMap labels;
  StringMap annotations;  // only the keys under the domains we read; see api/codec/decode.h
  std::optional<OwnerReference> controller;
};

// One resource and how much of it. Lists of these are sorted by name and hold no zero amounts.
struct ResourceAmount {
  std::string resource;
  Amount amount;
  friend auto operator<=>(const ResourceAmount&, const ResourceAmount&) = default;
};
using ResourceAmounts = std::vector<ResourceAmount>;

enum class SelectorOperator { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };
struct SelectorRequirement {
  std::string key;
  SelectorOperator op = SelectorOperator::kExists;
  std::vector<std::string> values;
  friend auto operator<=>(const SelectorRequirement&, const SelectorRequirement&) = default;
};
// Whether a label of this value (nullptr = the label is absent) meets the requirement, as
// kube-scheduler decides it: kNotIn and kDoesNotExist are met by an absent label; kGt and kLt need
// whole numbers on both sides.
[[nodiscard]] bool Satisfies(const SelectorRequirement& requirement, const std::string* value);

struct NodeSelectorTerm {
  std::vector<SelectorRequirement> expressions;
  std::vector<SelectorRequirement> fields;  // metadata.name only
  friend auto operator<=>(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};
struct PreferredNodeTerm {
  int32_t weight = 0;
  NodeSelectorTerm term;
  friend auto operator<=>(const PreferredNodeTerm&, const PreferredNodeTerm&) = default;
};
// Label selector of a Queue, PDB, affinity term … matchLabels folded into expressions (kIn with one
// value).
struct LabelSelector {
  std::vector<SelectorRequirement> requirements;  // empty selects everything
  [[nodiscard]] bool Matches(const StringMap& labels) const;
  friend auto operator<=>(const LabelSelector&, const LabelSelector&) = default;
};

enum class TaintEffect { kNoSchedule, kPreferNoSchedule, kNoExecute };
struct Taint {
  std::string key, value;
  TaintEffect effect = TaintEffect::kNoSchedule;
  friend auto operator<=>(const Taint&, const Taint&) = default;
};
enum class TolerationOperator { kEqual, kExists };
struct Toleration {
  std::string key;
  TolerationOperator op = TolerationOperator::kEqual;
  std::string value;
  std::optional<TaintEffect> effect;  // absent = every effect
  friend auto operator<=>(const Toleration&, const Toleration&) = default;
};
[[nodiscard]] bool Tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);

struct HostPort {
  std::string ip = "0.0.0.0";
  std::string protocol = "TCP";
  int32_t port = 0;
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

// What decides where a pod may run; pods with equal PodConstraints are of one shape.
struct PodConstraints {
  ResourceAmounts requests;  // as NodeResourcesFit counts them: init, sidecars, overhead,
                             // pod-level; no "pods" entry
  // Of GPU resources that several containers ask for: what the one that asks for most gets. Not
  // listed: all of it goes to one container.
  ResourceAmounts most_per_container;
  bool requires_nvlink = false;  // its GPUs, more than one, have to be linked with each other
  StringMap node_selector;
  std::optional<std::vector<NodeSelectorTerm>>
      required_node_terms;  // ORed; present but empty matches nothing
  std::vector<PreferredNodeTerm> preferred_node_terms;
  std::vector<Toleration> tolerations;
  std::vector<HostPort> host_ports;
  SharedVolumeNeeds volumes;  // filled by the state, which knows the claims
  std::vector<std::string>
      unsupported;  // spec paths that this version refuses, e.g. "spec.resourceClaims"; sorted
  friend auto operator<=>(const PodConstraints&, const PodConstraints&) = default;
};

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

struct PodCondition {
  std::string status, reason, message;  // of PodScheduled
  friend auto operator<=>(const PodCondition&, const PodCondition&) = default;
};

struct Pod {
  ObjectMeta meta;
  std::string scheduler_name;
  std::string node_name;  // "" = unbound
  std::string priority_class_name;
  int32_t priority = 0;
  bool preempts = true;  // preemptionPolicy is not Never
  PodConstraints constraints;
  PodVolumes volumes;
  std::vector<std::string> scheduling_gates;
  std::optional<absl::Duration> active_deadline;
  PodPhase phase = PodPhase::kPending;
  std::string status_reason;  // e.g. "OutOfnvidia.com/gpu", "Evicted"
  std::string nominated_node_name;
  std::optional<PodCondition> scheduled_condition;
  absl::Time started = absl::InfinitePast();
};

struct Node {
  ObjectMeta meta;
  bool unschedulable = false;
  std::vector<Taint> taints;
  bool ready = true;            // condition Ready, for display; scheduling follows the taint
  ResourceAmounts allocatable;  // with "pods" as one of them
};

struct PriorityClass {
  ObjectMeta meta;
  int32_t value = 0;
};

struct Namespace {
  ObjectMeta meta;
};

// policy/v1
struct PodDisruptionBudget {
  ObjectMeta meta;
  std::optional<LabelSelector> selector;  // absent = no pod
  int32_t disruptions_allowed = 0;
  int64_t observed_generation = 0;  // the spec that disruptions_allowed was counted for
};

}  // namespace maniple
