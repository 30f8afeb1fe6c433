// The door for decisions on their way to a file, scheduling thread → keeping thread.
#pragma once

#include <cstdint>
#include <vector>

#include "api/base/mutex.h"
#include "scheduler/report/decision_entry.h"

namespace maniple {

class DecisionQueue final {
 public:
  struct Batch {
    std::vector<DecisionEntry> entries;
    int64_t lost = 0;  // since the last batch: the file is slower than the decisions
    bool closed = false;
  };

  // Never waits: beyond a bound entries are lost, and counted.
  void Push(const std::vector<DecisionEntry>& entries);
  // No more will come.
  void Close();
  // Waits until something is there.
  [[nodiscard]] Batch Take();

 private:
  Mutex mutex_;
  CondVar arrived_;
  Batch batch_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace maniple
