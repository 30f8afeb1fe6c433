// How long turns of the scheduling loop took: a histogram with fixed bounds. A value; whoever
// shares it between threads locks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/time/time.h"

namespace maniple {

class TurnTimes final {
 public:
  // Upper bounds in seconds, 10 µs to 10 s.
  static constexpr std::array<double, 13> kBounds = {1e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3,
                                                     1e-2, 5e-2, 0.1,    0.5,  1,    10};

  void Note(absl::Duration took) {
    const double seconds = std::max(0.0, absl::ToDoubleSeconds(took));
    const auto* bound = std::ranges::lower_bound(kBounds, seconds);
    if (bound != kBounds.end()) ++buckets_[bound - kBounds.begin()];
    ++count_;
    seconds_ += seconds;
  }

  // Turns up to each bound and above the one before.
  [[nodiscard]] const std::array<uint64_t, kBounds.size()>& buckets() const { return buckets_; }
  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  std::array<uint64_t, kBounds.size()> buckets_ = {};
  uint64_t count_ = 0;
  double seconds_ = 0;
};

}  // namespace maniple
