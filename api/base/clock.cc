#include "api/base/clock.h"

#include <ctime>

#include "absl/time/clock.h"
#include "api/base/check.h"

namespace maniple {
namespace {

absl::Duration SinceBoot() {
  timespec ts{};
  CHECK(::clock_gettime(CLOCK_BOOTTIME, &ts) == 0);
  return absl::DurationFromTimespec(ts);
}

class BootTimeClock final : public Clock {
 public:
  BootTimeClock() : wall_at_boot_(absl::Now() - SinceBoot()) {}
  [[nodiscard]] absl::Time Now() const override { return wall_at_boot_ + SinceBoot(); }

 private:
  const absl::Time wall_at_boot_;
};

}  // namespace

Clock& RealClock() {
  static BootTimeClock clock;
  return clock;
}

void SimulatedClock::AdvanceTo(absl::Time to) {
  CHECK_GE(to, now_);
  now_ = to;
}

}  // namespace maniple
