// Turns the pods that wait, and the nodes as they are, into the question for PlanMig.
//
// Pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "plugins/framework/profile.h"
#include "plugins/framework/snapshot.h"
#include "scheduler/mig/mig_fleet.h"
#include "scheduler/mig/mig_plan.h"

namespace maniple {

struct WaitingPods {
  ShapeId shape;
  int64_t pods = 0;
};

struct MigQuestion {
  const Snapshot& snapshot;
  const Profile& profile;
  const MigFleet& fleet;
  const MigOptions& options;
  absl::Time now;
};

// Only pods that want one resource of GPUs, slices or whole ones, are asked for. A node may change
// if no pod has or holds any of its GPUs, however they are counted, and the fleet has nothing
// against it. A node that is being changed gives what it will have.
[[nodiscard]] MigPlanInput MigPlanInputFor(const MigQuestion& question,
                                           const std::vector<WaitingPods>& waiting);

// Would so many pods find their GPUs or slices on the empty cluster,
// if every divisible node were divided for them? If so, a proof on the nodes as they
// are now does not show that the pods never fit.
[[nodiscard]] bool FitOnceDivided(const MigQuestion& question, const WaitingPods& pods);

}  // namespace maniple
