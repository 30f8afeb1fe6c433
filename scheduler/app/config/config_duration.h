// A length of time as the configuration file and the flags write it.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace maniple {

// "300ms", "2s", "10m", "1h", "1m30s".
[[nodiscard]] absl::StatusOr<absl::Duration> ParseConfigDuration(absl::string_view text);

}  // namespace maniple
