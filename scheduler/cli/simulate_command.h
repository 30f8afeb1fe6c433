// `maniple simulate`: a trace of jobs, played by the real scheduler on a clock of its own; offline.
#pragma once

#include <string>
#include <vector>

namespace maniple {

struct SimulateRequest {
  std::string trace;                 // file; "-" is standard input
  std::vector<std::string> cluster;  // files: manifests, a snapshot, or a node list of openb
  std::vector<std::string> nodes;    // "310:gpus=8"
  std::vector<std::string> configs;  // files; none: the defaults
  std::string quota = "none";        // or equal, demand
  int64_t first = 0;                 // so many jobs of the trace; 0 = all
  double speed = 1;                  // jobs come so many times as fast
  bool tells_run_times = false;
  std::string csv, plot;  // files to be written
  std::string output = "table";
};
// The status to exit with.
[[nodiscard]] int RunSimulate(const SimulateRequest& request);

}  // namespace maniple
