// Queues and Cohorts as operators see them. Plain values, part of a ClusterView (view.h) and of
// ClusterFigures (figures.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/model/maniple_types.h"
#include "api/model/model.h"
#include "scheduler/report/queue_history.h"

namespace maniple {

struct QuotaUsageView {
  std::string flavor, resource;  // flavor "" = nodes that no other entry names
  Amount nominal, used, borrowed, lent;
  Amount held;  // of `used`, for gangs of a Queue that start later; told in ClusterFigures only
  std::optional<Amount> borrowing_limit, lending_limit;  // of a Queue; absent = none
  friend bool operator==(const QuotaUsageView&, const QuotaUsageView&) = default;
};

struct QueueView {
  std::string name, cohort, stop_policy;
  std::string problem;  // why nothing starts from it; "" = active, or only stopped
  int64_t pending = 0, running = 0, pending_pods = 0, running_pods = 0;  // gangs, gangs, pods, pods
  // Gangs that run and name it, from namespaces that it does not admit: no Queue
  // is charged for them.
  int64_t uncharged = 0;
  int64_t fair_share = 0;  // permille
  // Creation of the oldest gang that waits, has its members and is not on hold; the infinite future
  // = none does.
  absl::Time oldest_pending = absl::InfiniteFuture();
  std::vector<std::pair<absl::string_view, int64_t>> pending_by_reason;  // gangs, by reason's name
  QueueHistory history;
  std::vector<QuotaUsageView> usage;
  ResourceAmounts asked;              // by pods without a node; sorted by resource
  std::vector<ResourceSeconds> used;  // up to now
};

struct CohortView {
  std::string name, parent;         // parent "" = a root
  std::string problem;              // why no Queue in it is active; "" = none
  int64_t fair_share = 0;           // permille, of its parent's
  std::vector<std::string> queues;  // that name it; sorted
  std::vector<QuotaUsageView> usage;
};

}  // namespace maniple
