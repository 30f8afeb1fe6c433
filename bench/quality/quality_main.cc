// How much of the openb cluster's GPUs is allocated in the end, beside the published values.
//
//   quality --openb FOLDER --lists default,gpuspec20,multigpu30 --seeds 42..46 --plot quality.svg
//
// The run is void, and the exit status 1, unless our own FGD lands within 0.3 points of its
// published value at 100 % and 130 % arrivals on every list.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "api/base/status_macros.h"
#include "bench/quality/fill_policy.h"
#include "bench/quality/fragmentation_gradient.h"
#include "bench/quality/openb.h"
#include "bench/quality/replay.h"
#include "scheduler/simulate/plot.h"

namespace maniple {
namespace {

constexpr double kMostDeviation = 0.3;  // points

struct Options {
  std::string folder, plot;
  std::string lists = "default,gpuspec20,multigpu30";
  std::string seeds = "42..46";
  int threads = 2;
  FillPolicyOptions ours;
};

struct ListRun {
  std::string name;
  OpenbList list;
  std::vector<PublishedPoint> published;
  std::vector<Curve> gradient, ours;  // by seed
};

absl::StatusOr<std::vector<uint64_t>> SeedsOf(const std::string& text) {
  const std::vector<std::string> ends = absl::StrSplit(text, "..");
  uint64_t first = 0, last = 0;
  if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &first) || !absl::SimpleAtoi(ends[1], &last) ||
      last < first || last - first >= 1000) {
    return absl::InvalidArgumentError(absl::StrCat("--seeds ", text, ": not FIRST..LAST"));
  }
  std::vector<uint64_t> seeds;
  for (uint64_t seed = first; seed <= last; ++seed) seeds.push_back(seed);
  return seeds;
}

absl::StatusOr<ListRun> ReadRun(const Options& options, absl::string_view name,
                                const OpenbCluster& cluster) {
  ListRun run{.name = std::string(name)};
  const std::string list = absl::StrCat(options.folder, "/openb_pod_list_", name, ".csv.gz");
  ASSIGN_OR_RETURN(run.list, ReadList(list, cluster));
  const std::string curves = options.folder + "/fgd_published_curves.csv";
  ASSIGN_OR_RETURN(run.published, ReadPublished(curves, name, "FGD"));
  return run;
}

void ReplayAll(const Options& options, const OpenbCluster& cluster,
               const std::vector<uint64_t>& seeds, std::vector<ListRun>& runs) {
  for (ListRun& run : runs) {
    run.gradient.resize(seeds.size());
    run.ours.resize(seeds.size());
  }
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t at = next++; at < runs.size() * seeds.size(); at = next++) {
      ListRun& run = runs[at / seeds.size()];
      const size_t seed = at % seeds.size();
      const Arrivals arrivals = ArrivalsOf(run.list, cluster, seeds[seed]);
      FragmentationGradient gradient(run.list);
      run.gradient[seed] = Replay(cluster, run.list, arrivals, gradient);
      FillPolicy ours(cluster, run.list, options.ours);
      run.ours[seed] = Replay(cluster, run.list, arrivals, ours);
    }
  };
  std::vector<std::jthread> workers;
  for (int i = 0; i < options.threads; ++i) workers.emplace_back(work);
}

// ---- what is said of it

struct Spread {
  double mean = 0, least = 100, most = 0;
};
Spread SpreadAt(const std::vector<Curve>& curves, size_t percent) {
  Spread spread;
  for (const Curve& curve : curves) {
    spread.mean += curve[percent] / static_cast<double>(curves.size());
    spread.least = std::min(spread.least, curve[percent]);
    spread.most = std::max(spread.most, curve[percent]);
  }
  return spread;
}

double PublishedAt(const ListRun& run, size_t percent) {
  for (const PublishedPoint& point : run.published) {
    if (static_cast<size_t>(point.arrived) == percent) return point.allocated;
  }
  return std::nan("");
}

// False also where no value was published.
bool AgreesAt(const ListRun& run, size_t percent) {
  return std::abs(SpreadAt(run.gradient, percent).mean - PublishedAt(run, percent)) <=
         kMostDeviation;
}

bool Print(const ListRun& run) {
  bool agrees = true;
  for (const size_t percent : {size_t{100}, size_t{kMostArrived}}) {
    const Spread gradient = SpreadAt(run.gradient, percent);
    const Spread ours = SpreadAt(run.ours, percent);
    absl::PrintF("%-12s %7d  %9.2f  %6.2f (%.2f..%.2f)  %6.2f (%.2f..%.2f)%s\n", run.name, percent,
                 PublishedAt(run, percent), gradient.mean, gradient.least, gradient.most, ours.mean,
                 ours.least, ours.most, AgreesAt(run, percent) ? "" : "  VOID");
    agrees = agrees && AgreesAt(run, percent);
  }
  return agrees;
}

