// The state's counters of its own work, for metrics and for tests that count work. They only grow.
#pragma once

#include <cstdint>

namespace maniple {

struct StateCounters {
  // Matches of pods that were worked out anew because of other pods' selectors.
  int64_t pods_matched_anew = 0;
  // Parts beyond the caps (pod_caps.h) of pods of other schedulers, at each time they are read.
  int64_t pod_parts_left_out = 0;
  int64_t sweeps = 0;
};

}  // namespace maniple
