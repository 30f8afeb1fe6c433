// What the state counts of its own work, for metrics and for tests that count work. Only grows.
#pragma once

#include <cstdint>

namespace maniple {

struct StateCounters {
  // Pods that were asked again which selectors select them, because of others than themselves.
  int64_t pods_matched_anew = 0;
  // What pods of other schedulers ask beyond the caps (pod_caps.h), at each time they are read.
  int64_t pod_parts_left_out = 0;
  int64_t sweeps = 0;
};

}  // namespace maniple
