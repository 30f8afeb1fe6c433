// What a pod takes on its node, as a kubelet counts it.
#pragma once

#include <map>
#include <string>

#include "api/base/amount.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

using ResourceAmounts = std::map<std::string, Amount>;

// Containers and sidecars together, or the largest init container with the sidecars started before
// it, plus overhead and one of "pods". Limits stand in for requests that are not given; pod-level
// requests replace the sum of the containers'. What is no quantity counts as nothing: admission has
// refused it already.
[[nodiscard]] ResourceAmounts PodRequests(const Json& pod);

// {"cpu": "4", …} as amounts.
[[nodiscard]] ResourceAmounts AmountsOf(const Json& quantities);

}  // namespace maniple::devcluster
