// What operators see of the cluster at one moment: the source of explain, gangs, nodes and queues,
// whatever the surface (gRPC, JSON, command line). Immutable once built; any thread may read it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "api/model/maniple_types.h"
#include "api/model/model.h"

namespace maniple {

struct GangMemberView {
  std::string pod, node,
      state;  // state: pending, gated, bound, running, terminating, succeeded, failed, binding
};

// One line of "why": nodes by reason with counts that add up to all nodes.
struct NodeReasonView {
  std::string text;  // "insufficient nvidia.com/gpu (want 8, best node has 2)"
  int64_t nodes = 0;
};

struct GangView {
  std::string namespace_name, name, queue, phase, reason, message;
  bool singleton = false;
  int32_t priority = 0, min_member = 0;
  MemberCounts members;
  absl::Time created = absl::InfinitePast();
  std::vector<GangMemberView> pods;
  std::vector<std::string> nodes;  // where it is bound; sorted
  std::string
      stage;  // members, queue, quota, nodes, topology, preemption, hold, backoff; "" when bound
  std::vector<NodeReasonView> node_reasons;
  int64_t position = 0;  // among waiting gangs in order of service, from 1; 0 when not waiting
};

struct NodeResourceView {
  std::string resource;
  Amount allocatable, free;
};
struct NodeRow {
  std::string name;
  bool schedulable = true;
  std::vector<Taint> taints;
  std::vector<NodeResourceView> resources;
  int64_t pods = 0;
  std::vector<std::string> gangs;  // "namespace/name" with members here; sorted
};

struct QueueView {
  std::string name, cohort, stop_policy;
  int64_t pending = 0, running = 0, pending_pods = 0, running_pods = 0;  // gangs, gangs, pods, pods
  std::vector<ResourceAmount> used;
  std::vector<FlavorQuota> quotas;
};

struct ClusterView {
  absl::Time at;
  bool leader = false;
  std::vector<GangView> gangs;    // by namespace, name
  std::vector<NodeRow> nodes;     // by name
  std::vector<QueueView> queues;  // by name
};
using ClusterViewPtr = std::shared_ptr<const ClusterView>;

}  // namespace maniple
