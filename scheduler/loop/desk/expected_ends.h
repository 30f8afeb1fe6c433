// When gangs that run are expected to end, and what they give back then. Functions of the desk.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "api/model/ids.h"
#include "scheduler/cycle/start_plan.h"
#include "scheduler/loop/desk/desk.h"

namespace maniple {

// Since when a gang's quorum is bound, and when it is expected to end.
struct RunSpan {
  absl::Time started, end;
  EndIs told;
};
[[nodiscard]] RunSpan SpanOf(const Gang& gang, const GangRecord& record, absl::Time now);

// The time at which each pod is expected to leave its room. A gang that began after `by` counts
// only if its end was told, if it is a guest, or as far as it is leaving.
[[nodiscard]] std::vector<Release> Releases(Desk& desk, absl::Time now, absl::Time by);
// What is given back on the node by then, by ends that are known.
[[nodiscard]] std::vector<FreedRoom> GivenBackOn(const Desk& desk, NodeId node, absl::Time by,
                                                 absl::Time now);

}  // namespace maniple
