// Objects from shorthand: "rack r1: n[1-4] gpu=8; n5 cpu=64" becomes five Nodes, {gang: a, pods: 2,
// each: "gpu=8"} a PodGroup and its pods.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple::scenario {

// InvalidArgument quotes the part that is not understood.
[[nodiscard]] absl::StatusOr<std::vector<Json>> NodesFrom(absl::string_view shorthand);
// {gang, pods, min, each, first, group, sub, gates, spec}: the PodGroup (unless `group: no` or
// `first` > 0) and pods named <gang>-<first> ….
[[nodiscard]] absl::StatusOr<std::vector<Json>> GangFrom(const Json& shorthand);

}  // namespace maniple::scenario
