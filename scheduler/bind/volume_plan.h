// Which claim of a plan gets which volume, once every member has its node: no volume twice, small
// claims small volumes, and a provisioner for who finds none.
//
// A pure function of the snapshot that the plan was made on.
#pragma once

#include <optional>
#include <vector>

#include "api/model/claim_binding.h"
#include "plugins/framework/snapshot.h"

namespace maniple {

struct ClaimAsk {
  PodId pod;
  NodeId node;
  ClaimToBind claim;
};
// None: there are not volumes enough after all. Claims that several members share come out once,
// for the first of them.
[[nodiscard]] std::optional<std::vector<ClaimGoal>> PlanVolumes(const Snapshot& snapshot,
                                                                const std::vector<ClaimAsk>& asks);

}  // namespace maniple
