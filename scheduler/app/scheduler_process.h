// The shell around the machines: one IO thread (curl, sessions, elector, writer), one scheduling
// thread (the loop), one that searches for help, one that keeps the decision log if there is one,
// and the operator surfaces. Started once; ends on Stop() after what is in
// flight is carried out and the lease is given back.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "scheduler/app/config/options.h"

namespace maniple {

class SchedulerProcess final {
 public:
  // Reads credentials, opens the surfaces, starts the threads. Fails with one clear sentence.
  static absl::StatusOr<std::unique_ptr<SchedulerProcess>> Start(SchedulerOptions options);
  ~SchedulerProcess();

  // Finishes the binds in flight (at most 20 s), releases the lease, joins the threads. Any thread,
  // once. REQUIRES: called before this is destroyed.
  void Stop();

 private:
  class Impl;
  explicit SchedulerProcess(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
