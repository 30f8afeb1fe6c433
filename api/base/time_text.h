// Points in time as people read them in messages.
#pragma once

#include <string>

#include "absl/time/time.h"

namespace maniple {

// "2026-01-01 12:00:00 UTC".
[[nodiscard]] std::string TimeText(absl::Time time);
// "10:11:12 UTC"
[[nodiscard]] std::string ClockText(absl::Time time);

}  // namespace maniple
