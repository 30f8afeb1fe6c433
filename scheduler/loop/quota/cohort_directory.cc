#include "scheduler/loop/quota/cohort_directory.h"

#include <utility>

#include "scheduler/report/quota_report.h"
#include "scheduler/report/status.h"

namespace maniple {

CohortDirectory::Entry& CohortDirectory::Put(const ObjectMeta& meta) {
  Entry& known = cohorts_[meta.name];
  if (known.meta.uid != meta.uid) {
    statuses_.Forget(meta.name);
    known.conditions.clear();
  }
  known.meta = meta;
  statuses_.Touch(meta.name);
  statuses_.Seen(meta.name, meta.resource_version);
  return known;
}

void CohortDirectory::Note(const ObjectEvent& event) {
  if (const auto* upserted = std::get_if<ObjectUpserted>(&event)) {
    if (const auto* cohort = std::get_if<Cohort>(&upserted->object)) {
      Put(cohort->meta).conditions = cohort->conditions;
    }
  } else if (const auto* deleted = std::get_if<ObjectDeleted>(&event)) {
    if (deleted->key.kind != ResourceKind::kCohort) return;
    cohorts_.erase(deleted->key.name);
    statuses_.Remove(deleted->key.name);
  } else if (const auto* invalid = std::get_if<ObjectInvalid>(&event)) {
    if (invalid->key.kind != ResourceKind::kCohort) return;
    ObjectMeta meta;
    meta.name = invalid->key.name;
    meta.uid = invalid->uid;
    (void)Put(meta);
  }
}

std::vector<CohortDirectory::DueStatus> CohortDirectory::TakeDue(absl::Time now,
                                                                 const QuotaBook& book) {
  std::vector<DueStatus> due;
  for (const std::string& name : statuses_.Due(now)) {
    const auto& [meta, conditions] = cohorts_.at(name);
    CohortStatus status{.usage = StatusRows(UsageOfCohort(name, book)),
                        .fair_share = FairShareOf(book.CohortNamed(name), book)};
    // What an earlier leader wrote keeps its times.
    const CohortStatus* written = statuses_.Written(name);
    status.conditions = written != nullptr ? written->conditions : conditions;
    const std::string problem = book.ProblemOfCohort(name);
    SetCondition(status.conditions,
                 {.type = "Active",
                  .status = problem.empty() ? "True" : "False",
                  .reason = problem.empty() ? "Ready" : "Invalid",
                  .message = problem,
                  .observed_generation = meta.generation},
                 now);
    if (auto news = statuses_.Take(name, std::move(status), now)) {
      due.push_back({.cohort = meta, .status = *std::move(news)});
    }
  }
  return due;
}

}  // namespace maniple
