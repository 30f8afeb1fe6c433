// Memory that the allocator keeps for later goes back to the system, so that the size of the
// process tells what it uses and not what its largest burst has used.
//
// Belongs to the thread that calls it. Without tcmalloc (sanitizers) it does nothing.
//
//   absl::Time next = spare.OnTime(now);  // and again then
#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/time/time.h"

namespace maniple {

class SpareMemory final {
 public:
  static constexpr absl::Duration kEvery = absl::Seconds(5);
  // So much is kept: taking it from the system again and again costs more than it is worth.
  static constexpr size_t kKept = size_t{4} << 20;
  // All threads together keep no more for themselves; tcmalloc's own bound is 32 MiB.
  static constexpr size_t kThreadCaches = size_t{8} << 20;

  SpareMemory();

  // Gives back what has been free both now and a period ago. Returns when it is due again.
  absl::Time OnTime(absl::Time now);

  // How many of the bytes that are free now to give back, where so many were free a period ago.
  [[nodiscard]] static size_t Surplus(size_t free_before, size_t free_now) {
    const size_t unused = std::min(free_before, free_now);
    return unused > kKept ? unused - kKept : 0;
  }

 private:
  absl::Time due_ = absl::InfinitePast();
  size_t free_before_ = 0;  // bytes
};

}  // namespace maniple
