// From the configuration file to what a SchedulingLoop is told: the same for the program and for
// the scenarios that test it.
//
//   absl::StatusOr<LoopOptions> options = LoopOptionsFor(config);
#pragma once

#include "absl/status/statusor.h"
#include "scheduler/app/config.h"
#include "scheduler/loop/loop_options.h"

namespace maniple {

// Identity and seed are the caller's to set. An error names a plugin that there is not.
[[nodiscard]] absl::StatusOr<LoopOptions> LoopOptionsFor(const SchedulerConfig& config);

}  // namespace maniple
