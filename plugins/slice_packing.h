// SlicePacking: MIG slices go to the nodes with most of their GPUs in use, so that whole nodes fall
// idle.
//
// In use counts by compute slices over all profiles and whole GPUs of a node: one that is half
// taken by 3g slices is a better place for a 1g than one on which nothing runs. Stands in for
// Packing, which looks at the requested profile alone, where slices are asked for.
#pragma once

#include <memory>

#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeSlicePacking();

}  // namespace maniple
