#include "scheduler/cli/simulate_command.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "api/base/files.h"
#include "api/base/log.h"
#include "api/base/status_macros.h"
#include "api/codec/gzip.h"
#include "api/codec/yaml.h"
#include "scheduler/app/config/config.h"
#include "scheduler/app/config/loop_settings.h"
#include "scheduler/cli/command_line.h"
#include "scheduler/cli/manifest_files.h"
#include "scheduler/cli/run_files.h"
#include "scheduler/replay/object_shape.h"
#include "scheduler/replay/snapshot_file.h"
#include "scheduler/simulate/gpu_use.h"
#include "scheduler/simulate/simulated_cluster.h"
#include "scheduler/simulate/simulation.h"
#include "scheduler/simulate/simulation_plot.h"
#include "scheduler/simulate/simulation_report.h"
#include "scheduler/simulate/trace.h"

namespace maniple {
namespace {

struct Configured {
  std::string name;
  SchedulerConfig config;
};

// Without a path, as long as that tells them apart.
absl::StatusOr<std::vector<Configured>> PlaysOf(const std::vector<std::string>& files) {
  std::vector<Configured> plays;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(SchedulerConfig config, LoadSchedulerConfig(file));
    plays.push_back({std::filesystem::path(file).stem().string(), std::move(config)});
  }
  std::map<std::string, int> stems;
  for (const Configured& play : plays) ++stems[play.name];
  for (size_t i = 0; i < plays.size(); ++i) {
    if (stems[plays[i].name] > 1) plays[i].name = files[i];
  }
  if (plays.empty()) plays.push_back({"defaults", {}});
  return plays;
}

struct Cluster {
  std::vector<Json> objects;
  absl::Time at = absl::UnixEpoch();
};

absl::Status AddObjects(const std::string& bytes, Cluster& cluster) {
  std::vector<Json> objects;
  if (IsGzip(bytes)) {
    ASSIGN_OR_RETURN(ClusterSnapshot snapshot, UnpackSnapshot(bytes));
    cluster.at = snapshot.at;
    objects = std::move(snapshot.objects);
  } else if (absl::StartsWith(bytes, "sn,")) {
    ASSIGN_OR_RETURN(objects, ReadOpenbNodes(bytes));
  } else {
    ASSIGN_OR_RETURN(objects, ParseManifests(bytes));
  }
  for (Json& object : objects) {
    RETURN_IF_ERROR(CheckShape(object));
    cluster.objects.push_back(std::move(object));
  }
  return absl::OkStatus();
}

absl::Status AddFile(const std::string& file, Cluster& cluster) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(file));
  return AddObjects(bytes, cluster);
}

// `snapshot` is what stands in the place of a trace; "" where there is a trace.
absl::StatusOr<Cluster> ClusterOf(const SimulateRequest& request, const std::string& snapshot) {
  Cluster cluster;
  if (!snapshot.empty()) {
    const absl::Status added = AddObjects(snapshot, cluster);
    if (!added.ok()) return Annotate(added, request.trace);
  }
  for (const std::string& file : request.cluster) {
    const absl::Status added = AddFile(file, cluster);
    if (!added.ok()) return Annotate(added, file);
  }
  std::vector<NodeKind> kinds;
  for (const std::string& text : request.nodes) {
    ASSIGN_OR_RETURN(kinds.emplace_back(), ParseNodeKind(text));
  }
  for (Json& node : NodesOf(kinds)) cluster.objects.push_back(std::move(node));
  const bool any = std::ranges::any_of(
      cluster.objects, [](const Json& object) { return object["kind"].AsString() == "Node"; });
  if (!any) {
    return absl::InvalidArgumentError(
        "on which nodes? Give --nodes 310:gpus=8, or --cluster with a file that has some");
  }
  return cluster;
}

int64_t LargestNode(const std::vector<Json>& objects) {
  int64_t largest = 1;
  for (const Json& object : objects) {
    if (object["kind"].AsString() != "Node") continue;
    largest = std::max(largest, GpusOfNode(object));
  }
  return largest;
}

absl::StatusOr<WorkloadTrace> TraceOf(const SimulateRequest& request, const std::string& bytes,
                                      int64_t gpus_per_node) {
  absl::StatusOr<WorkloadTrace> trace = ReadTrace(bytes, gpus_per_node);
  if (!trace.ok()) return Annotate(trace.status(), request.trace);
  if (request.first > 0 && request.first < static_cast<int64_t>(trace->jobs.size())) {
    trace->jobs.resize(static_cast<size_t>(request.first));
  }
  for (TraceJob& job : trace->jobs) job.submitted /= request.speed;
  return trace;
}

