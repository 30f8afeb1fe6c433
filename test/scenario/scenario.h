// Behaviour as data: a cluster in shorthand, steps, and what must then be true; see CONTRIBUTING.md
// for the language.
//
// The real scheduler and the embedded server run in simulated time on one thread, without faults.
// Beside what a scenario expects, its decision log is compared with a golden file, so that a change
// of behaviour shows in review.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "scheduler/app/config/config.h"

namespace maniple::scenario {

struct Scenario {
  std::string name;
  std::string file;
  std::string cluster;
  std::vector<Json> steps;
  SchedulerConfig config;
};

struct ScenarioResult {
  std::vector<std::string> failures;  // "step 3: A should be bound, is Pending (NoFit): …"
  std::vector<std::string> log;       // decisions, with the time since the start
  int64_t turns = 0;                  // after each of which every named invariant was asked
};

// Every document of the file is one scenario. Errors name file, line and path.
[[nodiscard]] absl::StatusOr<std::vector<Scenario>> LoadScenarios(const std::string& file);
[[nodiscard]] ScenarioResult RunScenario(const Scenario& scenario);

}  // namespace maniple::scenario
