// The memory of a gang that had to leave for another: for which one, and on what terms.
//
// While the terms hold and the other is there, the gang must not evict it in turn: neither could
// ever rest. The memory stands in status.preemptedBy, so that a new leader knows as much:
// "default/b of queue y (uid=…, terms=…)", several joined by "; ". Plain values; pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace maniple {

struct LeftFor {
  std::string name;   // "namespace/name" of the gang that came
  std::string queue;  // its Queue, if that was another; else ""
  std::string uid;    // of its PodGroup, or of the pod of a gang of one
  uint64_t terms = 0;
  friend bool operator==(const LeftFor&, const LeftFor&) = default;
};

// The terms on which one gang made another leave.
struct LeavingTerms {
  uint64_t quotas = 0;  // QuotaBook::fingerprint
  int32_t priority = 0, preemptor_priority = 0;
  absl::Time queued, preemptor_queued;
};
// Equal for equal terms, in every process. Times count in seconds, as statuses keep them.
[[nodiscard]] uint64_t TermsOf(const LeavingTerms& terms);

// The newest last; older ones are dropped where there are too many.
void Remember(LeftFor left, std::vector<LeftFor>& all);
[[nodiscard]] std::string LeftForText(const std::vector<LeftFor>& all);
// Entries without a uid say nothing and are left out.
[[nodiscard]] std::vector<LeftFor> ParseLeftFor(absl::string_view text);

}  // namespace maniple
