// The metrics of Queues, and of all GPUs. No name of a gang or pod is a label.
//
// Written straight into the text, as there may be thousands of Queues with scores of lines each: a
// library's objects for each line cost five times as much (bench/metrics_bench.cc).
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/report/view.h"

namespace maniple {

void AppendGpuMetrics(const std::vector<GpuTotalView>& totals, std::string& out);
// In the text exposition format 0.0.4. A nameless one stands for the gangs without a Queue.
void AppendQueueMetrics(const std::vector<QueueView>& queues, absl::Time now, std::string& out);

}  // namespace maniple
