// A histogram as Prometheus tells it.
#pragma once

#include <prometheus/client_metric.h>

#include <limits>

#include "scheduler/report/duration_histogram.h"

namespace maniple {

template <typename Scale>
prometheus::ClientMetric HistogramMetric(const DurationHistogram<Scale>& histogram) {
  prometheus::ClientMetric metric;
  metric.histogram.sample_count = histogram.count();
  metric.histogram.sample_sum = histogram.seconds();
  uint64_t so_far = 0;
  for (size_t i = 0; i < Scale::kBounds.size(); ++i) {
    so_far += histogram.buckets()[i];
    metric.histogram.bucket.push_back(
        {.cumulative_count = so_far, .upper_bound = Scale::kBounds[i]});
  }
  metric.histogram.bucket.push_back({.cumulative_count = histogram.count(),
                                     .upper_bound = std::numeric_limits<double>::infinity()});
  return metric;
}

}  // namespace maniple
