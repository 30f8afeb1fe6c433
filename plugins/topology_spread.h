// PodTopologySpread: with one pod more, no domain may have more matching pods than the emptiest one
// and the skew; constraints that must hold (DoNotSchedule).
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeTopologySpread();

}  // namespace maniple
