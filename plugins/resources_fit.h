// NodeResourcesFit: every requested resource has to be free on the node, one pod slot included.
//
// A zero request asks nothing, a resource that the node does not have counts as zero, and free room
// may be negative. A per-node cap: the node takes as many members as its scarcest resource allows.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeResourcesFit();

}  // namespace maniple
