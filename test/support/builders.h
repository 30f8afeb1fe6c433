// Builders of model objects for tests: only what the test is about is written down.
//
//   MakeNode("n1").Gpu(8).Label("rack", "r1")              // 64 cpu, 512 GiB, 110 pods unless told
//   otherwise MakePod("a-0").Group("a").Gpu(8).On("n1")              // in namespace "default",
//   scheduler "maniple" MakePodGroup("a").MinMember(4).Queue("team")
//
// Each converts to its model type and to an ObjectEvent that delivers it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/model/object.h"

namespace maniple {

inline constexpr char kGpuResource[] = "nvidia.com/gpu";

class MakeNode final {
 public:
  explicit MakeNode(absl::string_view name);
  MakeNode& Gpu(int64_t count) { return Has(kGpuResource, count); }
  MakeNode& Cpu(int64_t cores) { return Has("cpu", cores * 1000); }
  MakeNode& Memory(int64_t bytes) { return Has("memory", bytes); }
  MakeNode& Pods(int64_t slots) { return Has("pods", slots); }
  MakeNode& Has(absl::string_view resource, int64_t amount);  // 0 removes it
  MakeNode& Label(absl::string_view key, absl::string_view value);
  MakeNode& Product(absl::string_view product) { return Label("nvidia.com/gpu.product", product); }
  MakeNode& Annotation(absl::string_view key, absl::string_view value);
  MakeNode& WithTaint(absl::string_view key, absl::string_view value = "",
                      TaintEffect effect = TaintEffect::kNoSchedule);
  MakeNode& Cordoned();
  MakeNode& Image(absl::string_view name, int64_t mebibytes);
  MakeNode& Uid(absl::string_view uid);
  operator Node() const { return node_; }  // NOLINT: a builder is what it builds
  operator ObjectEvent() const { return ObjectUpserted{node_}; }  // NOLINT

 private:
  Node node_;
};

class MakePod final {
 public:
  explicit MakePod(absl::string_view name);
  MakePod& In(absl::string_view namespace_name);
  MakePod& Uid(absl::string_view uid);  // default: "uid-" and the name
  MakePod& Group(absl::string_view group);
  MakePod& SubGroup(absl::string_view sub_group);
  MakePod& Index(int64_t completion_index);
  MakePod& Label(absl::string_view key, absl::string_view value);
  MakePod& Gpu(int64_t count) { return Wants(kGpuResource, count); }
  MakePod& Cpu(int64_t milli) { return Wants("cpu", milli); }
  MakePod& Memory(int64_t bytes) { return Wants("memory", bytes); }
  MakePod& Wants(absl::string_view resource, int64_t amount);  // 0 removes it
  // Of what it wants of a GPU resource, the container that gets most gets so much.
  MakePod& AtMostPerContainer(absl::string_view resource, int64_t amount);
  MakePod& RequiresNvlink();
  MakePod& Selector(absl::string_view key, absl::string_view value);
  MakePod& Affinity(std::vector<NodeSelectorTerm> terms);
  MakePod& Prefers(int32_t weight, NodeSelectorTerm term);
  MakePod& Tolerates(absl::string_view key);  // any value and effect; "" = everything
  MakePod& Port(int32_t port, absl::string_view ip = "0.0.0.0", absl::string_view protocol = "TCP");
  // Terms on pods of the pod's own namespace, as it is by then.
  MakePod& Near(absl::string_view topology_key, LabelSelector selector);
  MakePod& Apart(absl::string_view topology_key, LabelSelector selector);
  MakePod& RatherNear(int32_t weight, absl::string_view topology_key, LabelSelector selector);
  MakePod& RatherApart(int32_t weight, absl::string_view topology_key, LabelSelector selector);
  // Any others.
  MakePod& With(PodTerms terms);
  MakePod& Spread(absl::string_view topology_key, LabelSelector selector,
                  TopologySpreadConstraint rest = {});
  MakePod& Unsupported(absl::string_view path);
  MakePod& Runs(absl::string_view image);  // in one more container
  MakePod& Claim(absl::string_view claim);
  MakePod& Ephemeral(absl::string_view volume);
  MakePod& Disk(const maniple::Disk& disk);
  MakePod& Attached(absl::string_view driver, absl::string_view handle);  // named in the pod itself
  MakePod& On(absl::string_view node);
  MakePod& Nominated(absl::string_view node);
  MakePod& Phase(PodPhase phase);
  MakePod& Deleting();
  MakePod& Gated();
  MakePod& Priority(int32_t priority);
  MakePod& Scheduler(absl::string_view name);
  operator Pod() const { return pod_; }                          // NOLINT
  operator ObjectEvent() const { return ObjectUpserted{pod_}; }  // NOLINT

 private:
  Pod pod_;
};

class MakePodGroup final {
 public:
  explicit MakePodGroup(absl::string_view name);
  MakePodGroup& In(absl::string_view namespace_name);
  MakePodGroup& Uid(absl::string_view uid);
  MakePodGroup& MinMember(int32_t count);
  MakePodGroup& Queue(absl::string_view queue);
  MakePodGroup& PriorityClass(absl::string_view name);
  MakePodGroup& Required(absl::string_view level);
  MakePodGroup& Preferred(absl::string_view level);
  MakePodGroup& Slice(int32_t size, absl::string_view level);
  MakePodGroup& SubGroup(absl::string_view name, int32_t min_member, TopologyRequest topology = {});
  operator PodGroup() const { return group_; }                     // NOLINT
  operator ObjectEvent() const { return ObjectUpserted{group_}; }  // NOLINT

 private:
  PodGroup group_;
};

[[nodiscard]] LabelSelector Labelled(absl::string_view key, absl::string_view value);
[[nodiscard]] SelectorRequirement Requires(absl::string_view key, SelectorOperator op,
                                           std::vector<std::string> values = {});
[[nodiscard]] ObjectEvent DeletionOf(ResourceKind kind, absl::string_view name,
                                     absl::string_view uid = "",
                                     absl::string_view namespace_name = "default");

}  // namespace maniple
