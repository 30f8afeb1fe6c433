// PodAffinityPreference: the sum of the weights by which the pods around a node draw the pod there
// or drive it away. They are the pod's own preferred terms, those of others, and one for each pod
// that requires to be near it; from the least (0) to the most (100) among the nodes that fit.
#pragma once

#include <memory>

#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakePodAffinityPreference();

}  // namespace maniple
