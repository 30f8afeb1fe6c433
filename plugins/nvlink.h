// NVLink within a node, as far as a scheduler can promise it. The kubelet decides which GPU
// a pod gets, so a promise has to hold for any of the free ones.
//
// Any GPUs of an all-to-all node are linked. Of n GPUs in linked pairs with f free, two are linked
// for sure iff f > n/2: then some pair is free as a whole. For more than two nothing is known.
// Where there are no links, or none are known, nothing is promised. Slices have no links at all,
// nor have replicas, of which several may be one GPU.
//
// RequireNvlink makes this a filter for pods that ask for it; NvlinkPreference scores all pods that
// ask for more than one GPU.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"
#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeRequireNvlink();
[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeNvlinkPreference();

}  // namespace maniple
