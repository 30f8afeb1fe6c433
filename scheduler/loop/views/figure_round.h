// The figures for metrics while they are made piece by piece. A value of the scheduling loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/cycle/topology/domain_level.h"
#include "scheduler/report/figures.h"

namespace maniple {

struct FigureRound {
  enum class Next : uint8_t { kQueues, kCohorts, kGpus, kLevels };
  Next next = Next::kQueues;
  ClusterFigures figures;
  std::vector<LevelKey> levels;  // each is looked at in a piece of its own
  size_t next_level = 0;
};

}  // namespace maniple
