#include "test/support/builders.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

void SetAmount(ResourceAmounts& amounts, absl::string_view resource, int64_t amount) {
  const auto at = std::lower_bound(
      amounts.begin(), amounts.end(), resource,
      [](const ResourceAmount& entry, absl::string_view name) { return entry.resource < name; });
  const bool known = at != amounts.end() && at->resource == resource;
  if (amount == 0) {
    if (known) amounts.erase(at);
  } else if (known) {
    at->amount = Amount(amount);
  } else {
    amounts.insert(at, {.resource = std::string(resource), .amount = Amount(amount)});
  }
}

PodAffinityTerm TermOf(const Pod& pod, absl::string_view topology_key, LabelSelector selector) {
  return {.topology_key = std::string(topology_key),
          .selector = std::move(selector),
          .namespaces = {pod.meta.namespace_name},
          .namespace_selector = std::nullopt};
}

}  // namespace

MakeNode::MakeNode(absl::string_view name) {
  node_.meta.name = std::string(name);
  node_.meta.uid = absl::StrCat("uid-", name);
  Cpu(64).Memory(int64_t{512} << 30).Pods(110);
}
MakeNode& MakeNode::Has(absl::string_view resource, int64_t amount) {
  SetAmount(node_.allocatable, resource, amount);
  return *this;
}
MakeNode& MakeNode::Label(absl::string_view key, absl::string_view value) {
  node_.meta.labels.Set(key, value);
  return *this;
}
MakeNode& MakeNode::Annotation(absl::string_view key, absl::string_view value) {
  node_.meta.annotations.Set(key, value);
  return *this;
}
MakeNode& MakeNode::WithTaint(absl::string_view key, absl::string_view value, TaintEffect effect) {
  node_.taints.push_back({.key = std::string(key), .value = std::string(value), .effect = effect});
  return *this;
}
MakeNode& MakeNode::Cordoned() {
  node_.unschedulable = true;
  return *this;
}
MakeNode& MakeNode::Image(absl::string_view name, int64_t mebibytes) {
  node_.images.push_back({.name = std::string(name), .bytes = mebibytes << 20});
  std::sort(node_.images.begin(), node_.images.end());
  return *this;
}
MakeNode& MakeNode::Uid(absl::string_view uid) {
  node_.meta.uid = std::string(uid);
  return *this;
}

