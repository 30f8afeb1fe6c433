#include "scheduler/app/doors/usage_history.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace maniple {
namespace {

size_t RowsOf(const UsagePoint& point) {
  size_t rows = point.queues.size();
  for (const auto& [name, totals] : point.queues) rows += totals.used.size();
  return rows;
}

}  // namespace

QueueTotals TotalsOf(const QueueView& queue) {
  return {.used = queue.used,
          .started = static_cast<int64_t>(queue.history.waited.count()),
          .waited_seconds = queue.history.waited.seconds(),
          .left = queue.history.left};
}

void UsageHistory::Note(const ClusterFiguresPtr& figures, absl::Time now) {
  if (figures == nullptr) {
    points_.clear();
    rows_ = 0;
    return;
  }
  if (!points_.empty() && now < points_.back()->at + bounds_.interval) return;
  auto point = std::make_shared<UsagePoint>();
  point->at = now;
  for (const QueueView& queue : figures->queues) point->queues.emplace(queue.name, TotalsOf(queue));
  rows_ += RowsOf(*point);
  points_.push_back(std::move(point));
  while (points_.size() > 1 &&
         (rows_ > bounds_.most_rows || points_[1]->at <= now - bounds_.span)) {
    rows_ -= RowsOf(*points_.front());
    points_.pop_front();
  }
}

UsagePointPtr UsageHistory::At(absl::Time then) const {
  if (points_.empty()) return nullptr;
  const auto later = std::ranges::upper_bound(points_, then, {},
                                              [](const UsagePointPtr& point) { return point->at; });
  return later == points_.begin() ? points_.front() : *std::prev(later);
}

}  // namespace maniple
