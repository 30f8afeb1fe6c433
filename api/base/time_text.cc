#include "api/base/time_text.h"

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"

namespace maniple {

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone());
}

std::string ClockText(absl::Time time) {
  if (time == absl::InfiniteFuture() || time == absl::InfinitePast()) return absl::FormatTime(time);
  const absl::CivilSecond at = absl::CivilSecond(1970, 1, 1) + absl::ToUnixSeconds(time);
  return absl::StrCat(absl::Dec(at.hour(), absl::kZeroPad2), ":",
                      absl::Dec(at.minute(), absl::kZeroPad2), ":",
                      absl::Dec(at.second(), absl::kZeroPad2), " UTC");
}

}  // namespace maniple
