// One simulated history: the real scheduler, client and embedded server in one thread, from one
// seed.
//
//   SimReport report = RunSim({.seed = 7, .steps = 300, .rates = FaultRates::Some(7)});
//   if (!report.violations.empty()) …   // replay: maniple-sim --seed 7 --steps 300
//
// The seed's remainder by four decides on schedulers: one without election (odd), one with election
// (2), or two that contend (0).
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
  // Without the log no text is made that is never read.
  enum class Log { kKept, kDropped } log = Log::kKept;
  std::string about;  // the log tells each change of what names this, too; "" = of nothing
  // Unused entries are swept as in production, or before every turn.
  enum class Sweeps : uint8_t { kAsEver, kAlways } sweeps = Sweeps::kAsEver;
};

struct SimReport {
  std::vector<std::string> violations;  // empty = every promise held
  FaultCounts faults{};
  Coverage coverage{};
  uint64_t binds = 0;
  uint64_t judged_binds = 0;     // those by a process that leads for certain
  uint64_t holds = 0;            // of room for later starts
  uint64_t guests = 0;           // gangs that were let into it
  uint64_t quota_checks = 0;     // binds that were held to their Queues
  uint64_t divisions = 0;        // of nodes by MIG
  uint64_t units = 0;            // of other projects' jobs that have started whole
  uint64_t fingerprint = 0;      // of everything the server saw: equal for equal options
  std::vector<std::string> log;  // decisions, in order
};

[[nodiscard]] SimReport RunSim(const SimOptions& options);

}  // namespace maniple::sim
