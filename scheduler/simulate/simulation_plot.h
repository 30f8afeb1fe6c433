// A simulation as a drawing: the used, wanted and split parts of all GPUs over time,
// a panel for each configuration.
#pragma once

#include <string>
#include <vector>

#include "scheduler/simulate/simulation.h"

namespace maniple {

struct DrawnRun {
  std::string name;
  const SimulationResult* result = nullptr;
};
// SVG.
[[nodiscard]] std::string SimulationPlot(const std::vector<DrawnRun>& runs);

}  // namespace maniple
