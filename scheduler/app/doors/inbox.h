// The door for news, IO thread → scheduling thread: events, write results and the role.
//
// It folds them, so it is bounded by the number of live objects and never has to stop a socket.
#pragma once

#include "absl/time/time.h"
#include "api/base/mutex.h"
#include "api/client/cluster_news.h"

namespace maniple {

class Inbox final {
 public:
  struct Batch {
    ClusterNews news;    // folded
    bool drain = false;  // asked to finish what is in flight
  };

  void Push(ClusterNews news);
  void RequestDrain();
  void Wake();

  // Waits until something is there, Wake() was called or the time is over.
  [[nodiscard]] Batch Take(absl::Duration wait);

 private:
  Mutex mutex_;
  CondVar arrived_;
  NewsFold news_ ABSL_GUARDED_BY(mutex_);
  bool drain_ ABSL_GUARDED_BY(mutex_) = false;
  bool awake_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace maniple
