// What fits now: how many pods of each size at once, anywhere and within one topology domain. What
// `maniple capacity` prints, from the nodes of the admin surface. Pure functions of data.
//
// Room alone: neither quota nor the other resources of a pod are asked. For one job that is
// `maniple whatif`.
#pragma once

#include <string>

#include "api/codec/json.h"

namespace maniple {

// {items: [{resource, model, size, pods, free, allocatable, domains: [{domain, pods}]}]}: for each
// GPU resource of nodes with one model (DeviceText), sizes 1, 2, 4 … up to what its largest node
// gives one container; free and allocatable are sums over the nodes that take pods now. One domain
// a level, broadest first: that with room for most.
[[nodiscard]] Json CapacityOf(const Json& nodes);
[[nodiscard]] std::string CapacityTable(const Json& capacity);

}  // namespace maniple
