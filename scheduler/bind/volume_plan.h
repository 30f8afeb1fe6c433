// The volumes for the claims of a plan, once every member has its node. No volume is given twice,
// small claims get small volumes, and a provisioner serves claims that find none.
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
// None: there are too few volumes after all. A claim that several members share comes out once,
// for the first of them.
[[nodiscard]] std::optional<std::vector<ClaimGoal>> PlanVolumes(const Snapshot& snapshot,
                                                                const std::vector<ClaimAsk>& asks);

}  // namespace maniple
