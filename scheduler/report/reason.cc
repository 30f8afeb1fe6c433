#include "scheduler/report/reason.h"

#include <cstddef>
#include <iterator>

namespace maniple {
namespace {

struct ReasonRow {
  WaitReason reason;
  absl::string_view name, stage, sentence;
};
constexpr ReasonRow kReasons[] = {
    {WaitReason::kWaitingForMembers, "WaitingForMembers", "members",
     "it waits for more of its pods to be created"},
    {WaitReason::kSchedulingGated, "SchedulingGated", "members",
     "some of its pods have scheduling gates"},
    {WaitReason::kQueueNotFound, "QueueNotFound", "queue", "its queue does not exist"},
    {WaitReason::kQueueInactive, "QueueInactive", "queue", "its queue is inactive"},
    {WaitReason::kQueueStopped, "QueueStopped", "queue", "its queue is stopped"},
    {WaitReason::kNamespaceNotAllowed, "NamespaceNotAllowed", "queue",
     "its queue does not admit this namespace"},
    {WaitReason::kQuotaExceeded, "QuotaExceeded", "quota", "the quota of its queue is in use"},
    {WaitReason::kExceedsMaxQuota, "ExceedsMaxQuota", "quota",
     "it asks for more than its queue can ever give"},
    {WaitReason::kNoFit, "NoFit", "nodes", "there is not enough room for all of it now"},
    {WaitReason::kTopologyNoFit, "TopologyNoFit", "topology",
     "no single domain has room for all of it now"},
    {WaitReason::kNeverFits, "NeverFits", "nodes", "it would not fit even on the empty cluster"},
    {WaitReason::kVolumesNotReady, "VolumesNotReady", "volumes",
     "a volume of one of its pods is not ready"},
    {WaitReason::kWaitingForPreemption, "WaitingForPreemption", "preemption",
     "pods that make room for it are leaving"},
    {WaitReason::kHeldByReservation, "HeldByReservation", "hold",
     "another gang comes first: room is held for it, or it is before this one in the queue"},
    {WaitReason::kBackingOff, "BackingOff", "backoff", "it is tried again later"},
    {WaitReason::kSearchLimitReached, "SearchLimitReached", "nodes",
     "the search for a placement was given up"},
    {WaitReason::kBinding, "Binding", "", "it is being bound"},
    {WaitReason::kBound, "Bound", "", "it is bound"},
    {WaitReason::kQuorumLost, "QuorumLost", "members", "it lost its quorum"},
    {WaitReason::kPreempted, "Preempted", "preemption", "it was preempted"},
    {WaitReason::kInvalidSpec, "InvalidSpec", "members", "its specification is invalid"},
};

constexpr bool IsInOrder() {
  for (size_t i = 0; i < std::size(kReasons); ++i) {
    if (static_cast<size_t>(kReasons[i].reason) != i) return false;
  }
  return std::size(kReasons) == static_cast<size_t>(WaitReason::kInvalidSpec) + 1;
}
static_assert(IsInOrder(), "a row for each WaitReason, in its order");

constexpr const ReasonRow& RowOf(WaitReason reason) {
  return kReasons[static_cast<size_t>(reason)];
}

}  // namespace

absl::string_view WaitReasonName(WaitReason reason) { return RowOf(reason).name; }
absl::string_view StageName(WaitReason reason) { return RowOf(reason).stage; }
absl::string_view WaitSentence(WaitReason reason) { return RowOf(reason).sentence; }

absl::string_view GangPhaseName(GangPhase phase) {
  switch (phase) {
    case GangPhase::kWaiting:
      return "Waiting";
    case GangPhase::kPending:
      return "Pending";
    case GangPhase::kBinding:
      return "Binding";
    case GangPhase::kRunning:
      return "Running";
    case GangPhase::kCompleted:
      return "Completed";
    case GangPhase::kFailed:
      return "Failed";
  }
  return "";
}

absl::string_view PodReasonName(WaitReason reason) {
  const bool lacks_nodes = reason == WaitReason::kNoFit || reason == WaitReason::kTopologyNoFit ||
                           reason == WaitReason::kNeverFits;
  return lacks_nodes ? "Unschedulable" : WaitReasonName(reason);
}

}  // namespace maniple
