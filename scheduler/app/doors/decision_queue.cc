#include "scheduler/app/doors/decision_queue.h"

#include <utility>

namespace maniple {
namespace {

// Some seconds of the fastest decisions.
constexpr size_t kMostOnTheirWay = 100'000;

}  // namespace

void DecisionQueue::Push(const std::vector<DecisionEntry>& entries) {
  if (entries.empty()) return;
  MutexLock lock(mutex_);
  for (const DecisionEntry& entry : entries) {
    if (batch_.entries.size() < kMostOnTheirWay) {
      batch_.entries.push_back(entry);
    } else {
      ++batch_.lost;
    }
  }
  arrived_.NotifyAll();
}

void DecisionQueue::Close() {
  MutexLock lock(mutex_);
  batch_.closed = true;
  arrived_.NotifyAll();
}

DecisionQueue::Batch DecisionQueue::Take() {
  MutexLock lock(mutex_);
  while (batch_.entries.empty() && !batch_.closed) arrived_.WaitFor(mutex_, absl::Seconds(60));
  Batch batch = std::exchange(batch_, {});
  batch_.closed = batch.closed;
  return batch;
}

}  // namespace maniple
