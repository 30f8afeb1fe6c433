// GpuCondition: pods that ask for GPUs, or slices of them, keep off nodes whose GPUs are being
// repartitioned or get another driver, and off those whose slices are invalid.
//
// Such a node may still report GPUs, and its labels what they were. Pods that run there are not
// asked about: who is bound, or reserved, stays.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeGpuCondition();

}  // namespace maniple
