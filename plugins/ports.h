// NodePorts: a host port can be used once per node, address and protocol; 0.0.0.0 stands for every
// address.
//
// A per-node cap: members of one shape ask for the same ports, so a node takes one of them.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeNodePorts();

}  // namespace maniple
