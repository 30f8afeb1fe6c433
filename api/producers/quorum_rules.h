// What each producer's gang needs, in words: for people, and for pages to be compared with.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace maniple {

struct QuorumRule {
  absl::string_view producer;  // "Job (batch)"; marks have no group
  absl::string_view quorum;
};

// In the order of the table of kinds, then marks.
[[nodiscard]] absl::Span<const QuorumRule> QuorumRules();

}  // namespace maniple
