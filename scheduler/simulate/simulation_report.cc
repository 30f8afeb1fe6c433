#include "scheduler/simulate/simulation_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace maniple {
namespace {

// Nearest rank, of sorted values.
double Percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

class Gatherer final {
 public:
  void Add(const TraceJob& job, const JobOutcome& outcome) {
    const auto gpus = static_cast<double>(job.all_gpus());
    ++figures_.jobs;
    figures_.evictions += outcome.evictions;
    figures_.lost_gpu_hours += gpus * absl::ToDoubleHours(outcome.lost);
    if (outcome.has_started()) {
      ++figures_.started;
      waits_.push_back(absl::ToDoubleSeconds(outcome.started - outcome.submitted));
    }
    if (outcome.has_ended()) {
      ++figures_.ended;
      figures_.gpu_hours += gpus * absl::ToDoubleHours(job.runs);
    }
  }

  [[nodiscard]] JobFigures Take(std::string name) {
    std::sort(waits_.begin(), waits_.end());
    double sum = 0;
    for (const double wait : waits_) sum += wait;
    figures_.name = std::move(name);
    figures_.mean_wait = waits_.empty() ? 0 : sum / static_cast<double>(waits_.size());
    figures_.median_wait = Percentile(waits_, 0.5);
    figures_.p90_wait = Percentile(waits_, 0.9);
    figures_.p99_wait = Percentile(waits_, 0.99);
    figures_.longest_wait = waits_.empty() ? 0 : waits_.back();
    return std::move(figures_);
  }

 private:
  JobFigures figures_;
  std::vector<double> waits_;
};

// Over time, in GPU seconds.
struct LoadSums {
  double used = 0, split = 0, idle = 0, all = 0;

