// Comparing resourceVersions of one resource type: as numbers where both are, else only for
// equality. Source: k8s.io/apimachinery, "comparable resource versions" (KEP-5504).
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace maniple {

// The version as a number: digits only, no leading zero, below 2^64.
[[nodiscard]] std::optional<uint64_t> NumericVersion(absl::string_view version);

enum class VersionOrder { kOlder, kSame, kNewer, kUnknown };
// How `a` stands to `b`.
[[nodiscard]] VersionOrder CompareVersions(absl::string_view a, absl::string_view b);

}  // namespace maniple
