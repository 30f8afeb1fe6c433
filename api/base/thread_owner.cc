#include "api/base/thread_owner.h"

#include <functional>
#include <thread>

#include "api/base/check.h"

namespace maniple {

void ThreadOwner::Check() const {
  const uint64_t self = std::hash<std::thread::id>{}(std::this_thread::get_id()) | 1;
  uint64_t expected = 0;
  if (owner_.compare_exchange_strong(expected, self)) return;
  CHECK(expected == self) << "used from a thread that does not own it";
}

}  // namespace maniple
