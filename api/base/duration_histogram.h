// A histogram of durations with fixed bounds. A value; threads that share one must lock.
//
//   struct TurnScale {
//     static constexpr std::array<double, 3> kBounds = {0.01, 0.1, 1};  // upper ones, in seconds
//   };
//   DurationHistogram<TurnScale> turns;
//   turns.Note(absl::Milliseconds(3));
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/time/time.h"

namespace maniple {

template <typename Scale>
class DurationHistogram final {
 public:
  static constexpr const auto& kBounds = Scale::kBounds;

  void Note(absl::Duration took) {
    const double seconds = std::max(0.0, absl::ToDoubleSeconds(took));
    const auto* bound = std::ranges::lower_bound(kBounds, seconds);
    if (bound != kBounds.end()) ++buckets_[static_cast<size_t>(bound - kBounds.begin())];
    ++count_;
    seconds_ += seconds;
  }

  // The counts up to each bound and above the one before.
  [[nodiscard]] const auto& buckets() const { return buckets_; }
  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  std::array<uint64_t, Scale::kBounds.size()> buckets_ = {};
  uint64_t count_ = 0;
  double seconds_ = 0;
};

}  // namespace maniple
