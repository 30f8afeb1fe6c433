// /metrics: what the scheduler exposes, named as Kubernetes components name theirs. The loop's
// counters, the process and the API server stand in metrics.cc and are rendered by prometheus-cpp;
// Queues in metrics_queues.cc, Cohorts and GPUs in metrics_cluster.cc. Of Queues it tells what a
// leader published last: the series of a Queue end with it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "api/client/right.h"
#include "api/client/write_lines.h"
#include "api/http/answers.h"
#include "scheduler/app/metrics/http_counters.h"
#include "scheduler/app/metrics/process_figures.h"
#include "scheduler/app/metrics/turn_times.h"
#include "scheduler/loop/records/loop_options.h"
#include "scheduler/report/figures.h"

namespace maniple {

struct ProcessFacts {
  bool leading = false;
  bool synced = false;
  std::string version;
  std::vector<std::pair<std::string, HttpCounters>> listeners;  // by name
  std::vector<ForbiddenCounts> forbidden;                       // but for what the loop writes
  std::string api_server;                                       // "10.0.0.1:6443"
  Answers answers;                                              // of that one
  WriteLines writes;                                            // to that one
  TurnTimes turns;
  ProcessFigures process;
  ClusterFiguresPtr figures;  // a leader's; null: nothing is told of the cluster
  absl::Time now;
};

// The text exposition format 0.0.4.
[[nodiscard]] std::string RenderMetrics(const LoopCounters& counters, const ProcessFacts& facts);

}  // namespace maniple
