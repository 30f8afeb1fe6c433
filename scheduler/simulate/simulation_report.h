// The report of a simulation for people: figures of all jobs, of each Queue and of each size, as a
// table, CSV or JSON; for several configurations side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/codec/json.h"
#include "scheduler/simulate/simulation.h"

namespace maniple {

// Figures of the jobs of one Queue or size, or of all. Waits are in seconds,
// up to the first start, of the jobs that started.
struct JobFigures {
  std::string name;  // of the Queue, or its GPUs: "9-64"; "" = all jobs
  int64_t jobs = 0, started = 0, ended = 0, evictions = 0;
  double mean_wait = 0, median_wait = 0, p90_wait = 0, p99_wait = 0, longest_wait = 0;
  double gpu_hours = 0;       // of jobs that ended, as their trace tells
  double lost_gpu_hours = 0;  // that evictions undid
};

// Means are over time.
struct SimulationFigures {
  std::string name;  // of the configuration
  int64_t nodes = 0, gpus = 0;
  double hours = 0;  // of simulated time
  // Shares of all GPUs, as means until the last submission; if all jobs came at once, until the
  // load changed last; if it never did, as it stands.
  double used_share = 0;
  double split_share = 0;        // free ones on nodes where others are in use
  double idle_while_wanted = 0;  // free while waiting jobs ask for as many
  JobFigures all;
  std::vector<JobFigures> queues;  // by name; empty if no job names one
  std::vector<JobFigures> sizes;   // the smallest first; empty if all jobs are of one
  std::vector<FoundGang> found;    // that waited in the cluster at the beginning
};

[[nodiscard]] SimulationFigures FiguresOf(std::string name, const std::vector<TraceJob>& jobs,
                                          const SimulationResult& result);

[[nodiscard]] std::string SimulationTable(const std::vector<SimulationFigures>& runs);
[[nodiscard]] Json SimulationJson(const std::vector<SimulationFigures>& runs);
// One line a job: its name, Queue, pods, GPUs of a pod, and when it was submitted, started and
// ended, in seconds; an empty field where it did not.
[[nodiscard]] std::string SimulationCsv(const std::vector<TraceJob>& jobs,
                                        const SimulationResult& result);

}  // namespace maniple
