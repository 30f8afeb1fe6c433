// The metrics of the cluster: its Queues, Cohorts and GPUs.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "scheduler/report/figures.h"

namespace maniple {

// In the text exposition format 0.0.4.
void AppendClusterMetrics(const ClusterFigures& figures, absl::Time now, std::string& out);

}  // namespace maniple
