#include "scheduler/app/metrics_queues.h"

#include <algorithm>
#include <string>
#include <utility>

#include "scheduler/app/metrics_histogram.h"

namespace maniple {
namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

// One value of each Queue.
struct QueueRow {
  const char* name;
  const char* help;
  double (*value)(const QueueView&);
};
constexpr QueueRow kQueueRows[] = {
    {"maniple_queue_pending_gangs", "Gangs of the Queue that wait.",
     [](const QueueView& queue) { return static_cast<double>(queue.pending); }},
    {"maniple_queue_running_gangs", "Gangs of the Queue whose quorum is bound.",
     [](const QueueView& queue) { return static_cast<double>(queue.running); }},
    {"maniple_queue_pending_pods", "Pods of the Queue without a node.",
     [](const QueueView& queue) { return static_cast<double>(queue.pending_pods); }},
    {"maniple_queue_running_pods", "Pods of the Queue with a node.",
     [](const QueueView& queue) { return static_cast<double>(queue.running_pods); }},
    {"maniple_queue_fair_share",
     "Dominant borrowed share by weight, in permille; 0 when nothing is borrowed.",
     [](const QueueView& queue) { return static_cast<double>(queue.fair_share); }},
    {"maniple_queue_active", "1 while gangs may start from the Queue, else 0.",
     [](const QueueView& queue) {
       return queue.problem.empty() && queue.stop_policy == "None" ? 1.0 : 0.0;
     }},
};

// One value of each resource and flavor of each Queue.
struct UsageRow {
  const char* name;
  const char* help;
  Amount QuotaUsageView::*value;
};
constexpr UsageRow kUsageRows[] = {
    {"maniple_queue_nominal_quota", "What the Queue may use without borrowing.",
     &QuotaUsageView::nominal},
    {"maniple_queue_resource_usage", "What the Queue is charged for.", &QuotaUsageView::used},
    {"maniple_queue_resource_borrowed", "What of it is borrowed from the cohort.",
     &QuotaUsageView::borrowed},
    {"maniple_queue_resource_lent", "What others use of its nominal quota.", &QuotaUsageView::lent},
};

prometheus::MetricFamily Gauge(const char* name, const char* help) {
  return {.name = name, .help = help, .type = prometheus::MetricType::Gauge};
}

void Add(prometheus::MetricFamily& family, Labels labels, double value) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  family.metric.push_back(std::move(metric));
}

// In base units: CPU in cores, where amounts are thousandths of them.
double Number(const std::string& resource, Amount amount) {
  return static_cast<double>(amount.units()) / (resource == "cpu" ? 1000 : 1);
}

// Of gangs without a Queue, too: there the label is empty.
void AddHistories(const std::vector<QueueView>& queues,
                  std::vector<prometheus::MetricFamily>& families) {
  families.push_back(Gauge("maniple_pending_gangs", "Gangs that are not bound, by reason."));
  for (const QueueView& queue : queues) {
    for (const auto& [reason, gangs] : queue.pending_by_reason) {
      Add(families.back(), {{"queue", queue.name}, {"reason", std::string(reason)}},
          static_cast<double>(gangs));
    }
  }
  prometheus::MetricFamily left{.name = "maniple_evicted_gangs_total",
                                .help = "Gangs that had to leave as a whole, by why.",
                                .type = prometheus::MetricType::Counter};
  for (const QueueView& queue : queues) {
    for (size_t i = 0; i < kLeavingCauses.size(); ++i) {
      prometheus::ClientMetric metric;
      metric.label = {{"queue", queue.name}, {"reason", kLeavingCauses[i]}};
      metric.counter.value = static_cast<double>(queue.history.left[i]);
      left.metric.push_back(std::move(metric));
    }
  }
  families.push_back(std::move(left));
  const auto histogram = [&](const char* name, const char* help, const auto& of) {
    prometheus::MetricFamily family{
        .name = name, .help = help, .type = prometheus::MetricType::Histogram};
    for (const QueueView& queue : queues) {
      if (of(queue.history).count() == 0) continue;  // a score of lines that say nothing
      prometheus::ClientMetric metric = HistogramMetric(of(queue.history));
      metric.label = {{"queue", queue.name}};
      family.metric.push_back(std::move(metric));
    }
    families.push_back(std::move(family));
  };
  histogram(
      "maniple_gang_wait_seconds",
      "From a gang's creation, or its last leaving, to its quorum being bound.",
      [](const QueueHistory& history) -> const auto& { return history.waited; });
  histogram(
      "maniple_gang_bind_seconds", "From the decision on a gang to its quorum being bound.",
      [](const QueueHistory& history) -> const auto& { return history.bound; });
}

}  // namespace

std::vector<prometheus::MetricFamily> QueueFamilies(const std::vector<QueueView>& all,
                                                    absl::Time now) {
  std::vector<prometheus::MetricFamily> families;
  AddHistories(all, families);
  std::vector<QueueView> queues = all;
  std::erase_if(queues, [](const QueueView& queue) { return queue.name.empty(); });
  for (const QueueRow& row : kQueueRows) {
    families.push_back(Gauge(row.name, row.help));
    for (const QueueView& queue : queues) {
      Add(families.back(), {{"queue", queue.name}}, row.value(queue));
    }
  }
  for (const UsageRow& row : kUsageRows) {
    families.push_back(Gauge(row.name, row.help));
    for (const QueueView& queue : queues) {
      for (const QuotaUsageView& usage : queue.usage) {
        Add(families.back(),
            {{"cohort", queue.cohort},
             {"queue", queue.name},
             {"flavor", usage.flavor},
             {"resource", usage.resource}},
            Number(usage.resource, usage.*row.value));
      }
    }
  }
  families.push_back(Gauge("maniple_queue_info", "Always 1; the label says of which cohort."));
  for (const QueueView& queue : queues) {
    Add(families.back(), {{"queue", queue.name}, {"cohort", queue.cohort}}, 1);
  }
  families.push_back(Gauge("maniple_oldest_pending_gang_age_seconds",
                           "Age of the oldest gang that waits in the Queue; 0 when none does."));
  for (const QueueView& queue : queues) {
    Add(families.back(), {{"queue", queue.name}},
        std::max(0.0, absl::ToDoubleSeconds(now - std::min(now, queue.oldest_pending))));
  }
  return families;
}

}  // namespace maniple
