// The cells of a Pod's row, computed from its status as kubectl users know them. Private to this
// room.
#pragma once

#include "absl/time/time.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

Json PodReady(const Json& pod, absl::Time now);   // "1/2"
Json PodStatus(const Json& pod, absl::Time now);  // "Running", "Terminating", "Init:0/1"
Json PodRestarts(const Json& pod, absl::Time now);
Json PodAddressCell(const Json& pod, absl::Time now);
Json PodNode(const Json& pod, absl::Time now);
Json PodNominatedNode(const Json& pod, absl::Time now);
Json PodReadinessGates(const Json& pod, absl::Time now);

}  // namespace maniple::devcluster
