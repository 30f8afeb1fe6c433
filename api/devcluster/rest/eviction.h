// POST pods/eviction: deletes a pod if its PodDisruptionBudget allows it.
#pragma once

#include "api/codec/json.h"
#include "api/devcluster/store/writes.h"
#include "api/devcluster/types/api_error.h"

namespace maniple::devcluster {

// 429 with a cause DisruptionBudget when the budget is used up, 500 when two budgets cover the pod.
// Pending, finished and terminating pods need no budget. Success: graceful deletion has begun.
MaybeError EvictPod(const Cluster& cluster, const ObjectName& pod, const Json& eviction,
                    DryRun dry_run);

// DeleteOptions of a DELETE body or inside an Eviction.
ApiOr<DeleteOptions> ParseDeleteOptions(const Json& body);

}  // namespace maniple::devcluster
