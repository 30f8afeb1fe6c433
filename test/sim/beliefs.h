// The beliefs of one scheduler, for readers of the log of a failing history.
#pragma once

#include <string>
#include <vector>

#include "test/sim/process.h"

namespace maniple::sim {

// Appends a line for each gang, Queue and node to the log.
void TellBeliefs(const Process& process, std::vector<std::string>& log);

}  // namespace maniple::sim
