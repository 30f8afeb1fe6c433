// A bound volume whose labels name zones or regions runs only where the node's labels agree. A node
// without any such label passes.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeVolumeZone();

}  // namespace maniple
