// InterPodAffinity: required affinity and anti-affinity of the pod to others, and the required
// anti-affinity of others to the pod.
//
// Members of one gang that must be apart on a label which no two nodes share are a cap of one per
// node; on any other label they are searched one by one. Members that must be near each other, and
// near no pod that stands already, take one domain for all.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakePodAffinity();

}  // namespace maniple
