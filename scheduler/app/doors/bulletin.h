// What the scheduling thread and the IO thread tell everybody: counters and health at all times, a
// view of the cluster on request.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/base/mutex.h"
#include "api/client/right.h"
#include "api/client/write_lines.h"
#include "api/http/answers.h"
#include "api/model/object.h"
#include "scheduler/app/doors/decision_journal.h"
#include "scheduler/app/doors/usage_history.h"
#include "scheduler/app/metrics/turn_times.h"
#include "scheduler/loop/records/loop_options.h"
#include "scheduler/report/figures.h"
#include "scheduler/report/view.h"

namespace maniple {

class Bulletin final {
 public:
  struct Health {
    bool synced = false;
    bool leading = false;
    absl::Time progress = absl::InfinitePast();  // when the scheduling thread last ended a turn
    ObjectKey at;  // the object that it folded in last: where it stands, if it ends no turn
  };

  // Scheduling thread.
  void Post(const LoopCounters& counters, const Health& health);
  void NoteTurn(absl::Duration took);
  void PostFigures(ClusterFiguresPtr figures, absl::Time now);
  void NoteDecisions(std::vector<DecisionEntry> entries);
  void NoteAt(const ObjectKey& key);  // the object that is being folded in
  [[nodiscard]] bool ViewWanted();
  // A view is begun now, for all who have wanted one until now.
  void BeginView(absl::Time now);
  // The one that was begun last. It is arranged, and the one before is freed, by its first reader.
  void PostView(std::unique_ptr<ClusterView> view);
  void NoteViewCost(absl::Duration took);  // of the scheduling thread's time

  // IO thread.
  void PostForbidden(const ForbiddenCounts& forbidden);
  void PostTraffic(const Answers& answers, const WriteLines& writes);
  void PostProblems(std::vector<std::string> problems);  // with the API server

  // Any thread.
  [[nodiscard]] LoopCounters counters();
  [[nodiscard]] Answers answers();            // of the API server
  [[nodiscard]] WriteLines writes();          // to it
  [[nodiscard]] ForbiddenCounts forbidden();  // of what is not written
  [[nodiscard]] std::vector<std::string> problems();
  [[nodiscard]] Health health();
  [[nodiscard]] TurnTimes turn_times();
  // The latest view if it was begun since `least`; else null, and one is wanted: ask again when it
  // was posted. Never waits.
  [[nodiscard]] ClusterViewPtr ViewSince(absl::Time least);
  // The same for those who share a view: where views are dear they serve for longer, so that
  // readers take a twentieth of the scheduling thread's time at the most, however many there are.
  [[nodiscard]] ClusterViewPtr SharedViewSince(absl::Time least);
  // Null: this process does not lead, or nothing was posted yet.
  [[nodiscard]] ClusterFiguresPtr figures();
  // As UsageHistory::At.
  [[nodiscard]] UsagePointPtr UsedBy(absl::Time then);
  // As DecisionJournal::Of.
  [[nodiscard]] std::vector<JournalEntry> DecisionsOf(const std::string& namespace_name,
                                                      const std::string& name, size_t most);
  [[nodiscard]] absl::Duration view_cost();  // of the last one
  // Asks the scheduling thread (through `wake`) for a fresh view and waits for it; null when it
  // does not come in time.
  [[nodiscard]] ClusterViewPtr FreshView(absl::Duration wait, const std::function<void()>& wake);

 private:
  Mutex mutex_;
  CondVar news_;
  LoopCounters counters_ ABSL_GUARDED_BY(mutex_);
  ForbiddenCounts forbidden_ ABSL_GUARDED_BY(mutex_);
  Answers answers_ ABSL_GUARDED_BY(mutex_);
  WriteLines writes_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> problems_ ABSL_GUARDED_BY(mutex_);
  Health health_ ABSL_GUARDED_BY(mutex_);
  TurnTimes turn_times_ ABSL_GUARDED_BY(mutex_);
  ClusterFiguresPtr figures_ ABSL_GUARDED_BY(mutex_);
  UsageHistory used_ ABSL_GUARDED_BY(mutex_){UsageHistory::Bounds()};
  DecisionJournal journal_ ABSL_GUARDED_BY(mutex_){DecisionJournal::Bounds()};
  ObjectKey at_ ABSL_GUARDED_BY(mutex_);
  struct Number {         // of a view
    uint64_t number = 0;  // from 1, in order of beginning
    absl::Time begun = absl::InfinitePast();
  };
  void ArrangeTheLatest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Number begun_ ABSL_GUARDED_BY(mutex_);                           // the last
  Number posted_ ABSL_GUARDED_BY(mutex_);                          // of raw_view_
  std::unique_ptr<ClusterView> raw_view_ ABSL_GUARDED_BY(mutex_);  // not arranged yet; null: none
  Number shown_ ABSL_GUARDED_BY(mutex_);                           // of view_
  ClusterViewPtr view_ ABSL_GUARDED_BY(mutex_);                    // what readers get
  // For a reader to free.
  std::vector<std::unique_ptr<ClusterView>> unread_ ABSL_GUARDED_BY(mutex_);
  absl::Duration view_cost_ ABSL_GUARDED_BY(mutex_);
  bool wanted_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace maniple
