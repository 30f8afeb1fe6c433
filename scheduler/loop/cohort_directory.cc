#include "scheduler/loop/cohort_directory.h"

#include <algorithm>
#include <utility>

#include "scheduler/report/quota_report.h"
#include "scheduler/report/status.h"

namespace maniple {

void CohortDirectory::Put(const ObjectMeta& meta) {
  Entry& entry = cohorts_[meta.name];
  if (entry.meta.uid != meta.uid) entry.status.Forget();
  entry.meta = meta;
  entry.status.Touch();
}

void CohortDirectory::Note(const ObjectEvent& event) {
  if (const auto* upserted = std::get_if<ObjectUpserted>(&event)) {
    if (const auto* cohort = std::get_if<Cohort>(&upserted->object)) Put(cohort->meta);
  } else if (const auto* deleted = std::get_if<ObjectDeleted>(&event)) {
    if (deleted->key.kind == ResourceKind::kCohort) cohorts_.erase(deleted->key.name);
  } else if (const auto* invalid = std::get_if<ObjectInvalid>(&event)) {
    if (invalid->key.kind != ResourceKind::kCohort) return;
    ObjectMeta meta;
    meta.name = invalid->key.name;
    meta.uid = invalid->uid;
    Put(meta);
  }
}

void CohortDirectory::AllChanged() {
  for (auto& [name, entry] : cohorts_) entry.status.Touch();
}

std::vector<CohortDirectory::DueStatus> CohortDirectory::TakeDue(absl::Time now,
                                                                 const QuotaBook& book) {
  std::vector<DueStatus> due;
  for (auto& [name, entry] : cohorts_) {
    if (!entry.status.IsDue(now)) continue;
    CohortStatus status{.usage = StatusRows(UsageOfCohort(name, book)),
                        .fair_share = FairShareOf(book.CohortNamed(name), book)};
    if (entry.status.written() != nullptr) {
      status.conditions = entry.status.written()->conditions;
    }
    const std::string problem = book.ProblemOfCohort(name);
    SetCondition(status.conditions,
                 {.type = "Active",
                  .status = problem.empty() ? "True" : "False",
                  .reason = problem.empty() ? "Ready" : "Invalid",
                  .message = problem,
                  .observed_generation = entry.meta.generation},
                 now);
    if (auto news = entry.status.Take(std::move(status), now + interval_)) {
      due.push_back({.cohort = entry.meta, .status = *std::move(news)});
    }
  }
  return due;
}

absl::Time CohortDirectory::NextDeadline() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [name, entry] : cohorts_) next = std::min(next, entry.status.due());
  return next;
}

void CohortDirectory::Unwritten(const std::string& cohort, absl::Time now) {
  const auto it = cohorts_.find(cohort);
  if (it != cohorts_.end()) it->second.status.Lost(now + interval_);
}

void CohortDirectory::Forget() {
  for (auto& [name, entry] : cohorts_) entry.status.Forget();
}

}  // namespace maniple
