// What metrics tell of the cluster, piece by piece.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/loop/gpu_totals.h"
#include "scheduler/loop/loop_impl.h"

namespace maniple {
namespace {

// In one piece.
constexpr size_t kQueuesAtOnce = 100;

}  // namespace

ClusterFiguresPtr SchedulingLoop::Impl::MoreFigures(absl::Time now) {
  if (figures_ == nullptr) figures_ = std::make_unique<FigureRound>();
  ClusterFigures& figures = figures_->figures;
  switch (figures_->next) {
    case FigureRound::Next::kQueues: {
      std::vector<QueueView>& queues = figures.queues;
      const std::string after = queues.empty() ? "" : queues.back().name;
      if (directory_.AddViews(after, kQueuesAtOnce, ledger_.book(), now, queues)) return nullptr;
      queues.push_back(directory_.WithoutQueueView(now));
      figures_->next = FigureRound::Next::kCohorts;
      return nullptr;
    }
    case FigureRound::Next::kCohorts:
      TellHeldQuota(figures.queues);
      figures.cohorts = directory_.CohortViews(ledger_.book(), NameQueues::kNo);
      figures_->next = FigureRound::Next::kGpus;
      return nullptr;
    case FigureRound::Next::kGpus:
      break;
  }
  figures.gpus = Gpus();
  auto made = std::make_shared<const ClusterFigures>(std::move(figures));
  figures_.reset();
  return made;
}

void SchedulingLoop::Impl::TellHeldQuota(std::vector<QueueView>& queues) const {
  const QuotaBook& book = ledger_.book();
  for (const GangId holder : holders_) {
    const GangRecord& record = *records_.at(holder);
    const auto queue = std::ranges::find(queues, record.queue, &QueueView::name);
    if (record.queue.empty() || queue == queues.end()) continue;
    for (const CellAmount& part : record.reservation->held) {
      const auto row = std::ranges::find_if(queue->usage, [&](const QuotaUsageView& usage) {
        return usage.flavor == book.FlavorOfCell(part.cell) &&
               usage.resource == book.ResourceOf(part.cell);
      });
      if (row != queue->usage.end()) row->held += part.amount;
    }
  }
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
