// Figures of the cluster for metrics, made piece by piece.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/loop/cluster_views.h"
#include "scheduler/loop/views/gpu_totals.h"
#include "scheduler/loop/views/level_room.h"

namespace maniple {
namespace {

// Queues in one piece.
constexpr size_t kQueuesAtOnce = 100;

}  // namespace

ClusterFiguresPtr ClusterViews::MoreFigures(const Leadership* leader, absl::Time now) {
  if (figures_ == nullptr) figures_ = std::make_unique<FigureRound>();
  ClusterFigures& figures = figures_->figures;
  switch (figures_->next) {
    case FigureRound::Next::kQueues: {
      std::vector<QueueView>& queues = figures.queues;
      const std::string after = queues.empty() ? "" : queues.back().name;
      if (warm_.directory.AddViews(after, kQueuesAtOnce, warm_.ledger.book(), now, queues))
        return nullptr;
      queues.push_back(warm_.directory.WithoutQueueView(now));
      figures_->next = FigureRound::Next::kCohorts;
      return nullptr;
    }
    case FigureRound::Next::kCohorts:
      if (leader != nullptr) TellHeldQuota(*leader, figures.queues);
      figures.cohorts = warm_.directory.CohortViews(warm_.ledger.book(), NameQueues::kNo);
      figures_->next = FigureRound::Next::kGpus;
      return nullptr;
    case FigureRound::Next::kGpus:
      figures.gpus = Gpus(leader);
      figures_->levels = LevelsToTell(*warm_.Picture().tables);
      figures_->next = FigureRound::Next::kLevels;
      return nullptr;
    case FigureRound::Next::kLevels:
      AddLevel(*figures_);
      if (figures_->next_level < figures_->levels.size()) return nullptr;
      break;
  }
  auto made = std::make_shared<const ClusterFigures>(std::move(figures));
  figures_.reset();
  return made;
}

// Of a level in which no node has GPUs there is nothing to tell.
void ClusterViews::AddLevel(FigureRound& round) {
  const LevelKey& level = round.levels[round.next_level++];
  LevelRoomView room = RoomOf(warm_.Picture(), level, levels_);
  if (!room.free_slices.empty()) round.figures.levels.push_back(std::move(room));
}

void ClusterViews::TellHeldQuota(const Leadership& leader, std::vector<QueueView>& queues) const {
  const QuotaBook& book = warm_.ledger.book();
  for (const GangId holder : leader.holders()) {
    const GangRecord& record = *leader.desk().FindRecord(holder);
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

void ClusterViews::AddHeldGpus(const Leadership& leader, GpuTotals& totals) {
  for (const GangId holder : leader.holders()) {
    for (const Reservation::Room& room : leader.desk().FindRecord(holder)->reservation->rooms) {
      totals.Hold(room.node, room.shape);
    }
  }
  for (const GangId gang : leader.mending()) {
    const GangRecord* record = leader.desk().FindRecord(gang);
    if (record == nullptr) continue;
    for (const HeldVacancy& held : record->holds) {
      if (held.hold.valid()) totals.Hold(held.node, held.vacancy.shape);
    }
  }
}

std::vector<GpuTotalView> ClusterViews::Gpus(const Leadership* leader) {
  GpuTotals totals(warm_.Picture());
  if (leader != nullptr) AddHeldGpus(*leader, totals);
  return totals.Sum(warm_.ledger);
}

}  // namespace maniple
