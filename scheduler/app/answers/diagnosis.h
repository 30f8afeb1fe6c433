// How the scheduler itself fares, from what the scheduling thread has published: for `maniple
// diag`.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/codec/json.h"
#include "scheduler/app/doors/bulletin.h"
#include "scheduler/app/metrics/metrics.h"

namespace maniple::admin::v1 {
class Diagnosis;
}  // namespace maniple::admin::v1

namespace maniple {

// A turn ends more often, whatever happens: else the scheduling thread hangs.
inline constexpr absl::Duration kStalledAfter = absl::Minutes(1);

struct DiagnosisFacts {
  LoopCounters counters;
  Bulletin::Health health;
  ProcessFacts process;
  std::vector<std::string> problems = {};  // with the API server
};
// What is published now. The caller adds what only it knows: refused reviews, listeners, the name
// of the API server. Any thread.
[[nodiscard]] DiagnosisFacts FactsOf(Bulletin& bulletin);

void DiagnosisInto(const DiagnosisFacts& facts, admin::v1::Diagnosis& out);
[[nodiscard]] absl::StatusOr<std::string> DiagnosisJson(const DiagnosisFacts& facts);

// As the command line prints the JSON: troubles first. Pure.
[[nodiscard]] std::string DiagnosisText(const Json& diagnosis);

}  // namespace maniple
