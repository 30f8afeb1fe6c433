// A ceiling on writes per second: a bucket that holds one second's worth of writes,
// and fills evenly.
//
// Owned by the Writer.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace maniple {

class WritePace final {
 public:
  // 0 = no ceiling.
  explicit WritePace(int per_second) : per_second_(per_second), left_(per_second) {}

  // True when one more may be sent now; it is counted.
  [[nodiscard]] bool Take(absl::Time now) {
    if (per_second_ == 0) return true;
    left_ =
        std::min<double>(per_second_, left_ + absl::ToDoubleSeconds(now - filled_) * per_second_);
    filled_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }
  // REQUIRES: Take has just returned false.
  [[nodiscard]] absl::Time NextAt() const {
    return filled_ + absl::Seconds((1 - left_) / per_second_) + absl::Nanoseconds(1);
  }

 private:
  int per_second_;
  double left_;
  absl::Time filled_ = absl::InfinitePast();
};

}  // namespace maniple
