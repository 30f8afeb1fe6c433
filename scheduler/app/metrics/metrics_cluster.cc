#include "scheduler/app/metrics/metrics_cluster.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/app/metrics/metrics_queues.h"
#include "scheduler/app/metrics/metrics_text.h"

namespace maniple {
namespace {

// Of each Cohort.
constexpr QuotaRow kCohortRows[] = {
    {"maniple_cohort_subtree_quota", "Amount that the Cohort and those below it may use and lend.",
     &QuotaUsageView::nominal},
    {"maniple_cohort_resource_usage", "Charge of its Queues and of those below it.",
     &QuotaUsageView::used},
    {"maniple_cohort_resource_borrowed",
     "Part of the usage beyond its quota: the parent lends it, or quotas have shrunk since.",
     &QuotaUsageView::borrowed},
    {"maniple_cohort_resource_lent", "Part of its quota that others use.", &QuotaUsageView::lent},
};

void AddCohorts(const std::vector<CohortView>& cohorts, std::string& out) {
  MetricText text(out);
  text.Begin("maniple_cohort_info", "Always 1; the label names the parent.", "gauge");
  for (const CohortView& cohort : cohorts) {
    text.Add("maniple_cohort_info",
             absl::StrCat(Label("cohort", cohort.name), ",", Label("parent", cohort.parent)), 1);
  }
  text.Begin("maniple_cohort_fair_share",
             "Dominant borrowed share by weight, in permille; 0 when nothing is borrowed.",
             "gauge");
  for (const CohortView& cohort : cohorts) {
    text.Add("maniple_cohort_fair_share", Label("cohort", cohort.name),
             static_cast<double>(cohort.fair_share));
  }
  for (const QuotaRow& row : kCohortRows) {
    text.Begin(row.name, row.help, "gauge");
    for (const CohortView& cohort : cohorts) {
      for (const QuotaUsageView& usage : cohort.usage) {
        text.Add(row.name,
                 absl::StrCat(Label("cohort", cohort.name), ",", Label("flavor", usage.flavor), ",",
                              Label("resource", usage.resource)),
                 InBaseUnits(usage.resource, usage.*row.value));
      }
    }
  }
}

void AddGpus(const std::vector<GpuTotalView>& totals, std::string& out) {
  constexpr char kName[] = "maniple_gpus";
  MetricText text(out);
  text.Begin(kName,
             "GPUs, and slices of them, by what they are: used; free; held for a gang; or on a "
             "node that is cordoned or unreachable.",
             "gauge");
  for (const GpuTotalView& total : totals) {
    for (size_t state = 0; state < kGpuStates.size(); ++state) {
      text.Add(kName,
               absl::StrCat(Label("flavor", total.flavor), ",", Label("resource", total.resource),
                            ",", Label("state", kGpuStates[state])),
               static_cast<double>(total.amounts[state]));
    }
  }
}

void AddLevels(const std::vector<LevelRoomView>& levels, std::string& out) {
  constexpr char kLargest[] = "maniple_largest_gang_gpus";
  constexpr char kSlices[] = "maniple_free_slices";
  MetricText text(out);
  text.Begin(kLargest, "Free GPUs of the domain that has most of them, by level of the Topology.",
             "gauge");
  for (const LevelRoomView& level : levels) {
    text.Add(kLargest, Label("level", level.level), static_cast<double>(level.largest_gang_gpus));
  }
  text.Begin(kSlices,
             "Slices of so many idle nodes (size), each within one domain of the level, that are "
             "left.",
             "gauge");
  for (const LevelRoomView& level : levels) {
    for (const auto& [size, slices] : level.free_slices) {
      text.Add(kSlices,
               absl::StrCat(Label("level", level.level), ",", Label("size", absl::StrCat(size))),
               static_cast<double>(slices));
    }
  }
}

}  // namespace

void AppendClusterMetrics(const ClusterFigures& figures, absl::Time now, std::string& out) {
  AddGpus(figures.gpus, out);
  AddLevels(figures.levels, out);
  AppendQueueMetrics(figures.queues, now, out);
  AddCohorts(figures.cohorts, out);
}

}  // namespace maniple
