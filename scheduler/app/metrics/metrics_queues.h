// The metrics of Queues. No name of a gang or pod is a label.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/report/queue_view.h"

namespace maniple {

// A family with one value for each resource and flavor of whoever has quota.
struct QuotaRow {
  const char* name;
  const char* help;
  Amount QuotaUsageView::*value;
};

// In the text exposition format 0.0.4. A nameless one stands for the gangs without a Queue.
void AppendQueueMetrics(const std::vector<QueueView>& queues, absl::Time now, std::string& out);

}  // namespace maniple
