// From what waits, and the nodes as they are, to the question for PlanMig.
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
// if no pod has any of its GPUs, however they are counted, no room of them is held, and the fleet
// has nothing against it. A node that is being changed gives what it will have.
[[nodiscard]] MigPlanInput MigPlanInputFor(const MigQuestion& question,
                                           const std::vector<WaitingPods>& waiting);

// Whether so many pods would find their GPUs or slices on the empty cluster if every node whose
// GPUs can be divided were divided for them. What is proven of the nodes as they are divided now is
// then no proof that the pods never fit.
[[nodiscard]] bool FitOnceDivided(const MigQuestion& question, const WaitingPods& pods);

}  // namespace maniple
