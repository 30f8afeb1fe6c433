#include "scheduler/app/doors/outbox.h"

#include <utility>

namespace maniple {

void Outbox::Push(Batch batch) {
  if (batch.writes.empty()) return;
  {
    MutexLock lock(mutex_);
    batches_.push_back(std::move(batch));
  }
  wakeup_();
}

std::vector<Outbox::Batch> Outbox::Take() {
  MutexLock lock(mutex_);
  return std::exchange(batches_, {});
}

}  // namespace maniple
