// The changes of a batch of events, in the words of the parts that react to them. Filled by
// ClusterState, read by the loop.
#pragma once

#include <vector>

#include "absl/container/btree_set.h"
#include "api/model/ids.h"

namespace maniple {

struct Delta {
  // Members, spec, status on the server, priority or queue changed, or appeared.
  absl::btree_set<GangId> gangs_changed;
  absl::btree_set<GangId> gangs_gone;  // no PodGroup and no pod is left; the id is dead
  // More may fit there: a pod ended, a release, allocatable rose.
  absl::btree_set<NodeId> room_grew;
  absl::btree_set<NodeId> nodes_changed;  // appeared, or labels, taints, schedulability changed
  bool nodes_grew = false;  // allocatable of some node has risen, whatever stands there
  // Some node that was there has less allocatable, or other labels: what waits may never fit now,
  // or in other domains.
  bool nodes_lost = false;
  std::vector<NodeId> nodes_gone;
  // Topology, Namespace or PriorityClass; the loop adds Queue, Cohort, ResourceFlavor.
  bool queues_changed = false;
  // A volume may be available now that was not: it is free, or its last user has left.
  bool volumes_changed = false;
  bool budgets_changed = false;  // a PodDisruptionBudget may allow more evictions than before
};

}  // namespace maniple
