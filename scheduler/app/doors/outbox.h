// The door for write commands, scheduling thread → IO thread.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "api/base/mutex.h"
#include "api/client/write_command.h"

namespace maniple {

class Outbox final {
 public:
  // `wakeup` ends the IO thread's poll; callable from the scheduling thread.
  explicit Outbox(std::function<void()> wakeup) : wakeup_(std::move(wakeup)) {}

  struct Batch {
    uint64_t lead = 0;  // under which they were decided
    std::vector<WriteCommand> writes;
  };
  void Push(Batch batch);
  [[nodiscard]] std::vector<Batch> Take();

 private:
  const std::function<void()> wakeup_;
  Mutex mutex_;
  std::vector<Batch> batches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace maniple
