#include "api/client/resource_version.h"

#include "absl/strings/numbers.h"

namespace maniple {

std::optional<uint64_t> NumericVersion(absl::string_view version) {
  if (version.empty() || version.size() > 20 || version[0] == '0') return std::nullopt;
  for (const char c : version) {
    if (c < '0' || c > '9') return std::nullopt;
  }
  uint64_t out = 0;
  if (!absl::SimpleAtoi(version, &out)) return std::nullopt;
  return out;
}

VersionOrder CompareVersions(absl::string_view a, absl::string_view b) {
  if (a == b) return a.empty() ? VersionOrder::kUnknown : VersionOrder::kSame;
  const std::optional<uint64_t> number_a = NumericVersion(a);
  const std::optional<uint64_t> number_b = NumericVersion(b);
  if (!number_a.has_value() || !number_b.has_value()) return VersionOrder::kUnknown;
  return *number_a < *number_b ? VersionOrder::kOlder : VersionOrder::kNewer;
}

}  // namespace maniple
