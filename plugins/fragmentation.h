// Fragmentation: a pod with GPUs goes where the pods that are likely to come lose least by it.
//
// The loss is that of the expected fill (plugins/framework/expected_fill.h) over the mix of
// requests in the snapshot, against the GPU work that the pod itself asks for: 100 where nothing is
// lost, 50 where exactly that is, less where it breaks what others need whole. Nothing to say
// without a mix: then packing decides.
#pragma once

#include <memory>

#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeFragmentation();

}  // namespace maniple
