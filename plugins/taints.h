// TaintToleration: every NoSchedule and NoExecute taint of the node needs a toleration.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeTaintToleration();

}  // namespace maniple
