// What metrics tell of the cluster, while it is made piece by piece. A value of the scheduling
// loop.
#pragma once

#include <cstdint>

#include "scheduler/report/view.h"

namespace maniple {

struct FigureRound {
  enum class Next : uint8_t { kQueues, kCohorts, kGpus };
  Next next = Next::kQueues;
  ClusterFigures figures;
};

}  // namespace maniple
