// What is wrong with the affinity and the topology spread of a Pod, in the words of kube-apiserver.
//
// Pure functions; causes are appended, none means valid. `field` is where the value stands.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/devcluster/types/api_error.h"

namespace maniple::devcluster {

// spec.affinity: terms about nodes, and about pods that are to be near or apart.
void ValidateAffinity(const Json& affinity, absl::string_view field,
                      std::vector<StatusCause>& causes);
// spec.topologySpreadConstraints.
void ValidateTopologySpread(const Json& constraints, absl::string_view field,
                            std::vector<StatusCause>& causes);

}  // namespace maniple::devcluster
