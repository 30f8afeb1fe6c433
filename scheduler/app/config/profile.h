// From the names of the configuration file to the filters and scores in force.
#pragma once

#include "plugins/framework/profile.h"
#include "scheduler/app/config/config.h"

namespace maniple {

// Every built-in policy with its default weight, less what the file disables, with the weights it
// gives. Unknown names have no effect: ParseSchedulerConfig refuses them.
[[nodiscard]] Profile ProfileFor(const SchedulerConfig& config);

}  // namespace maniple
