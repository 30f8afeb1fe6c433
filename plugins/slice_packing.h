// SlicePacking: MIG slices go to the nodes with most of their GPUs in use, so that whole nodes fall
// idle.
//
// Use is counted in compute slices over all profiles and whole GPUs of a node.
// So a node half taken by 3g slices is a better place for a 1g than an idle one. For pods that
// ask for slices it stands in for Packing, which looks at the requested profile alone.
#pragma once

#include <memory>

#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeSlicePacking();

}  // namespace maniple
