// CoolDown: a node that has just rejected a pod is left alone for a while.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeCoolDown();

}  // namespace maniple
