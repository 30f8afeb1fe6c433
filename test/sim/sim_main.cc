// maniple-sim: many seeds of simulated history, or one of them again.
//
//   maniple-sim --seeds 5000 --coverage      # rate, faults, violations, faults x states; exit 1 if
//                                            # a promise was broken or a cell stayed empty
//   maniple-sim --seed 17 --steps 300 --log  # one history with its decision log
//   maniple-sim --seed 17 --shrink           # the same with fewer steps and kinds of fault
//   maniple-sim --seeds 500 --digest         # what the server saw, as a hash per seed and one of
//   all:
//                                            # a change that keeps behaviour keeps every one
//
// A failing seed is printed with the command that replays it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/base/fingerprint.h"
#include "api/base/log.h"
#include "test/sim/campaign_results.h"
#include "test/sim/world.h"
#include "test/support/crds.h"

namespace maniple::sim {
namespace {

// A campaign of so many histories that holds no bind to a quota holds none by mistake.
constexpr uint64_t kSeedsThatMustCheckQuotas = 500;

struct Totals {
  uint64_t seeds = 0, failed = 0, binds = 0, judged_binds = 0, quota_checks = 0, divisions = 0,
           units = 0;
  uint64_t digest = 0;                // of all fingerprints, in the order of the seeds
  uint64_t holding = 0, hosting = 0;  // seeds in which room was held, and in which others used it
  std::array<uint64_t, kFaults> faults{};
  std::array<std::array<uint64_t, kBindStates>, kFaults> coverage{};
};

// The promise that was broken first, "" if none: "GangAllOrNothing".
std::string Broken(const SimOptions& options) {
  const SimReport report = RunSim(options);
  if (report.violations.empty()) return "";
  const std::vector<std::string> words = absl::StrSplit(report.violations.front(), ' ');
  return words.size() < 2 ? words.front() : words[1];
}

// Fewer steps, then without each kind of fault that it fails without, then fewer steps again; the
// same promise must stay broken.
SimOptions Shrunk(SimOptions options, const std::string& promise) {
  const auto fewer_steps = [&options, &promise] {
    for (int part = options.steps / 2; part > 0; part /= 2) {
      SimOptions shorter = options;
      while ((shorter.steps = options.steps - part) > 0 && Broken(shorter) == promise) {
        options = shorter;
      }
    }
  };
  fewer_steps();
  for (int round = 0; round < 2; ++round) {
    for (uint32_t& one_in : options.rates.one_in) {
      const uint32_t before = std::exchange(one_in, 0);
      if (before != 0 && Broken(options) != promise) one_in = before;
    }
  }
  fewer_steps();
  return options;
}

std::string ReplayCommand(const SimOptions& options) {
  std::string command =
      absl::StrFormat("maniple-sim --seed %d --steps %d --log", options.seed, options.steps);
  if (options.rates.one_in == FaultRates::Some(options.seed).one_in) return command;
  std::vector<std::string> kinds;
  for (int i = 0; i < kFaults; ++i) {
    if (options.rates.one_in[i] != 0) kinds.emplace_back(FaultName(static_cast<Fault>(i)));
  }
  return absl::StrCat(command, " --only ", kinds.empty() ? "none" : absl::StrJoin(kinds, ","));
}

enum class Failing { kGoOn, kStop };

void Count(const SimOptions& options, const SimReport& report, Totals& totals) {
  ++totals.seeds;
  totals.binds += report.binds;
  totals.judged_binds += report.judged_binds;
  totals.quota_checks += report.quota_checks;
  totals.divisions += report.divisions;
  totals.units += report.units;
  totals.holding += report.holds > 0 ? 1 : 0;
  totals.hosting += report.guests > 0 ? 1 : 0;
  for (int i = 0; i < kFaults; ++i) {
    totals.faults[i] += report.faults[i];
    for (int state = 0; state < kBindStates; ++state) {
      totals.coverage[i][state] += report.coverage[i][state];
    }
  }
  if (report.violations.empty()) return;
  ++totals.failed;
  absl::PrintF("FAIL seed %d: %s\n     replay: %s\n", options.seed, report.violations.front(),
               ReplayCommand(options));
  std::fflush(stdout);
}

struct Campaign {
  uint64_t first = 1, seeds = 200;
  int jobs = 1;
  Failing failing = Failing::kGoOn;
  enum class Show { kRate, kCoverage, kDigest } show = Show::kRate;
  std::string kinds;  // comma-separated; "" = chosen by each seed
};

FaultRates RatesFor(const std::string& kinds, uint64_t seed) {
  if (kinds.empty()) return FaultRates::Some(seed);
  FaultRates rates;
  const FaultRates usual = FaultRates::Usual();
  for (const absl::string_view name : absl::StrSplit(kinds, ',')) {
    const std::optional<Fault> fault = FaultNamed(name);
    if (fault.has_value()) rates.of(*fault) = usual.of(*fault);
  }
  return rates;
}

// Evictions are sent in few histories, and hardly ever while a member is in a rare state: that such
// a fault strikes at all is enough. So it is with edits while room is made by them.
bool StrikesSeldom(Fault fault) {
  return fault == Fault::kCrashAtEvict || fault == Fault::kClaimedQueueEdited;
}

void AddToDigest(const SimOptions& options, const SimReport& report, const Campaign& campaign,
                 Totals& totals) {
  if (campaign.show != Campaign::Show::kDigest) return;
  absl::PrintF("seed %d %016x\n", options.seed, report.fingerprint);
  totals.digest = FingerprintOf(absl::StrCat(totals.digest, " ", report.fingerprint));
}

// How many cells stay empty.
int PrintCoverage(const Totals& totals) {
  absl::PrintF("%-18s%9s", "", "struck");
  for (int state = 0; state < kBindStates; ++state) {
    absl::PrintF("%10s", BindStateName(static_cast<BindState>(state)));
  }
  absl::PrintF("\n");
  std::vector<std::string> empty;
  size_t cells = 0;
  for (int i = 0; i < kFaults; ++i) {
    const bool one_will_do = StrikesSeldom(static_cast<Fault>(i)) && totals.faults[i] > 0;
    if (!one_will_do) cells += kBindStates;
    absl::PrintF("%-18s%9d", FaultName(static_cast<Fault>(i)), totals.faults[i]);
    for (int state = 0; state < kBindStates; ++state) {
      const uint64_t cell = totals.coverage[i][state];
      if (cell == 0 && !one_will_do) {
        empty.push_back(absl::StrCat(FaultName(static_cast<Fault>(i)), "/",
                                     BindStateName(static_cast<BindState>(state))));
      }
      absl::PrintF("%10d", cell);
    }
    absl::PrintF("\n");
  }
  if (!empty.empty()) absl::PrintF("empty: %s\n", absl::StrJoin(empty, " "));
  absl::PrintF("coverage: %d of %d cells\n", cells - empty.size(), cells);
  return static_cast<int>(empty.size());
}

// Ctrl-C: what is under way comes to its end, and what was found so far is told.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

double SecondsSince(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// To who watches a terminal: a campaign may take an hour.
void ShowProgress(const Totals& totals, const Campaign& campaign, double seconds) {
  if (totals.seeds % 50 != 0 || isatty(STDERR_FILENO) == 0) return;
  const char* end = totals.seeds == campaign.seeds ? "\n" : "";
  absl::FPrintF(stderr, "\r%d of %d seeds, %.1f seeds/s, %d violations %s", totals.seeds,
                campaign.seeds, totals.seeds / seconds, totals.failed, end);
}

// The history that this thread plays; 0 = none.
thread_local volatile uint64_t played = 0;

// A crash is a violation, too, and takes the whole campaign with it: its seed is told first. Only
// what a signal handler may do.
void TellCrash(int signal) {
  constexpr char kBefore[] = "\nCRASH: replay: maniple-sim --seed ";
  constexpr char kAfter[] = "\n";
  char digits[20];
  size_t at = sizeof(digits);
  uint64_t seed = played;
  do {
    digits[--at] = static_cast<char>('0' + seed % 10);
    seed /= 10;
  } while (seed > 0);
  (void)!::write(STDERR_FILENO, kBefore, sizeof(kBefore) - 1);
  (void)!::write(STDERR_FILENO, digits + at, sizeof(digits) - at);
  (void)!::write(STDERR_FILENO, kAfter, sizeof(kAfter) - 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

int RunMany(const SimOptions& options, const Campaign& campaign) {
  struct Result {
    SimOptions options;
    SimReport report;
  };
  Totals totals;
  const auto began = std::chrono::steady_clock::now();
  CampaignResults<Result> results({.first = campaign.first, .count = campaign.seeds},
                                  [&totals, &campaign, began](const Result& result) {
                                    Count(result.options, result.report, totals);
                                    AddToDigest(result.options, result.report, campaign, totals);
                                    ShowProgress(totals, campaign, SecondsSince(began));
                                  });
  std::signal(SIGINT, [](int) { interrupted = true; });
  for (const int crash : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) std::signal(crash, TellCrash);
  const auto work = [&results, &options, &campaign] {
    while (!interrupted) {
      const std::optional<uint64_t> seed = results.Take();
      if (!seed.has_value()) return;
      SimOptions mine = options;
      mine.seed = *seed;
      mine.log = SimOptions::Log::kDropped;
      mine.rates = RatesFor(campaign.kinds, *seed);
      played = *seed;
      SimReport report = RunSim(mine);
      played = 0;
      const bool stops = campaign.failing == Failing::kStop && !report.violations.empty();
      if (stops) results.EndWith(*seed);
      results.Put(*seed, {std::move(mine), std::move(report)});
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 1; i < campaign.jobs; ++i) threads.emplace_back(work);
    work();  // here, too: with one job the process has one thread
  }
  const double seconds = SecondsSince(began);
  const int empty = campaign.show == Campaign::Show::kCoverage ? PrintCoverage(totals) : 0;
  if (campaign.show == Campaign::Show::kDigest) absl::PrintF("digest %016x\n", totals.digest);
  const double rate = static_cast<double>(totals.seeds) / seconds;
  absl::PrintF(
      "%d seeds of %d steps in %.1f s: %.1f seeds/s, %.1f per core on %d, %d binds, %d judged, %d "
      "held to quotas, %d nodes divided, %d seeds with held room, %d with guests in it, %d gangs "
      "of other "
      "projects, %d violations\n",
      totals.seeds, options.steps, seconds, rate, rate / campaign.jobs, campaign.jobs, totals.binds,
      totals.judged_binds, totals.quota_checks, totals.divisions, totals.holding, totals.hosting,
      totals.units, totals.failed);
  if (interrupted) absl::FPrintF(stderr, "maniple-sim: interrupted\n");
  const bool looked = totals.quota_checks > 0 || totals.seeds < kSeedsThatMustCheckQuotas;
  if (!looked) absl::PrintF("no bind was held to the quota of its Queue\n");
  return totals.failed == 0 && empty == 0 && looked && !interrupted ? 0 : 1;
}

enum class Tell { kResult, kAll };

int RunAgain(const SimOptions& options, Tell tell) {
  const SimReport report = RunSim(options);
  if (tell == Tell::kAll) {
    for (const std::string& line : report.log) absl::PrintF("%s\n", line);
  }
  for (const std::string& violation : report.violations) absl::PrintF("VIOLATION %s\n", violation);
  absl::PrintF(
      "seed %d, %d steps: %d binds, %d holds, %d guests, %d violations, fingerprint %016x\n",
      options.seed, options.steps, report.binds, report.holds, report.guests,
      report.violations.size(), report.fingerprint);
  return report.violations.empty() ? 0 : 1;
}

int ShrinkOne(const SimOptions& options) {
  const std::string promise = Broken(options);
  if (promise.empty()) {
    absl::PrintF("seed %d does not fail\n", options.seed);
    return 0;
  }
  const SimOptions small = Shrunk(options, promise);
  absl::PrintF("%s\n", ReplayCommand(small));
  return RunAgain(small, Tell::kResult);
}

int Main(int argc, char** argv) {
  CLI::App app("Simulated histories of the whole scheduler, each from one seed.", "maniple-sim");
  SimOptions options;
  Campaign campaign;
  campaign.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  uint64_t seed = 0;
  bool log = false, stop = false, shrink = false, coverage = false, digest = false;
  app.add_option("--seed", seed, "Replay this one seed");
  app.add_option("--seeds", campaign.seeds, "How many seeds to run");
  app.add_option("--first", campaign.first, "The first of them");
  app.add_option("--steps", options.steps, "Actions of the workload in each history");
  app.add_option("--jobs", campaign.jobs, "Threads, one history each");
  app.add_option("--only", campaign.kinds, "These kinds of fault, or none; default: by the seed");
  app.add_flag("--log", log, "With --seed: print the decision log and what the scheduler logs");
  app.add_option("--about", options.about, "With --log: print each change of what names this, too");
  app.add_flag("--shrink", shrink, "With --seed: find a smaller history that fails, too");
  app.add_flag("--coverage", coverage, "Print how often each fault met each state of a member");
  app.add_flag("--digest", digest, "Print a hash of what the server saw, by seed and of all");
  app.add_flag("--stop-at-first", stop, "End with the first seed that fails");
  bool sweep_always = false;
  app.add_flag(
      "--sweep-always", sweep_always,
      "Look before every turn for what is not used any more: no decision may depend on it");
  CLI11_PARSE(app, argc, argv);
  if (sweep_always) options.sweeps = SimOptions::Sweeps::kAlways;
  if (!std::filesystem::is_directory(kCrdFolder)) {
    absl::FPrintF(stderr,
                  "maniple-sim: there is no %s here: run it in the root of the repository\n",
                  kCrdFolder);
    return 2;
  }
  if (stop) campaign.failing = Failing::kStop;
  if (coverage) campaign.show = Campaign::Show::kCoverage;
  if (digest) campaign.show = Campaign::Show::kDigest;
  ConfigureLog({.least = log ? LogSeverity::kInfo : LogSeverity::kError});
  if (seed == 0) return RunMany(options, campaign);
  options.seed = seed;
  options.rates = RatesFor(campaign.kinds, seed);
  if (shrink) return ShrinkOne(options);
  return RunAgain(options, log ? Tell::kAll : Tell::kResult);
}

}  // namespace
}  // namespace maniple::sim

int main(int argc, char** argv) { return maniple::sim::Main(argc, argv); }
