// Fragmentation: a pod goes where its coming costs least to the GPU pods that are likely to come.
//
// The loss is that of the expected fill (plugins/framework/expected_fill.h) over the mix
// of requests in the snapshot. A pod without GPUs is scored as well: on a node with GPUs it takes
// cores and memory that they need. Nothing to say without a mix: then packing decides.
#pragma once

#include <memory>

#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeFragmentation();

}  // namespace maniple
