// Plays a workload on a cluster: the fate of these jobs under this scheduler.
//
// The real loop and client over a clock of their own (scheduler/replay). A job starts once all of
// its pods are bound, and ends its run time later. A job that was evicted leaves at once, is made
// again a second later as its controller would, and runs from its beginning. One thread,
// deterministic.
//
//   ASSIGN_OR_RETURN(SimulationResult result, Simulate(input, options, [](const Progress&) {}));
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/codec/json.h"
#include "scheduler/loop/records/loop_options.h"
#include "scheduler/simulate/found_gangs.h"
#include "scheduler/simulate/trace.h"

namespace maniple {

struct SimulationInput {
  std::vector<Json> cluster;  // nodes, Queues, Topologies …; its pods end by their own word
  std::vector<TraceJob> jobs;
  absl::Time start = absl::UnixEpoch();
  std::string scheduler_name = "maniple";  // that the pods choose
  // PodGroups say how long they run (expectedRuntimeSeconds), so that gaps can be filled.
  bool tells_run_times = false;
  // Counted from the last submission; jobs that have not ended by then are told as they are.
  absl::Duration horizon = absl::InfiniteDuration();
};

// Times since the first submission; infinite = not at all.
struct JobOutcome {
  absl::Duration submitted;
  absl::Duration started = absl::InfiniteDuration();  // for the first time
  absl::Duration ended = absl::InfiniteDuration();
  int64_t evictions = 0;
  absl::Duration lost;  // run time that evictions undid

  [[nodiscard]] bool has_started() const { return started != absl::InfiniteDuration(); }
  [[nodiscard]] bool has_ended() const { return ended != absl::InfiniteDuration(); }
};

// The load from `at` until the next point.
struct LoadPoint {
  absl::Duration at;
  int64_t gpus_used = 0;
  int64_t gpus_split = 0;  // free, on nodes of which others are in use
  int64_t jobs_waiting = 0;
  int64_t gpus_wanted = 0;  // by jobs that wait
};

struct SimulationResult {
  int64_t nodes = 0, gpus = 0;
  std::vector<JobOutcome> jobs;  // as in the input
  std::vector<FoundGang> found;  // of the cluster, by namespace and name
  std::vector<LoadPoint> load;
  absl::Duration length;  // of simulated time
};

struct Progress {
  int64_t jobs_ended = 0;
  absl::Duration at;
};

// InvalidArgument names the object that cannot be loaded; Internal: the scheduler did not
// come to rest at one moment. `tell` is called now and then.
[[nodiscard]] absl::StatusOr<SimulationResult> Simulate(
    const SimulationInput& input, LoopOptions options,
    const std::function<void(const Progress&)>& tell);

}  // namespace maniple
