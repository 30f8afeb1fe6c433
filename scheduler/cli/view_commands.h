// The commands that show what a scheduler knows: explain, gangs, log, usage, diag, nodes, queues,
// cohorts, capacity and version.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "scheduler/cli/command_line.h"

namespace maniple {

// What their flags are read into; outlives the reading.
struct ViewRequest {
  std::string namespace_name, name;
  std::string labels;  // a label selector; "" = any
  bool watch = false;  // a list: printed again whenever it changes
  bool by_start = false, as_map = false, with_reasons = false;
  std::vector<std::string> by = {"queue"};  // of kUsageKeys
  std::string since;                        // a time, or how long ago: "24h"; "" = ever
};

// `result` is set when one of them has run.
void AddViewCommands(CLI::App& app, const CommonFlags& common, ViewRequest& request, int& result);

}  // namespace maniple
