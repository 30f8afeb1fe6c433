// maniple-sim: many seeds of simulated history, or one of them again.
//
//   maniple-sim --seeds 5000                  # the report: rate, faults struck, violations; exit 1
//   if any maniple-sim --seed 17 --steps 300 --log   # one history with its decision log
//
// A failing seed is printed with the command that replays it and shrunk to the fewest steps that
// still fail.
#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "api/base/log.h"
#include "test/sim/world.h"

namespace maniple::sim {
namespace {

struct Totals {
  std::atomic<uint64_t> seeds{0}, failed{0}, binds{0};
  std::array<std::atomic<uint64_t>, kFaults> faults{};
};

// The fewest steps with which the seed still fails: halving, then one by one from the last halving.
int Shrunk(SimOptions options) {
  int fails = options.steps, passes = 0;
  while (fails - passes > 1) {
    options.steps = passes + (fails - passes) / 2;
    (RunSim(options).violations.empty() ? passes : fails) = options.steps;
  }
  return fails;
}

void RunOne(const SimOptions& options, Totals& totals) {
  const SimReport report = RunSim(options);
  ++totals.seeds;
  totals.binds += report.binds;
  for (int i = 0; i < kFaults; ++i) totals.faults[i] += report.faults[i];
  if (report.violations.empty()) return;
  ++totals.failed;
  const int steps = Shrunk(options);
  absl::PrintF("FAIL seed %d: %s\n     replay: maniple-sim --seed %d --steps %d --log\n",
               options.seed, report.violations.front(), options.seed, steps);
  std::fflush(stdout);
}

int RunMany(SimOptions options, uint64_t first, uint64_t seeds, int jobs) {
  Totals totals;
  const auto began = std::chrono::steady_clock::now();
  std::atomic<uint64_t> next{first};
  std::vector<std::jthread> threads;
  for (int i = 0; i < jobs; ++i) {
    threads.emplace_back([&totals, &next, options, end = first + seeds] {
      for (uint64_t seed = next++; seed < end; seed = next++) {
        SimOptions mine = options;
        mine.seed = seed;
        RunOne(mine, totals);
      }
    });
  }
  threads.clear();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  absl::PrintF(
      "%d seeds of %d steps in %.1f s: %.1f seeds/s on %d threads, %d binds, %d violations\n",
      totals.seeds.load(), options.steps, seconds, totals.seeds.load() / seconds, jobs,
      totals.binds.load(), totals.failed.load());
  for (int i = 0; i < kFaults; ++i) {
    absl::PrintF("  %-22s %d\n", FaultName(static_cast<Fault>(i)), totals.faults[i].load());
  }
  return totals.failed == 0 ? 0 : 1;
}

int RunAgain(const SimOptions& options) {
  const SimReport report = RunSim(options);
  for (const std::string& line : report.log) absl::PrintF("%s\n", line);
  for (const std::string& violation : report.violations) absl::PrintF("VIOLATION %s\n", violation);
  absl::PrintF("seed %d, %d steps: %d binds, %d violations, fingerprint %016x\n", options.seed,
               options.steps, report.binds, report.violations.size(), report.fingerprint);
  return report.violations.empty() ? 0 : 1;
}

int Main(int argc, char** argv) {
  CLI::App app("Simulated histories of the whole scheduler, each from one seed.", "maniple-sim");
  SimOptions options;
  options.rates.one_in[static_cast<size_t>(Fault::kHistoryLost)] = 800;
  options.rates.one_in[static_cast<size_t>(Fault::kCrash)] = 40;
  uint64_t seed = 0, seeds = 200, first = 1;
  int jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  bool log = false;
  app.add_option("--seed", seed, "Replay this one seed");
  app.add_option("--seeds", seeds, "How many seeds to run");
  app.add_option("--first", first, "The first of them");
  app.add_option("--steps", options.steps, "Actions of the workload in each history");
  app.add_option("--jobs", jobs, "Threads, one history each");
  app.add_flag("--log", log, "With --seed: print the decision log and what the scheduler logs");
  CLI11_PARSE(app, argc, argv);
  ConfigureLog({.least = log ? LogSeverity::kInfo : LogSeverity::kError});
  if (seed != 0) {
    options.seed = seed;
    return RunAgain(options);
  }
  return RunMany(options, first, seeds, jobs);
}

}  // namespace
}  // namespace maniple::sim

int main(int argc, char** argv) { return maniple::sim::Main(argc, argv); }
