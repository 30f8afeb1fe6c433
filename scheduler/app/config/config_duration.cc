#include "scheduler/app/config/config_duration.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace maniple {

absl::StatusOr<absl::Duration> ParseConfigDuration(absl::string_view text) {
  absl::Duration parsed;
  // A bare "0" is a duration to Abseil; units are required everywhere else, so the sign is all that
  // is left to refuse.
  if (!absl::ParseDuration(text, &parsed) || parsed < absl::ZeroDuration() ||
      parsed == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text.substr(0, 64), "\" is not a duration such as 300ms, 2s, 10m or 1h"));
  }
  return parsed;
}

}  // namespace maniple