  void Add(const LoadPoint& point, int64_t gpus, double seconds) {
    used += seconds * static_cast<double>(point.gpus_used);
    split += seconds * static_cast<double>(point.gpus_split);
    idle += seconds * static_cast<double>(std::min(gpus - point.gpus_used, point.gpus_wanted));
    all += seconds * static_cast<double>(gpus);
  }
};

// Means until then; of no time, what the load is in the end.
void AddLoad(const SimulationResult& result, absl::Duration until, SimulationFigures& figures) {
  LoadSums sums;
  for (size_t i = 0; i < result.load.size() && result.load[i].at < until; ++i) {
    const LoadPoint& point = result.load[i];
    const absl::Duration end = i + 1 < result.load.size() ? result.load[i + 1].at : result.length;
    sums.Add(point, result.gpus, absl::ToDoubleSeconds(std::min(end, until) - point.at));
  }
  if (until == absl::ZeroDuration() && !result.load.empty()) {
    sums.Add(result.load.back(), result.gpus, 1);
  }
  if (sums.all <= 0) return;
  figures.used_share = sums.used / sums.all;
  figures.split_share = sums.split / sums.all;
  figures.idle_while_wanted = sums.idle / sums.all;
}

// "1.5 h", "42 s".
std::string Time(double seconds) {
  if (seconds >= 48 * 3600) return absl::StrFormat("%.1f d", seconds / 86400);
  if (seconds >= 2 * 3600) return absl::StrFormat("%.1f h", seconds / 3600);
  if (seconds >= 120) return absl::StrFormat("%.1f min", seconds / 60);
  return absl::StrFormat("%.1f s", seconds);
}

std::string Percent(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

// A class of jobs by the total of their GPUs.
struct Size {
  int64_t most;
  const char* name;
};
constexpr Size kSizes[] = {{0, "0"},     {1, "1"},        {8, "2-8"},
                           {64, "9-64"}, {512, "65-512"}, {INT64_MAX, ">512"}};

size_t SizeOf(const TraceJob& job) {
  const auto* size = std::ranges::lower_bound(kSizes, job.all_gpus(), {}, &Size::most);
  return static_cast<size_t>(size - std::begin(kSizes));
}

using Row = std::vector<std::string>;

std::string Aligned(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&line, row[i]);
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

Row HeadOf(const char* group) {
  return {"CONFIGURATION", group, "JOBS",    "STARTED",   "ENDED",     "WAIT", "P50",
          "P90",           "P99", "LONGEST", "EVICTIONS", "GPU-HOURS", "LOST"};
}

Row RowOf(std::string first, const JobFigures& of) {
  const auto wait = [&of](double seconds) { return of.started > 0 ? Time(seconds) : "-"; };
  return {std::move(first),
          of.name.empty() ? "(all)" : of.name,
          absl::StrCat(of.jobs),
          absl::StrCat(of.started),
          absl::StrCat(of.ended),
          wait(of.mean_wait),
          wait(of.median_wait),
          wait(of.p90_wait),
          wait(of.p99_wait),
          wait(of.longest_wait),
          absl::StrCat(of.evictions),
          absl::StrFormat("%.0f", of.gpu_hours),
          absl::StrFormat("%.1f", of.lost_gpu_hours)};
}

// The starts of gangs that waited at the beginning, for all runs side by side. "" = none waited.
std::string FoundTable(const std::vector<SimulationFigures>& runs) {
  constexpr size_t kMostLines = 100;
  std::vector<Row> rows = {{"CONFIGURATION", "WAITED", "QUEUE", "PODS", "STARTS AFTER"}};
  const size_t gangs = runs.empty() ? 0 : runs[0].found.size();
  for (size_t i = 0; i < std::min(gangs, kMostLines); ++i) {
    for (const SimulationFigures& run : runs) {
      if (i >= run.found.size()) continue;
      const FoundGang& gang = run.found[i];
      const bool starts = gang.started != absl::InfiniteDuration();
      rows.push_back({run.name, gang.name, gang.queue.empty() ? "-" : gang.queue,
                      absl::StrCat(gang.pods),
                      starts ? Time(absl::ToDoubleSeconds(gang.started)) : "not at all"});
    }
  }
  if (gangs == 0) return "";
  std::string text = absl::StrCat("\n", Aligned(rows));
  if (gangs > kMostLines) absl::StrAppend(&text, "… and ", gangs - kMostLines, " more\n");
  return text;
}

Json JsonOf(const FoundGang& gang) {
  Json item = Json::Object({{"gang", gang.name}, {"queue", gang.queue}, {"pods", gang.pods}});
  if (gang.started != absl::InfiniteDuration()) {
    item.Set("startsAfterSeconds", absl::ToDoubleSeconds(gang.started));
  }
  return item;
}

Json JsonOf(const char* group, const JobFigures& of) {
  return Json::Object({{group, of.name},
                       {"jobs", of.jobs},
                       {"started", of.started},
                       {"ended", of.ended},
                       {"waitSeconds", Json::Object({{"mean", of.mean_wait},
                                                     {"p50", of.median_wait},
                                                     {"p90", of.p90_wait},
                                                     {"p99", of.p99_wait},
                                                     {"longest", of.longest_wait}})},
                       {"evictions", of.evictions},
                       {"gpuHours", of.gpu_hours},
                       {"lostGpuHours", of.lost_gpu_hours}});
}

}  // namespace

SimulationFigures FiguresOf(std::string name, const std::vector<TraceJob>& jobs,
                            const SimulationResult& result) {
  SimulationFigures figures{.name = std::move(name), .nodes = result.nodes, .gpus = result.gpus};
  figures.hours = absl::ToDoubleHours(result.length);
  figures.found = result.found;
  Gatherer all;
  std::map<std::string, Gatherer> queues;
  std::map<size_t, Gatherer> sizes;  // by place in kSizes
  absl::Duration last;
  for (size_t i = 0; i < jobs.size(); ++i) {
    all.Add(jobs[i], result.jobs[i]);
    queues[jobs[i].queue].Add(jobs[i], result.jobs[i]);
    sizes[SizeOf(jobs[i])].Add(jobs[i], result.jobs[i]);
    last = std::max(last, jobs[i].submitted);
  }
  // Where nothing comes later than the beginning, until the load changes for the last time.
  if (last == absl::ZeroDuration() && !result.load.empty()) last = result.load.back().at;
  AddLoad(result, last, figures);
  figures.all = all.Take("");
  if (queues.size() > 1 || (queues.size() == 1 && !queues.begin()->first.empty())) {
    for (auto& [queue, gatherer] : queues) {
      figures.queues.push_back(gatherer.Take(queue.empty() ? "(none)" : queue));
    }
  }
  if (sizes.size() > 1) {
    for (auto& [size, gatherer] : sizes) figures.sizes.push_back(gatherer.Take(kSizes[size].name));
  }
  return figures;
}

std::string SimulationTable(const std::vector<SimulationFigures>& runs) {
  std::vector<Row> loads = {
      {"CONFIGURATION", "NODES", "GPUS", "TIME", "USED", "SPLIT", "IDLE WHILE WANTED"}};
  std::vector<Row> rows = {HeadOf("QUEUE")};
  for (const SimulationFigures& run : runs) {
    loads.push_back({run.name, absl::StrCat(run.nodes), absl::StrCat(run.gpus),
                     Time(run.hours * 3600), Percent(run.used_share), Percent(run.split_share),
                     Percent(run.idle_while_wanted)});
    rows.push_back(RowOf(run.name, run.all));
  }
  std::map<std::string, std::vector<Row>> of_queues;  // all runs side by side
  std::map<int64_t, std::vector<Row>> of_sizes;
  for (const SimulationFigures& run : runs) {
    for (const JobFigures& queue : run.queues) {
      of_queues[queue.name].push_back(RowOf(run.name, queue));
    }
    for (const JobFigures& size : run.sizes) {
      const auto* place = std::ranges::find(kSizes, size.name, &Size::name);
      of_sizes[place->most].push_back(RowOf(run.name, size));
    }
  }
  for (auto& [queue, lines] : of_queues) std::ranges::move(lines, std::back_inserter(rows));
  std::string text = absl::StrCat(Aligned(loads), "\n", Aligned(rows));
  if (!of_sizes.empty()) {
    std::vector<Row> sizes = {HeadOf("GPUS")};
    for (auto& [size, lines] : of_sizes) std::ranges::move(lines, std::back_inserter(sizes));
    absl::StrAppend(&text, "\n", Aligned(sizes));
  }
  return absl::StrCat(text, FoundTable(runs));
}

Json SimulationJson(const std::vector<SimulationFigures>& runs) {
  Json items = Json::Array();
  for (const SimulationFigures& run : runs) {
    Json queues = Json::Array();
    for (const JobFigures& queue : run.queues) queues.Append(JsonOf("queue", queue));
    Json found = Json::Array();
    for (const FoundGang& gang : run.found) found.Append(JsonOf(gang));
    Json sizes = Json::Array();
    for (const JobFigures& size : run.sizes) sizes.Append(JsonOf("gpus", size));
    items.Append(Json::Object({{"configuration", run.name},
                               {"nodes", run.nodes},
                               {"gpus", run.gpus},
                               {"hours", run.hours},
                               {"usedShare", run.used_share},
                               {"splitShare", run.split_share},
                               {"idleWhileWantedShare", run.idle_while_wanted},
                               {"all", JsonOf("queue", run.all)},
                               {"queues", std::move(queues)},
                               {"sizes", std::move(sizes)},
                               {"waited", std::move(found)}}));
  }
  return Json::Object({{"items", std::move(items)}});
}

std::string SimulationCsv(const std::vector<TraceJob>& jobs, const SimulationResult& result) {
  std::string text = "name,queue,pods,gpus,submit_s,start_s,end_s,evictions,lost_s\n";
  const auto seconds = [](absl::Duration time) {
    return time == absl::InfiniteDuration() ? std::string()
                                            : absl::StrFormat("%.3f", absl::ToDoubleSeconds(time));
  };
  // A comma or a quote in a name would make another field of it.
  const auto plain = [](std::string name) {
    std::ranges::replace_if(
        name, [](char c) { return c == ',' || c == '"' || absl::ascii_iscntrl(c); }, '_');
    return name;
  };
  for (size_t i = 0; i < jobs.size(); ++i) {
    const JobOutcome& outcome = result.jobs[i];
    absl::StrAppend(&text, plain(jobs[i].name), ",", plain(jobs[i].queue), ",", jobs[i].pods, ",",
                    jobs[i].gpus, ",", seconds(outcome.submitted), ",", seconds(outcome.started),
                    ",", seconds(outcome.ended), ",", outcome.evictions, ",", seconds(outcome.lost),
                    "\n");
  }
  return text;
}

}  // namespace maniple