MakePod::MakePod(absl::string_view name) {
  pod_.meta.name = std::string(name);
  pod_.meta.namespace_name = "default";
  pod_.meta.uid = absl::StrCat("uid-", name);
  pod_.scheduler_name = "maniple";
}
MakePod& MakePod::In(absl::string_view namespace_name) {
  pod_.meta.namespace_name = std::string(namespace_name);
  return *this;
}
MakePod& MakePod::Uid(absl::string_view uid) {
  pod_.meta.uid = std::string(uid);
  return *this;
}
MakePod& MakePod::Group(absl::string_view group) { return Label(kPodGroupLabel, group); }
MakePod& MakePod::SubGroup(absl::string_view sub_group) { return Label(kSubGroupLabel, sub_group); }
MakePod& MakePod::Index(int64_t completion_index) {
  return Label("batch.kubernetes.io/job-completion-index", absl::StrCat(completion_index));
}
MakePod& MakePod::Label(absl::string_view key, absl::string_view value) {
  pod_.meta.labels.Set(key, value);
  return *this;
}
MakePod& MakePod::Wants(absl::string_view resource, int64_t amount) {
  SetAmount(pod_.constraints.requests, resource, amount);
  return *this;
}
MakePod& MakePod::AtMostPerContainer(absl::string_view resource, int64_t amount) {
  SetAmount(pod_.constraints.most_per_container, resource, amount);
  return *this;
}
MakePod& MakePod::RequiresNvlink() {
  pod_.constraints.requires_nvlink = true;
  return *this;
}
MakePod& MakePod::Selector(absl::string_view key, absl::string_view value) {
  pod_.constraints.node_selector.Set(key, value);
  return *this;
}
MakePod& MakePod::Affinity(std::vector<NodeSelectorTerm> terms) {
  pod_.constraints.required_node_terms = std::move(terms);
  return *this;
}
MakePod& MakePod::Prefers(int32_t weight, NodeSelectorTerm term) {
  pod_.constraints.preferred_node_terms.push_back({.weight = weight, .term = std::move(term)});
  return *this;
}
MakePod& MakePod::Tolerates(absl::string_view key) {
  pod_.constraints.tolerations.push_back(
      {.key = std::string(key), .op = TolerationOperator::kExists, .value = "", .effect = {}});
  return *this;
}
MakePod& MakePod::Port(int32_t port, absl::string_view ip, absl::string_view protocol) {
  pod_.constraints.host_ports.push_back(
      {.ip = std::string(ip), .protocol = std::string(protocol), .port = port});
  return *this;
}
MakePod& MakePod::Runs(absl::string_view image) {
  pod_.constraints.images.emplace_back(image);
  std::sort(pod_.constraints.images.begin(), pod_.constraints.images.end());
  return *this;
}
MakePod& MakePod::Claim(absl::string_view claim) {
  pod_.volumes.claims.push_back({.claim = std::string(claim)});
  return *this;
}
MakePod& MakePod::Ephemeral(absl::string_view volume) {
  pod_.volumes.claims.push_back(
      {.claim = absl::StrCat(pod_.meta.name, "-", volume), .ephemeral = true});
  return *this;
}
MakePod& MakePod::Disk(const maniple::Disk& disk) {
  pod_.volumes.disks.push_back(disk);
  return *this;
}
MakePod& MakePod::Attached(absl::string_view driver, absl::string_view handle) {
  pod_.volumes.attached.push_back({std::string(driver), std::string(handle)});
  return *this;
}
MakePod& MakePod::Near(absl::string_view topology_key, LabelSelector selector) {
  PodTerms& terms = pod_.constraints.pod_terms;
  terms.near.push_back(TermOf(pod_, topology_key, std::move(selector)));
  std::sort(terms.near.begin(), terms.near.end());
  return *this;
}
MakePod& MakePod::Apart(absl::string_view topology_key, LabelSelector selector) {
  PodTerms& terms = pod_.constraints.pod_terms;
  terms.apart.push_back(TermOf(pod_, topology_key, std::move(selector)));
  std::sort(terms.apart.begin(), terms.apart.end());
  return *this;
}
MakePod& MakePod::RatherNear(int32_t weight, absl::string_view topology_key,
                             LabelSelector selector) {
  PodTerms& terms = pod_.constraints.pod_terms;
  terms.rather_near.push_back({weight, TermOf(pod_, topology_key, std::move(selector))});
  std::sort(terms.rather_near.begin(), terms.rather_near.end());
  return *this;
}
MakePod& MakePod::RatherApart(int32_t weight, absl::string_view topology_key,
                              LabelSelector selector) {
  PodTerms& terms = pod_.constraints.pod_terms;
  terms.rather_apart.push_back({weight, TermOf(pod_, topology_key, std::move(selector))});
  std::sort(terms.rather_apart.begin(), terms.rather_apart.end());
  return *this;
}
MakePod& MakePod::With(PodTerms terms) {
  pod_.constraints.pod_terms = std::move(terms);
  return *this;
}
MakePod& MakePod::Spread(absl::string_view topology_key, LabelSelector selector,
                         TopologySpreadConstraint rest) {
  rest.topology_key = std::string(topology_key);
  rest.namespace_name = pod_.meta.namespace_name;
  rest.selector = std::move(selector);
  std::vector<TopologySpreadConstraint>& spread = pod_.constraints.spread;
  spread.push_back(std::move(rest));
  std::sort(spread.begin(), spread.end());
  return *this;
}
MakePod& MakePod::Unsupported(absl::string_view path) {
  pod_.constraints.unsupported.emplace_back(path);
  return *this;
}
MakePod& MakePod::On(absl::string_view node) {
  pod_.node_name = std::string(node);
  return *this;
}
MakePod& MakePod::Nominated(absl::string_view node) {
  pod_.nominated_node_name = std::string(node);
  return *this;
}
MakePod& MakePod::Phase(PodPhase phase) {
  pod_.phase = phase;
  return *this;
}
MakePod& MakePod::Deleting() {
  pod_.meta.deleted = absl::FromUnixSeconds(1'700'000'000);
  return *this;
}
MakePod& MakePod::Gated() {
  pod_.scheduling_gates = {"example.com/hold"};
  return *this;
}
MakePod& MakePod::Priority(int32_t priority) {
  pod_.priority = priority;
  return *this;
}
MakePod& MakePod::Scheduler(absl::string_view name) {
  pod_.scheduler_name = std::string(name);
  return *this;
}

MakePodGroup::MakePodGroup(absl::string_view name) {
  group_.meta.name = std::string(name);
  group_.meta.namespace_name = "default";
  group_.meta.uid = absl::StrCat("uid-group-", name);
}
MakePodGroup& MakePodGroup::In(absl::string_view namespace_name) {
  group_.meta.namespace_name = std::string(namespace_name);
  return *this;
}
MakePodGroup& MakePodGroup::Uid(absl::string_view uid) {
  group_.meta.uid = std::string(uid);
  return *this;
}
MakePodGroup& MakePodGroup::MinMember(int32_t count) {
  group_.spec.min_member = count;
  return *this;
}
MakePodGroup& MakePodGroup::Queue(absl::string_view queue) {
  group_.spec.queue = std::string(queue);
  return *this;
}
MakePodGroup& MakePodGroup::PriorityClass(absl::string_view name) {
  group_.spec.priority_class_name = std::string(name);
  return *this;
}
MakePodGroup& MakePodGroup::Required(absl::string_view level) {
  group_.spec.topology.required = std::string(level);
  return *this;
}
MakePodGroup& MakePodGroup::Preferred(absl::string_view level) {
  group_.spec.topology.preferred = std::string(level);
  return *this;
}
MakePodGroup& MakePodGroup::Slice(int32_t size, absl::string_view level) {
  group_.spec.topology.slice_size = size;
  group_.spec.topology.slice_level = std::string(level);
  return *this;
}
MakePodGroup& MakePodGroup::SubGroup(absl::string_view name, int32_t min_member,
                                     TopologyRequest topology) {
  maniple::SubGroup& sub_group = group_.spec.sub_groups.emplace_back();
  sub_group.name = std::string(name);
  sub_group.min_member = min_member;
  sub_group.topology = std::move(topology);
  return *this;
}

LabelSelector Labelled(absl::string_view key, absl::string_view value) {
  return {.requirements = {Requires(key, SelectorOperator::kIn, {std::string(value)})}};
}

SelectorRequirement Requires(absl::string_view key, SelectorOperator op,
                             std::vector<std::string> values) {
  return {.key = std::string(key), .op = op, .values = std::move(values)};
}

ObjectEvent DeletionOf(ResourceKind kind, absl::string_view name, absl::string_view uid,
                       absl::string_view namespace_name) {
  const bool namespaced = IsNamespaced(kind);
  return ObjectDeleted{
      .key = {.kind = kind,
              .namespace_name = namespaced ? std::string(namespace_name) : std::string(),
              .name = std::string(name)},
      .uid = std::string(uid)};
}

}  // namespace maniple
