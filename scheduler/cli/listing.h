// Further ways to print what the scheduler lists: starts that are planned, who borrows from whom,
// bare names. Pure functions of the JSON of the admin surface.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/json.h"

namespace maniple {

// Of a list of gangs those that wait, by priority and waiting time.
[[nodiscard]] Json ThoseWhoWait(const Json& gangs);
// Of gangs that wait: when each is planned to start, as far as room is held.
[[nodiscard]] std::string StartTable(const Json& gangs, absl::Time now);
// As GangTable, with priority, position and what declares each gang.
[[nodiscard]] std::string WideGangTable(const Json& gangs, absl::Time now);
// As NodeTable, with memory, taints and the domains of the default Topology, broadest first.
[[nodiscard]] std::string WideNodeTable(const Json& nodes);
// For each Queue: what it uses of its own, its limits, what it borrows and who of its Cohort lends
// that.
[[nodiscard]] std::string QueueReasons(const Json& queues);
// Cohorts as a tree, parents first, with the Queues of each.
[[nodiscard]] std::string CohortTable(const Json& cohorts);
// What was decided, in order of time.
[[nodiscard]] std::string DecisionTable(const Json& decisions);
// One "RESOURCE/NAME" a line, as kubectl has it, without namespaces. A pod that is a gang by itself
// is a "pod".
[[nodiscard]] std::string Names(const Json& list, absl::string_view resource);

}  // namespace maniple
