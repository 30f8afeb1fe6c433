// Disks that only one pod of a node may use, or several that only read;
// and ReadWriteOncePod claims, which one running pod of the cluster may use at a time.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeVolumeRestrictions();

}  // namespace maniple
