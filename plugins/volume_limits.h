// A node attaches only so many volumes of a CSI driver; one volume that several pods of the node
// use counts once.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeNodeVolumeLimits();

}  // namespace maniple