// On one line of a terminal; elsewhere nothing.
class ProgressLine final {
 public:
  ProgressLine(std::string name, size_t jobs) : name_(std::move(name)), jobs_(jobs) {}
  ~ProgressLine() {
    if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(const Progress& progress) {
    if (!terminal_) return;
    constexpr int kWidth = 30;
    const int64_t done =
        jobs_ == 0 ? 0 : progress.jobs_ended * kWidth / static_cast<int64_t>(jobs_);
    std::cerr << absl::StrFormat("\r\x1b[K%s [%s%s] %d of %d jobs ended, %.1f h", name_,
                                 std::string(done, '#'), std::string(kWidth - done, '.'),
                                 progress.jobs_ended, jobs_, absl::ToDoubleHours(progress.at))
              << std::flush;
    shown_ = true;
  }

 private:
  const std::string name_;
  const size_t jobs_;
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

QuotaBy QuotaOf(const std::string& word) {
  return word == "equal" ? QuotaBy::kEqual : word == "demand" ? QuotaBy::kDemand : QuotaBy::kNone;
}

void Print(const std::vector<SimulationFigures>& runs, const std::string& output) {
  if (output == "json") {
    std::cout << SimulationJson(runs).DumpPretty() << "\n";
  } else if (output == "yaml") {
    std::cout << DumpYaml(SimulationJson(runs));
  } else {
    std::cout << SimulationTable(runs);
  }
}

// The jobs of a trace stand in one namespace, which these would keep out.
void LetJobsIn(std::vector<Json>& objects) {
  int64_t opened = 0;
  for (Json& object : objects) {
    if (object["kind"].AsString() != "Queue") continue;
    if (object["spec"]["namespaceSelector"].size() == 0) continue;
    object.Mutable("spec").Erase("namespaceSelector");
    ++opened;
  }
  if (opened == 0) return;
  std::cerr << "note: the namespaceSelector of " << opened << (opened == 1 ? " Queue" : " Queues")
            << " is passed over: a trace tells of no namespaces\n";
}

void Note(const WorkloadTrace& trace) {
  std::cerr << "note: " << trace.format << ", " << trace.jobs.size()
            << (trace.jobs.size() == 1 ? " job" : " jobs");
  if (trace.never_ran > 0)
    std::cerr << "; " << trace.never_ran << " rows without a run time left out";
  if (trace.rounded > 0) {
    std::cerr << "; " << trace.rounded << " pods that ask for a part of a GPU get a whole one";
  }
  std::cerr << "\n";
}

absl::Status Play(const SimulateRequest& request) {
  // A range of numbers lets it pass.
  if (std::isnan(request.speed)) return absl::InvalidArgumentError("--speed nan: no number");
  if (!request.csv.empty() && request.csv == request.plot) {
    return absl::InvalidArgumentError("--csv and --plot name the same file");
  }
  for (const std::string& file : {request.csv, request.plot}) RETURN_IF_ERROR(CheckRunFile(file));
  ASSIGN_OR_RETURN(const std::vector<Configured> plays, PlaysOf(request.configs));
  // Once: a pipe has nothing to give the second time.
  ASSIGN_OR_RETURN(const std::string bytes,
                   ReadWholeFile(request.trace == "-" ? "/dev/stdin" : request.trace));
  // A trace without jobs: only what waits in the cluster is played.
  const bool alone = IsGzip(bytes) && IsSnapshot(bytes);
  ASSIGN_OR_RETURN(Cluster cluster, ClusterOf(request, alone ? bytes : ""));
  WorkloadTrace trace{.format = "a snapshot"};
  if (!alone) {
    ASSIGN_OR_RETURN(trace, TraceOf(request, bytes, LargestNode(cluster.objects)));
    LetJobsIn(cluster.objects);
  }
  Note(trace);
  for (Json& queue : QueuesFor(trace.jobs, cluster.objects, QuotaOf(request.quota))) {
    cluster.objects.push_back(std::move(queue));
  }
  std::vector<SimulationResult> results;
  std::vector<SimulationFigures> figures;
  for (const auto& [name, config] : plays) {
    const SimulationInput input{.cluster = cluster.objects,
                                .jobs = trace.jobs,
                                .start = cluster.at,
                                .scheduler_name = config.scheduler_names.front(),
                                .tells_run_times = request.tells_run_times};
    ProgressLine line(name, trace.jobs.size());
    ASSIGN_OR_RETURN(SimulationResult result,
                     Simulate(input, LoopOptionsFor(config),
                              [&line](const Progress& progress) { line.Show(progress); }));
    figures.push_back(FiguresOf(name, trace.jobs, result));
    results.push_back(std::move(result));
  }
  std::vector<DrawnRun> drawn;
  for (size_t i = 0; i < results.size(); ++i) {
    drawn.push_back({figures[i].name, &results[i]});
    if (request.csv.empty()) continue;
    const std::string file =
        results.size() > 1 ? FileOfRun(request.csv, figures[i].name) : request.csv;
    RETURN_IF_ERROR(WriteRunFile(file, SimulationCsv(trace.jobs, results[i]), FileAccess::kAll));
  }
  if (!request.plot.empty()) {
    RETURN_IF_ERROR(WriteRunFile(request.plot, SimulationPlot(drawn), FileAccess::kAll));
  }
  Print(figures, request.output);
  return absl::OkStatus();
}

}  // namespace

int RunSimulate(const SimulateRequest& request) {
  const absl::Status played = Play(request);
  return played.ok() ? 0 : Complain(played.message());
}

}  // namespace maniple
