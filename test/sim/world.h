// One simulated history: the real scheduler, client and embedded server in one thread, from one
// seed.
//
//   SimReport report = RunSim({.seed = 7, .steps = 300});
//   if (!report.violations.empty()) …   // replay: maniple-sim --seed 7 --steps 300
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/sim/faults.h"

namespace maniple::sim {

struct SimOptions {
  uint64_t seed = 1;
  int steps = 300;  // actions of the workload
  FaultRates rates;
  // Off: no faults at all, for shrinking and for speed figures.
  enum class Faults { kOn, kOff } faults = Faults::kOn;
};

struct SimReport {
  std::vector<std::string> violations;  // empty = every promise held
  FaultCounts faults{};
  uint64_t crashes = 0;
  uint64_t binds = 0;
  uint64_t fingerprint = 0;      // of everything the server saw: equal for equal options
  std::vector<std::string> log;  // decisions, in order
};

[[nodiscard]] SimReport RunSim(const SimOptions& options);

}  // namespace maniple::sim
