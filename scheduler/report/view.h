// The operators' view of the cluster at one moment: the source of explain, gangs, nodes and queues,
// on every surface (gRPC, JSON, command line). Immutable once built; any thread may read it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/model/maniple_types.h"
#include "scheduler/report/gang_view.h"
#include "scheduler/report/node_view.h"
#include "scheduler/report/queue_view.h"

namespace maniple {

struct ClusterView {
  absl::Time at;
  bool leader = false;
  std::vector<std::string> levels;  // node labels of the default Topology, broadest first
  std::vector<GangView> gangs;      // by namespace, name
  std::vector<NodeRow> nodes;       // by name
  std::vector<QueueView> queues;    // by name
  std::vector<ResourceSeconds> used_without_queue;  // or in a deleted one; since this process leads
  // By name, with Cohorts that a Queue or Cohort names and nobody has created.
  std::vector<CohortView> cohorts;
};
// Puts the gangs, and the entries of each node, into the order that the fields promise.
// A step of its own, so that another thread than the gathering one can take it.
void Arrange(ClusterView& view);

using ClusterViewPtr = std::shared_ptr<const ClusterView>;

}  // namespace maniple
