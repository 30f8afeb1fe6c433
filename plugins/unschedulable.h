// NodeUnschedulable: a cordoned node takes only pods that tolerate the cordon's taint.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeNodeUnschedulable();

}  // namespace maniple
