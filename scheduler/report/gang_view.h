// A gang as operators see it, and why it waits. Plain values, part of a ClusterView (view.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/model/maniple_types.h"
#include "api/model/model.h"

namespace maniple {

struct GangMemberView {
  // `state` is one of pending, gated, bound, running, terminating, succeeded, failed, binding.
  std::string pod, node, state;
  std::string uid;
};

// One line of "why": nodes by reason with counts that add up to all nodes.
struct NodeReasonView {
  std::string text;  // "insufficient nvidia.com/gpu (want 8, have 2)": have of the best such node
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
  std::string api_version;
  std::string owner_kind, owner_name;  // of that object's owner, "" = none that is known
  std::string owner_group;             // its API group: "kubeflow.org"
};

struct GangView {
  std::string namespace_name, name, queue, phase, reason, message;
  std::string unnamed;  // "b/head": the gang that the message calls one of another namespace
  GangSourceView source;
  bool singleton = false;
  int32_t priority = 0;
  int32_t min_member = 0;  // its quorum: that of its sub-groups together, if these are more
  int32_t quorum_met = 0;  // as large as it was when it stood last; 0: not known
  MemberCounts members;
  absl::Time created = absl::InfinitePast();
  std::vector<GangMemberView> pods;
  std::vector<std::string> nodes;  // where it is bound; sorted
  // One of members, queue, quota, nodes, topology, volumes, preemption, hold, backoff; "" when
  // bound.
  std::string stage;
  std::vector<NodeReasonView> node_reasons;
  std::optional<QuotaLineView> quota;             // when the quota of its queue stands in the way
  std::optional<PlannedStartView> planned_start;  // when room is held for it
  std::optional<ExpectedEndView> expected_end;    // when its quorum is bound
  // When what is left of it is given up, unless its quorum comes back; infinite: never.
  absl::Time given_up_at = absl::InfiniteFuture();
  std::vector<GangAskView> asks;  // of members that have not ended
  // Why evicting others does not help it, as of its last decision; "" when that was not asked.
  std::string preemption;
  // Among all waiting gangs by priority and waiting time, from 1; 0 when not waiting. Which Queue
  // is served next is another matter.
  int64_t position = 0;
  int64_t queue_position = 0;  // the same among gangs of its own queue: in order of service
};

}  // namespace maniple
