// The volumes that a pod's claims are bound to must be reachable from its node; a claim that waits
// for the node needs a volume there, or a provisioner that can make one.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeVolumeBinding();

}  // namespace maniple
