// What metrics tell of the cluster, piece by piece.
#include <memory>
#include <utility>
#include <vector>

#include "scheduler/loop/gpu_totals.h"
#include "scheduler/loop/loop_impl.h"

namespace maniple {
namespace {

// Of Queues in one piece: less than a tenth of a millisecond.
constexpr size_t kQueuesAtOnce = 100;

}  // namespace

ClusterFiguresPtr SchedulingLoop::Impl::MoreFigures(absl::Time now) {
  if (figures_ == nullptr) figures_ = std::make_unique<ClusterFigures>();
  std::vector<QueueView>& queues = figures_->queues;
  // The nameless one is the last.
  if (queues.empty() || !queues.back().name.empty()) {
    const std::string after = queues.empty() ? "" : queues.back().name;
    if (!directory_.AddViews(after, kQueuesAtOnce, ledger_.book(), now, queues)) {
      queues.push_back(directory_.WithoutQueueView(now));
    }
    return nullptr;
  }
  figures_->cohorts = directory_.CohortViews(ledger_.book());
  figures_->gpus = Gpus();
  return std::exchange(figures_, nullptr);
}

std::vector<GpuTotalView> SchedulingLoop::Impl::Gpus() {
  GpuTotals totals(Picture());
  for (const GangId holder : holders_) {
    for (const Reservation::Room& room : records_.at(holder)->reservation->rooms) {
      totals.Hold(room.node, room.shape);
    }
  }
  for (const GangId gang : mending_) {
    const auto record = records_.find(gang);
    if (record == records_.end()) continue;
    for (const HeldVacancy& held : record->second->holds) {
      if (held.hold.valid()) totals.Hold(held.node, held.vacancy.shape);
    }
  }
  return totals.Sum(ledger_);
}

}  // namespace maniple
