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

enum class Failing { kShrinkAndGoOn, kStop };

void RunOne(const SimOptions& options, Failing failing, Totals& totals) {
  const SimReport report = RunSim(options);
  ++totals.seeds;
  totals.binds += report.binds;
  for (int i = 0; i < kFaults; ++i) totals.faults[i] += report.faults[i];
  if (report.violations.empty()) return;
  ++totals.failed;
  const int steps = failing == Failing::kStop ? options.steps : Shrunk(options);
  absl::PrintF("FAIL seed %d: %s\n     replay: maniple-sim --seed %d --steps %d --log\n",
               options.seed, report.violations.front(), options.seed, steps);
  std::fflush(stdout);
}

struct Campaign {
  uint64_t first = 1, seeds = 200;
  int jobs = 1;
  Failing failing = Failing::kShrinkAndGoOn;
};

int RunMany(const SimOptions& options, const Campaign& campaign) {
  Totals totals;
  const auto began = std::chrono::steady_clock::now();
  std::atomic<uint64_t> next{campaign.first};
  std::vector<std::jthread> threads;
  for (int i = 0; i < campaign.jobs; ++i) {
    threads.emplace_back([&totals, &next, &options, &campaign] {
      const uint64_t end = campaign.first + campaign.seeds;
      for (uint64_t seed = next++; seed < end; seed = next++) {
        SimOptions mine = options;
        mine.seed = seed;
        RunOne(mine, campaign.failing, totals);
        if (campaign.failing == Failing::kStop && totals.failed > 0) return;
      }
    });
  }
  threads.clear();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  absl::PrintF(
      "%d seeds of %d steps in %.1f s: %.1f seeds/s on %d threads, %d binds, %d violations\n",
      totals.seeds.load(), options.steps, seconds, totals.seeds.load() / seconds, campaign.jobs,
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
  Campaign campaign;
  campaign.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  uint64_t seed = 0;
  bool log = false, stop = false;
  app.add_option("--seed", seed, "Replay this one seed");
  app.add_option("--seeds", campaign.seeds, "How many seeds to run");
  app.add_option("--first", campaign.first, "The first of them");
  app.add_option("--steps", options.steps, "Actions of the workload in each history");
  app.add_option("--jobs", campaign.jobs, "Threads, one history each");
  app.add_flag("--log", log, "With --seed: print the decision log and what the scheduler logs");
  app.add_flag("--stop-at-first", stop, "End with the first seed that fails, without shrinking");
  CLI11_PARSE(app, argc, argv);
  if (stop) campaign.failing = Failing::kStop;
  ConfigureLog({.least = log ? LogSeverity::kInfo : LogSeverity::kError});
  if (seed != 0) {
    options.seed = seed;
    return RunAgain(options);
  }
  return RunMany(options, campaign);
}

}  // namespace
}  // namespace maniple::sim

int main(int argc, char** argv) { return maniple::sim::Main(argc, argv); }
