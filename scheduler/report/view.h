// The operators' view of the cluster at one moment: the source of explain, gangs, nodes and queues,
// on every surface (gRPC, JSON, command line). Immutable once built; any thread may read it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/model/maniple_types.h"
#include "api/model/model.h"
#include "scheduler/report/queue_history.h"

namespace maniple {

struct GangMemberView {
  std::string pod, node,
      state;  // state: pending, gated, bound, running, terminating, succeeded, failed, binding
};

// One line of "why": nodes by reason with counts that add up to all nodes.
struct NodeReasonView {
  std::string text;  // "insufficient nvidia.com/gpu (want 8, best node has 2)"
  int64_t nodes = 0;
  friend bool operator==(const NodeReasonView&, const NodeReasonView&) = default;
};

struct BorrowerView {
  std::string queue;
  Amount amount;
  friend bool operator==(const BorrowerView&, const BorrowerView&) = default;
};

// The quota that a gang lacks in its queue, as of the decision that rejected it.
struct QuotaLineView {
  std::string queue, cohort;  // cohort "" = the queue stands alone
  std::string flavor, resource;
  Amount needs;
  Amount available;   // borrowing included
  Amount borrowable;  // the part of it that the cohort lends
  Amount most;        // available if no quota were in use
  Amount nominal, used;
  std::vector<BorrowerView> borrowers;  // other queues of the tree, the largest first
  friend bool operator==(const QuotaLineView&, const QuotaLineView&) = default;
};

struct PlannedStartView {
  absl::Time at;
  absl::Time first_at;     // as it was planned when the room was first held
  bool estimated = false;  // some of the ends that it rests on are not told
  friend bool operator==(const PlannedStartView&, const PlannedStartView&) = default;
};

struct ExpectedEndView {
  absl::Time at;
  bool estimated = false;  // the end is not told: the run is taken to be half through
};

// So many members ask for so much of a GPU resource each.
struct GangAskView {
  int64_t members = 0;
  std::string resource;
  int64_t amount = 0;
};

// The foreign group or owner that declares a gang.
struct GangSourceView {
  std::string kind, name, part;  // kind "" = a PodGroup of a user declares it, or its only pod
  std::string owner_kind, owner_name;  // of that object's owner, "" = none that is known
};

struct GangView {
  std::string namespace_name, name, queue, phase, reason, message;
  GangSourceView source;
  bool singleton = false;
  int32_t priority = 0, min_member = 0;
  MemberCounts members;
  absl::Time created = absl::InfinitePast();
  std::vector<GangMemberView> pods;
  std::vector<std::string> nodes;  // where it is bound; sorted
  std::string
      stage;  // members, queue, quota, nodes, topology, preemption, hold, backoff; "" when bound
  std::vector<NodeReasonView> node_reasons;
  std::optional<QuotaLineView> quota;             // when the quota of its queue stands in the way
  std::optional<PlannedStartView> planned_start;  // when room is held for it
  std::optional<ExpectedEndView> expected_end;    // when its quorum is bound
  std::vector<GangAskView> asks;                  // of members that have not ended
  // Why evicting others does not help it, as of its last decision; "" when that was not asked.
  std::string preemption;
  int64_t position = 0;  // among waiting gangs in order of service, from 1; 0 when not waiting
  int64_t queue_position = 0;  // the same among gangs of its own queue
};

struct NodeResourceView {
  std::string resource;
  Amount allocatable, free;
  bool gpu = false;  // a whole GPU or a slice of one
};

// The use of one GPU resource of a node by one gang.
struct NodeUseView {
  std::string gang;  // "namespace/name"
  std::string resource;
  int64_t amount = 0;
  int64_t leaving = 0;  // the part of it whose pods are being deleted
  friend bool operator==(const NodeUseView&, const NodeUseView&) = default;
};

struct NodeRow {
  std::string name;
  std::vector<std::string> path;  // through the levels of the default Topology; "" = no label
  std::string nvlink;             // the label value of its NVLink domain; "" = no label
  bool schedulable = true;
  std::vector<Taint> taints;
  std::vector<NodeResourceView> resources;
  int64_t pods = 0;
  std::vector<std::string> gangs;  // "namespace/name" with members here; sorted
  std::vector<NodeUseView> uses;   // by gang and resource
  // Room kept for gangs, while others leave it or until a planned start; by gang and resource.
  // Room that others still have there counts in both.
  std::vector<NodeUseView> held;
};

struct QuotaUsageView {
  std::string flavor, resource;  // flavor "" = nodes that no other entry names
  Amount nominal, used, borrowed, lent;
  Amount held;  // of `used`, for gangs of a Queue that start later; told in ClusterFigures only
  std::optional<Amount> borrowing_limit, lending_limit;  // of a Queue; absent = none
  friend bool operator==(const QuotaUsageView&, const QuotaUsageView&) = default;
};

struct QueueView {
  std::string name, cohort, stop_policy;
  std::string problem;  // why nothing starts from it; "" = active, or only stopped
  int64_t pending = 0, running = 0, pending_pods = 0, running_pods = 0;  // gangs, gangs, pods, pods
  // Gangs that run and name it, from namespaces that it does not admit: no Queue
  // is charged for them.
  int64_t uncharged = 0;
  int64_t fair_share = 0;  // permille
  // Creation of the oldest gang that waits; the infinite future = none does.
  absl::Time oldest_pending = absl::InfiniteFuture();
  std::vector<std::pair<absl::string_view, int64_t>> pending_by_reason;  // gangs, by reason's name
  QueueHistory history;
  std::vector<QuotaUsageView> usage;
  ResourceAmounts asked;              // by pods without a node; sorted by resource
  std::vector<ResourceSeconds> used;  // up to now
};

// What a GPU, or slice of one, is: the first of these that holds.
enum class GpuState : uint8_t {
  kUsed,         // a pod has it
  kUnreachable,  // its node does not answer, or is not ready
  kCordoned,     // its node takes no new pods
  kHeld,         // kept for a gang that starts later, or has lost a member
  kFree,
};
inline constexpr std::array<const char*, 5> kGpuStates = {"used", "unreachable", "cordoned", "held",
                                                          "free"};
// All of one resource on nodes of one flavor.
struct GpuTotalView {
  std::string flavor, resource;  // flavor "" = nodes that no ResourceFlavor names
  std::array<int64_t, kGpuStates.size()> amounts = {};  // by GpuState
  friend bool operator==(const GpuTotalView&, const GpuTotalView&) = default;
};

// What one domain of a level could still give to a gang, in whole GPUs of nodes that take new pods.
struct LevelRoomView {
  std::string level;              // "rack"; "cluster" = all nodes, "node" = each alone
  int64_t largest_gang_gpus = 0;  // free in the best domain
  // Size in nodes (1, 2, 4 … up to the largest domain) → how many slices of so many idle nodes
  // there are, each in one domain.
  std::vector<std::pair<int64_t, int64_t>> free_slices;
  friend bool operator==(const LevelRoomView&, const LevelRoomView&) = default;
};

struct CohortView {
  std::string name, parent;         // parent "" = a root
  std::string problem;              // why no Queue in it is active; "" = none
  int64_t fair_share = 0;           // permille, of its parent's
  std::vector<std::string> queues;  // that name it; sorted
  std::vector<QuotaUsageView> usage;
};

struct ClusterView {
  absl::Time at;
  bool leader = false;
  std::vector<std::string> levels;  // node labels of the default Topology, broadest first
  std::vector<GangView> gangs;      // by namespace, name
  std::vector<NodeRow> nodes;       // by name
  std::vector<QueueView> queues;    // by name
  std::vector<ResourceSeconds> used_without_queue;  // since this process leads
  // By name, with Cohorts that a Queue or Cohort names and nobody has created.
  std::vector<CohortView> cohorts;
};
// Puts the gangs, and the entries of each node, into the order that the fields promise.
// A step of its own, so that another thread than the gathering one can take it.
void Arrange(ClusterView& view);

// "key=value:NoSchedule"
[[nodiscard]] std::string TaintText(const Taint& taint);

// The figures of a cluster for metrics: sums, and no gang by its name.
struct ClusterFigures {
  // By name; `uncharged` is not told. The nameless one, of gangs without a Queue, comes last.
  std::vector<QueueView> queues;
  std::vector<CohortView> cohorts;  // as in a ClusterView; which Queues name them is not told
  std::vector<GpuTotalView> gpus;
  std::vector<LevelRoomView> levels;  // with GPUs; from the widest to the narrowest
};

using ClusterViewPtr = std::shared_ptr<const ClusterView>;
using ClusterFiguresPtr = std::shared_ptr<const ClusterFigures>;

}  // namespace maniple
