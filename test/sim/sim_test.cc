// A small, fixed part of the simulation in every test run; many seeds are run by maniple-sim.
#include "test/sim/world.h"

#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "api/base/log.h"

namespace maniple::sim {
namespace {

SimOptions WithEveryFault(uint64_t seed) {
  ConfigureLog({.least = LogSeverity::kError});
  SimOptions options{.seed = seed, .steps = 120};
  options.rates.one_in[static_cast<size_t>(Fault::kHistoryLost)] = 800;
  options.rates.one_in[static_cast<size_t>(Fault::kCrash)] = 40;
  return options;
}

TEST(Simulation, EveryPromiseHoldsUnderEveryFault) {
  FaultCounts struck{};
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const SimReport report = RunSim(WithEveryFault(seed));
    ASSERT_TRUE(report.violations.empty())
        << "seed " << seed << ": " << absl::StrJoin(report.violations, "\n");
    EXPECT_GT(report.binds, 0) << "seed " << seed;
    for (int i = 0; i < kFaults; ++i) struck[i] += report.faults[i];
  }
  for (int i = 0; i < kFaults; ++i) EXPECT_GT(struck[i], 0) << FaultName(static_cast<Fault>(i));
}

TEST(Simulation, TheSameSeedGivesTheSameHistory) {
  const SimReport once = RunSim(WithEveryFault(4711));
  const SimReport again = RunSim(WithEveryFault(4711));
  EXPECT_EQ(once.fingerprint, again.fingerprint);
  EXPECT_EQ(once.log, again.log);
}

TEST(Simulation, WithoutFaultsEveryPromiseHoldsToo) {
  for (uint64_t seed = 100; seed < 120; ++seed) {
    SimOptions options = WithEveryFault(seed);
    options.faults = SimOptions::Faults::kOff;
    const SimReport report = RunSim(options);
    ASSERT_TRUE(report.violations.empty())
        << "seed " << seed << ": " << absl::StrJoin(report.violations, "\n");
  }
}

}  // namespace
}  // namespace maniple::sim
