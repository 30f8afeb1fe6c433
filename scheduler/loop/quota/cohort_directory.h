// The status of every Cohort: what is used in it, its share, and whether it takes part.
//
// Owned by QueueDirectory. A Cohort that a Queue names and nobody created has no status.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/client/requests.h"
#include "api/model/object.h"
#include "queue/quota_book.h"
#include "scheduler/loop/records/paced_statuses.h"

namespace maniple {

class CohortDirectory final {
 public:
  explicit CohortDirectory(absl::Duration interval) : statuses_(interval) {}

  void Note(const ObjectEvent& event);

  struct DueStatus {
    ObjectMeta cohort;
    CohortStatus status;
  };
  // Statuses that differ from what was written last, at most one per cohort and interval.
  [[nodiscard]] std::vector<DueStatus> TakeDue(absl::Time now, const QuotaBook& book);
  // The outcome of each write is told here.
  [[nodiscard]] PacedStatuses<CohortStatus>& statuses() { return statuses_; }
  [[nodiscard]] const PacedStatuses<CohortStatus>& statuses() const { return statuses_; }

 private:
  struct Entry {
    ObjectMeta meta;
    std::vector<Condition> conditions;  // as they stand on the server
  };
  Entry& Put(const ObjectMeta& meta);

  std::map<std::string, Entry> cohorts_;
  PacedStatuses<CohortStatus> statuses_;
};

}  // namespace maniple
