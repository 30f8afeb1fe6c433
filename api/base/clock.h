// The only source of time outside pure code. Pure code takes `absl::Time now`; only loops hold a
// Clock.
#pragma once

#include "absl/time/time.h"

namespace maniple {

class Clock {
 public:
  virtual ~Clock() = default;
  // Wall time that never runs backwards within one process: the wall clock at start plus
  // CLOCK_BOOTTIME since. So deadlines hold through a suspended machine and a stepped wall clock.
  [[nodiscard]] virtual absl::Time Now() const = 0;
};

// Any thread.
[[nodiscard]] Clock& RealClock();

// For tests and simulation: moves only when told. One thread.
class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(absl::Time start = absl::FromUnixSeconds(1'700'000'000)) : now_(start) {}
  [[nodiscard]] absl::Time Now() const override { return now_; }
  void Advance(absl::Duration by) { now_ += by; }
  // REQUIRES: to >= Now().
  void AdvanceTo(absl::Time to);

 private:
  absl::Time now_;
};

}  // namespace maniple
