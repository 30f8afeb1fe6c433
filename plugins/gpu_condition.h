// GpuCondition: pods that ask for GPUs, or slices of them, keep off three kinds of nodes.
// Their GPUs are being repartitioned, or get another driver, or have invalid slices.
//
// Such a node may still report its GPUs, and its labels may be unchanged.
// Running pods are not asked about: a bound or reserved pod stays.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeGpuCondition();

}  // namespace maniple
