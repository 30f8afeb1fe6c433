// What kube-apiserver's admission does to a Pod. A new one gets its priority, tolerations, overhead
// and first status, a changed one its tolerations.
//
// Functions of the Pod and the objects it names.
#pragma once

#include "absl/time/time.h"
#include "api/codec/json.h"
#include "api/devcluster/store/cluster.h"
#include "api/devcluster/types/api_error.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

// Forbidden when a class that the Pod names does not exist or contradicts it.
MaybeError AdmitNewPod(const Cluster& cluster, const ResourceType& pods, Json& pod);

// A changed Pod gets back the tolerations of short outages that a patch of the list took away.
void AdmitPodChange(Json& pod);

// The first status of a new Pod: Pending, its QoS class, SchedulingGated when it is gated.
void StartPodStatus(Json& pod, absl::Time now);

}  // namespace maniple::devcluster
