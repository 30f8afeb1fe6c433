// Whose the units of a node's resource are that are not free. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "scheduler/report/node_view.h"

namespace maniple {

struct NodeUse {
  absl::string_view gang;  // "namespace/name", borrowed from the row; "" = pods of no gang
  int64_t amount = 0;
  absl::string_view state;  // "", "leaving" or "held"
};

// Within what there is: room that is held and still in use is subtracted twice from `free`.
[[nodiscard]] int64_t FreeOf(const NodeResourceView& resource);

// With FreeOf they add up to what there is, or to more where a device failed under its pod.
[[nodiscard]] std::vector<NodeUse> UsesOf(const NodeRow& node, const NodeResourceView& resource);

}  // namespace maniple
