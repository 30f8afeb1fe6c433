// NodeAffinity: the node selector, and one of the required affinity terms, must match the node.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeNodeAffinity();

}  // namespace maniple
