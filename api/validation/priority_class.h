// The priority classes that Kubernetes makes itself, and what it leaves to others: a PriorityClass
// outside of these rules is refused by every API server.
#pragma once

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace maniple {

inline constexpr int64_t kHighestUserPriority = 1'000'000'000;

[[nodiscard]] inline bool HasNameOfSystem(absl::string_view priority_class) {
  return absl::StartsWith(priority_class, "system-");
}
[[nodiscard]] inline bool IsSystemPriorityClass(absl::string_view name, int64_t value) {
  return (name == "system-cluster-critical" && value == kHighestUserPriority * 2) ||
         (name == "system-node-critical" && value == kHighestUserPriority * 2 + 1000);
}

}  // namespace maniple
