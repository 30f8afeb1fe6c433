// The string formats of OpenAPI that kube-apiserver checks, as far as CRD authors use them.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace maniple {

// Unknown formats are kNone: kube-apiserver ignores them too.
enum class StringFormat {
  kNone,
  kDateTime,
  kDate,
  kDuration,
  kByte,
  kUuid,
  kIpv4,
  kIpv6,
  kCidr,
  kHostname,
  kEmail
};

[[nodiscard]] StringFormat StringFormatOf(absl::string_view name);
[[nodiscard]] bool MatchesFormat(StringFormat format, absl::string_view text);

// RFC 3339 with an offset, as metav1.Time writes it.
[[nodiscard]] std::optional<absl::Time> ParseDateTime(absl::string_view text);
// Go's "1h30m", "300ms"; finite.
[[nodiscard]] std::optional<absl::Duration> ParseGoDuration(absl::string_view text);

}  // namespace maniple
