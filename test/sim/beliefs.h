// What one scheduler believes, for whoever reads the log of a failing history.
#pragma once

#include <string>
#include <vector>

#include "test/sim/process.h"

namespace maniple::sim {

// A line for each gang, Queue and node, after what is in the log already.
void TellBeliefs(const Process& process, std::vector<std::string>& log);

}  // namespace maniple::sim
