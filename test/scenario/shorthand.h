// Objects from shorthand: "rack r1 nvlink c1: n[1-4] gpu=8 @label=value; n5 cpu=64" becomes five
// Nodes, {gang: a, pods: 2, each: "gpu=8"} a PodGroup and its pods.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple::scenario {

// InvalidArgument quotes the part that is not understood.
[[nodiscard]] absl::StatusOr<std::vector<Json>> NodesFrom(absl::string_view shorthand);
// "gpu=0 @nvidia.com/mig.config.state=pending": what a node has of these from now on.
struct NodeChange {
  Json labels, amounts;
};
[[nodiscard]] absl::StatusOr<NodeChange> NodeChangeFrom(absl::string_view shorthand);
// "in pool weight=2 strict: h100 gpu=8+4/2; cpu=64" becomes a Queue, or a Cohort: where it belongs,
// how it behaves, and one entry per flavor of resource=nominal+borrowingLimit/lendingLimit.
enum class QuotaKind { kQueue, kCohort };
[[nodiscard]] absl::StatusOr<Json> QuotaFrom(QuotaKind kind, absl::string_view name,
                                             absl::string_view shorthand);
// "rack r1 priority=5": the nodes of that rack.
[[nodiscard]] absl::StatusOr<Json> FlavorFrom(absl::string_view name, absl::string_view shorthand);
[[nodiscard]] Json RackLabels(absl::string_view rack);
// The Topology "default" of these levels, each by the label that nodes carry for it.
[[nodiscard]] Json TopologyFrom(const std::vector<Json>& levels);
// {gang, pods, min, each, first, group, sub, gate, queue, topology, spec, pod, annotations}: the
// PodGroup (unless `group: none`, `group: later` or `first` > 0) and pods named <gang>-<first> ….
// The gang "g[1-3]" is three of them.
[[nodiscard]] absl::StatusOr<std::vector<Json>> GangFrom(const Json& shorthand);

}  // namespace maniple::scenario
