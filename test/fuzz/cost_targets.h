// What strange but valid objects cost, and what stays of them. Oracles as in codec_targets.h.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// A history of objects that come, change and go among ordinary pods, through ClusterState and
// Decide. Work and memory are bounded by the bytes of the objects; once all is deleted, a second
// such history leaves nothing more behind, and a plain pod starts on a node that joins.
[[nodiscard]] std::string FuzzCost(absl::string_view bytes);
// The same without a look at the time, for tests that run beside others.
[[nodiscard]] std::string FuzzCostUntimed(absl::string_view bytes);

}  // namespace maniple
