// Times as Kubernetes writes them. Written out by hand, because it runs once or twice per watch
// line, and several times per status.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace maniple {

// RFC 3339 with fractions and offsets in; UTC seconds "…Z" out (micro: exactly six decimals).
[[nodiscard]] absl::StatusOr<absl::Time> ParseKubernetesTime(absl::string_view text);
[[nodiscard]] std::string FormatKubernetesTime(absl::Time time);
[[nodiscard]] std::string FormatKubernetesMicroTime(absl::Time time);

}  // namespace maniple
