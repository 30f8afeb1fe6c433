#include "api/devcluster/types/time_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace maniple::devcluster {

// Two units at most, and fewer the longer ago: as kubectl has written ages ever since.
std::string HumanDuration(absl::Duration age) {
  if (age < -absl::Seconds(1) || age == absl::InfiniteDuration()) return "<unknown>";
  const int64_t seconds = std::max<int64_t>(0, absl::ToInt64Seconds(age));
  const int64_t minutes = seconds / 60;
  const int64_t hours = minutes / 60;
  const int64_t days = hours / 24;
  const int64_t years = days / 365;
  const auto two = [](int64_t first, const char* unit, int64_t second, const char* small) {
    return second == 0 ? absl::StrCat(first, unit) : absl::StrCat(first, unit, second, small);
  };
  if (seconds < 120) return absl::StrCat(seconds, "s");
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return absl::StrCat(minutes, "m");
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return absl::StrCat(hours, "h");
  if (days < 8) return two(days, "d", hours % 24, "h");
  if (years < 2) return absl::StrCat(days, "d");
  if (years < 8) return two(years, "y", days % 365, "d");
  return absl::StrCat(years, "y");
}

Json AgeSince(const Json& timestamp, absl::Time now) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, timestamp.AsString(), &time, &error)) {
    return Json("<unknown>");
  }
  return Json(HumanDuration(now - time));
}

}  // namespace maniple::devcluster
