#include "scheduler/app/doors/inbox.h"

#include <utility>

namespace maniple {

void Inbox::Push(ClusterNews news) {
  if (news.events.empty() && news.results.empty() && !news.leading.has_value()) return;
  MutexLock lock(mutex_);
  news_.Add(std::move(news));
  awake_ = true;
  arrived_.NotifyAll();
}

void Inbox::RequestDrain() {
  MutexLock lock(mutex_);
  drain_ = true;
  awake_ = true;
  arrived_.NotifyAll();
}

void Inbox::Wake() {
  MutexLock lock(mutex_);
  awake_ = true;
  arrived_.NotifyAll();
}

Inbox::Batch Inbox::Take(absl::Duration wait) {
  MutexLock lock(mutex_);
  if (!awake_ && wait > absl::ZeroDuration()) arrived_.WaitFor(mutex_, wait);
  awake_ = false;
  return {.news = news_.Take(), .drain = std::exchange(drain_, false)};
}

}  // namespace maniple
