// The metrics of Queues. No name of a gang or pod is a label.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "absl/time/time.h"
#include "scheduler/report/view.h"

namespace maniple {

[[nodiscard]] std::vector<prometheus::MetricFamily> QueueFamilies(
    const std::vector<QueueView>& queues, absl::Time now);

}  // namespace maniple