PlotLine MeanOf(const char* name, const char* colour, const std::vector<Curve>& curves) {
  PlotLine line{.name = name, .colour = colour};
  for (size_t percent = 0; percent <= kMostArrived; ++percent) {
    line.points.emplace_back(percent, SpreadAt(curves, percent).mean);
  }
  return line;
}

absl::Status Plot(const std::vector<ListRun>& runs, const std::string& path) {
  std::vector<PlotPanel> panels;
  for (const ListRun& run : runs) {
    PlotLine published{.name = "FGD as published", .colour = "#222", .dotted = true};
    for (const PublishedPoint& point : run.published) {
      published.points.emplace_back(point.arrived, point.allocated);
    }
    panels.push_back({.title = run.name,
                      .lines = {MeanOf("ours", "#0a7d32", run.ours),
                                MeanOf("FGD, our run", "#c4420f", run.gradient), published}});
  }
  const std::string svg = PlotOf(panels, {.left = 85,
                                          .right = 130,
                                          .bottom = 85,
                                          .top = 97,
                                          .step_across = 5,
                                          .step_up = 1,
                                          .across = "GPUs asked for, % of all",
                                          .up = "GPUs allocated, %"});
  std::ofstream file(path);
  file << svg;
  file.close();
  return file ? absl::OkStatus()
              : absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
}

// Whether it counts.
absl::StatusOr<bool> Run(const Options& options) {
  ASSIGN_OR_RETURN(const std::vector<uint64_t> seeds, SeedsOf(options.seeds));
  ASSIGN_OR_RETURN(const OpenbCluster cluster,
                   ReadCluster(options.folder + "/openb_node_list_gpu_node.csv"));
  std::vector<ListRun> runs;
  for (const absl::string_view name : absl::StrSplit(options.lists, ',')) {
    ASSIGN_OR_RETURN(ListRun run, ReadRun(options, name, cluster));
    runs.push_back(std::move(run));
  }
  ReplayAll(options, cluster, seeds, runs);
  absl::PrintF("%d nodes, %d GPUs; allocation in %%, mean (least..most) of seeds %s\n",
               cluster.nodes.size(), cluster.gpu_milli() / kWholeGpu, options.seeds);
  absl::PrintF("%-12s %7s  %9s  %-21s  %s\n", "list", "arrived", "FGD publ.", "FGD, our run",
               "ours");
  bool counts = true;
  for (const ListRun& run : runs) counts = Print(run) && counts;
  if (!counts) absl::PrintF("VOID: our FGD is not the published one\n");
  if (!options.plot.empty()) RETURN_IF_ERROR(Plot(runs, options.plot));
  return counts;
}

}  // namespace
}  // namespace maniple

int main(int argc, char** argv) {
  maniple::Options options;
  CLI::App app("Allocation of GPUs on the openb trace beside the published values");
  app.add_option("--openb", options.folder, "folder of the trace")->required();
  app.add_option("--lists", options.lists, "names of pod lists, by comma");
  app.add_option("--seeds", options.seeds, "FIRST..LAST");
  app.add_option("--plot", options.plot, "where to write the plot (SVG)");
  app.add_option("--threads", options.threads, "replays at a time")->check(CLI::Range(1, 64));
  app.add_option("--sequences", options.ours.fill.sequences, "sequences of pods to look ahead by")
      ->check(CLI::Range(1, 4096));
  app.add_option("--length", options.ours.fill.length, "pods in each")->check(CLI::Range(1, 1000));
  app.add_option("--sequence-seed", options.ours.fill.seed, "which sequences");
  app.add_option("--fragment-weight", options.ours.fill.fragment_weight, "in thousandths")
      ->check(CLI::Range(0, 100'000));
  app.add_option("--price", options.ours.price, "of a scarce model, in thousandths")
      ->check(CLI::Range(0, 100'000));
  app.add_option("--weight", options.ours.weight, "of fragmentation")->check(CLI::Range(0, 1000));
  app.add_option("--packing", options.ours.packing_weight, "weight of packing")
      ->check(CLI::Range(0, 1000));
  app.add_flag_callback(
      "--exact", [&] { options.ours.rounding = maniple::FillPolicyOptions::Rounding::kNone; },
      "by the loss itself, neither rounded to points nor weighed against packing");
  CLI11_PARSE(app, argc, argv);
  const absl::StatusOr<bool> counts = maniple::Run(options);
  if (!counts.ok()) {
    absl::FPrintF(stderr, "quality: %s\n", counts.status().ToString());
    return 2;
  }
  return *counts ? 0 : 1;
}
