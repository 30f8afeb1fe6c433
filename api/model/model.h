// Plain values with exactly the Kubernetes fields we schedule on. No behaviour beyond lookup and
// comparison.
//
// Amounts are in the scheduler's units: cpu in milli, everything else in whole units
// (api/codec/quantity.h). Lists that Kubernetes treats as sets are sorted, so that equal meaning is
// equal bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "api/base/amount.h"
#include "api/model/labels.h"
#include "api/model/pod_terms.h"
#include "api/model/pod_volumes.h"

namespace maniple {

struct OwnerReference {
  std::string kind, name, uid;
  std::string api_version = {};
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
  absl::Duration deletion_grace;      // deletionGracePeriodSeconds
  StringMap labels;
  StringMap annotations;  // only the keys under the domains we read; see api/codec/decode.h
  std::optional<OwnerReference> controller;
};

// An amount of one resource. Lists of these are sorted by name and hold no zero amounts.
struct ResourceAmount {
  std::string resource;
  Amount amount;
  friend auto operator<=>(const ResourceAmount&, const ResourceAmount&) = default;
};
using ResourceAmounts = std::vector<ResourceAmount>;

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

// The facts that decide where a pod may run; pods with equal PodConstraints are of one shape.
struct PodConstraints {
  ResourceAmounts requests;  // as NodeResourcesFit counts them: init, sidecars, overhead,
                             // pod-level; no "pods" entry
  // Of GPU resources that several containers ask for: what the one that asks for most gets. Not
  // listed: all of it goes to one container.
  ResourceAmounts most_per_container;
  bool requires_nvlink = false;  // its GPUs, more than one, have to be linked with each other
  StringMap node_selector;
  // ORed; present but empty matches nothing.
  std::optional<std::vector<NodeSelectorTerm>> required_node_terms;
  std::vector<PreferredNodeTerm> preferred_node_terms;
  std::vector<Toleration> tolerations;
  std::vector<HostPort> host_ports;
  std::vector<std::string> images;               // of every container, with tag or digest; sorted
  SharedVolumeNeeds volumes;                     // filled by the state, which knows the claims
  PodTerms pod_terms;                            // affinity to other pods
  std::vector<TopologySpreadConstraint> spread;  // sorted
  // Spec paths that this version refuses, e.g. "spec.resourceClaims"; sorted.
  std::vector<std::string> unsupported;
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
  std::string scheduling_group;  // schedulingGroup.podGroupName
  std::optional<absl::Duration> active_deadline;
  PodPhase phase = PodPhase::kPending;
  bool ready = false;         // condition Ready is True
  std::string status_reason;  // e.g. "OutOfnvidia.com/gpu", "Evicted"
  std::string nominated_node_name;
  std::optional<PodCondition> scheduled_condition;
  absl::Time started = absl::InfinitePast();
};

// One name of an image that a node has. An image has several names.
struct NodeImage {
  std::string name;
  int64_t bytes = 0;
  friend auto operator<=>(const NodeImage&, const NodeImage&) = default;
};

// A label of every node, by which each is a domain of its own.
inline constexpr char kHostnameLabel[] = "kubernetes.io/hostname";

struct Node {
  ObjectMeta meta;
  bool unschedulable = false;
  std::vector<Taint> taints;
  bool ready = true;              // condition Ready, for display; scheduling follows the taint
  ResourceAmounts allocatable;    // with an entry for "pods"
  std::vector<NodeImage> images;  // by name, each once
};

struct PriorityClass {
  ObjectMeta meta;
  int32_t value = 0;
  bool preempts = true;  // preemptionPolicy is not Never
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
