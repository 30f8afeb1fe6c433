// Views of the cluster for operators, the page and metrics, whole or piece by piece,
// so that no turn is late for one.
//
// Owned by SchedulingLoop; it reads what the loop knows and what the leader remembers, and changes
// neither. `leader` is null on a standby.
#pragma once

#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/cycle/topology/domain_level.h"
#include "scheduler/loop/desk/warm_state.h"
#include "scheduler/loop/leadership.h"
#include "scheduler/loop/views/figure_round.h"
#include "scheduler/loop/views/gpu_totals.h"
#include "scheduler/loop/views/view_round.h"
#include "scheduler/report/figures.h"
#include "scheduler/report/view.h"

namespace maniple {

class ClusterViews final {
 public:
  explicit ClusterViews(WarmState& warm) : warm_(warm) {}

  [[nodiscard]] ClusterViewPtr View(const Leadership* leader, absl::Time now);
  // Null until the call that ends a round.
  [[nodiscard]] std::unique_ptr<ClusterView> MoreView(const Leadership* leader, absl::Time now);
  [[nodiscard]] ClusterFiguresPtr MoreFigures(const Leadership* leader, absl::Time now);
  // A round that was begun under one lead does not end under another.
  void BeginAnew() {
    figures_.reset();
    view_.reset();
  }

 private:
  void AddPiece(ViewRound& round, const Leadership* leader, absl::Time now);
  void BeginView(ViewRound& round, const Leadership* leader, absl::Time now);
  void NumberThoseWhoWait(ViewRound& round, const GangQueue& queue) const;
  void AddNodes(ViewRound& round) const;
  void AddGangs(ViewRound& round, const Leadership* leader, absl::Time now);
  void AddQueues(ViewRound& round, const Leadership* leader, absl::Time now) const;
  [[nodiscard]] GangView ViewOf(const Case& c, const Leadership* leader) const;
  void AddLevel(FigureRound& round);
  // Adds to the Queues the usage that is held for holders.
  void TellHeldQuota(const Leadership& leader, std::vector<QueueView>& queues) const;
  [[nodiscard]] std::vector<GpuTotalView> Gpus(const Leadership* leader);
  static void AddHeldGpus(const Leadership& leader, GpuTotals& totals);

  WarmState& warm_;
  LevelStore levels_;  // of the Topology, as long as nodes and labels are the same
  std::unique_ptr<FigureRound> figures_;  // one that has not ended
  std::unique_ptr<ViewRound> view_;       // likewise
};

}  // namespace maniple
