// The labels of nodes that a pod's constraints name. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/model/model.h"
#include "api/model/volume_needs.h"

namespace maniple {

// The keys that decide where the pod may or would rather run.
[[nodiscard]] std::vector<std::string> LabelKeysOf(const PodConstraints& constraints);
// The keys whose values are the domains of its terms on other pods.
[[nodiscard]] std::vector<std::string> TopologyKeysOf(const PodConstraints& constraints);
[[nodiscard]] std::vector<std::string> LabelKeysOf(const NodeTerms& terms);

}  // namespace maniple
