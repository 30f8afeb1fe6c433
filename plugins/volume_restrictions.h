// Disks that one pod of a node may use, or several that only read; and ReadWriteOncePod claims, of
// whose pods one at a time may run in the cluster.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeVolumeRestrictions();

}  // namespace maniple
