// Are two nodes in one domain of the level that a gang requires?
#pragma once

#include "api/model/maniple_types.h"
#include "plugins/framework/snapshot.h"

namespace maniple {

// By the labels that the snapshot carries; true when they do not tell.
[[nodiscard]] bool SameDomain(const Snapshot& snapshot, const TopologyRequest& topology, NodeId a,
                              NodeId b);

}  // namespace maniple
