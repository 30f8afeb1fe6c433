// Unsupported: a request that this version cannot honour is refused with its path, never ignored.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeUnsupported();

}  // namespace maniple
