// The requests of the bind protocol, and the input of one call of it.
//
// Plain values, made and carried out on the scheduling thread.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "api/base/random.h"
#include "api/model/ids.h"

namespace maniple {

struct SendBind {
  PodId pod;
  NodeId node;
  bool again = false;  // an earlier bind failed, and not because of the pod
};
struct ReadPod {
  PodId pod;
};
// Sent with the uid as precondition.
struct DeletePod {
  PodId pod;
};
struct ReleaseReservation {
  PodId pod;
};
// The node's kubelet rejected a member: the node takes no new pod of ours for a while.
struct CoolNode {
  NodeId node;
};
struct MemberRefused {
  PodId pod;
  std::string detail;
};
struct QuorumBound {};
struct QuorumLost {};
enum class UndoCause : uint8_t {
  kGroupGone,   // the PodGroup was deleted before the quorum was bound
  kTimeout,     // quorum not bound in time
  kRefused,     // quorum cannot be reached without a member that may never be bound
  kQuorumLost,  // lost after it was reached, and not replaced within the grace period
  kStageLate,   // members of a later stage were not bound within it; nobody was lost
};
// Every member is released; `deleted` of them had been bound.
struct Undone {
  UndoCause cause = UndoCause::kTimeout;
  std::string detail;
  int32_t deleted = 0;
};
using BindAction = std::variant<SendBind, ReadPod, DeletePod, ReleaseReservation, CoolNode,
                                MemberRefused, QuorumBound, QuorumLost, Undone>;

// The input of one call, and the place for its actions. The functions behind the references must
// outlive it: name them, do not pass temporaries.
struct BindStep {
  absl::Time now;
  Random& random;
  // Does the member's reservation still stand there, and is the place still good? A reservation
  // ends with its node, whose id may be another node's by then.
  absl::FunctionRef<bool(PodId, NodeId)> still_reserved;
  // Would a member that somebody else put on that node break a topology that its gang
  // or its sub-group requires?
  absl::FunctionRef<bool(PodId, NodeId)> misplaced_on;
  std::vector<BindAction>& actions;  // in the order in which they are to be carried out
};

}  // namespace maniple
