// Ages as text, as kube-apiserver and kubectl write them.
//
// Pure functions.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

// "5s", "3m20s", "47h", "12d", "2y30d" as kubectl writes ages; "<unknown>" for a negative or
// infinite one.
[[nodiscard]] std::string HumanDuration(absl::Duration age);

// "5d", or "<unknown>" when there is no such time.
[[nodiscard]] Json AgeSince(const Json& timestamp, absl::Time now);

}  // namespace maniple::devcluster
