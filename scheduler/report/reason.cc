#include "scheduler/report/reason.h"

namespace maniple {

absl::string_view WaitReasonName(WaitReason reason) {
  switch (reason) {
    case WaitReason::kWaitingForMembers:
      return "WaitingForMembers";
    case WaitReason::kSchedulingGated:
      return "SchedulingGated";
    case WaitReason::kQueueNotFound:
      return "QueueNotFound";
    case WaitReason::kQueueInactive:
      return "QueueInactive";
    case WaitReason::kQueueStopped:
      return "QueueStopped";
    case WaitReason::kNamespaceNotAllowed:
      return "NamespaceNotAllowed";
    case WaitReason::kQuotaExceeded:
      return "QuotaExceeded";
    case WaitReason::kExceedsMaxQuota:
      return "ExceedsMaxQuota";
    case WaitReason::kNoFit:
      return "NoFit";
    case WaitReason::kTopologyNoFit:
      return "TopologyNoFit";
    case WaitReason::kNeverFits:
      return "NeverFits";
    case WaitReason::kVolumesNotReady:
      return "VolumesNotReady";
    case WaitReason::kWaitingForPreemption:
      return "WaitingForPreemption";
    case WaitReason::kHeldByReservation:
      return "HeldByReservation";
    case WaitReason::kBackingOff:
      return "BackingOff";
    case WaitReason::kSearchLimitReached:
      return "SearchLimitReached";
    case WaitReason::kBinding:
      return "Binding";
    case WaitReason::kBound:
      return "Bound";
    case WaitReason::kQuorumLost:
      return "QuorumLost";
    case WaitReason::kPreempted:
      return "Preempted";
    case WaitReason::kInvalidSpec:
      return "InvalidSpec";
  }
  return "";
}

absl::string_view StageName(WaitReason reason) {
  switch (reason) {
    case WaitReason::kWaitingForMembers:
    case WaitReason::kSchedulingGated:
    case WaitReason::kQuorumLost:
    case WaitReason::kInvalidSpec:
      return "members";
    case WaitReason::kQueueNotFound:
    case WaitReason::kQueueInactive:
    case WaitReason::kQueueStopped:
    case WaitReason::kNamespaceNotAllowed:
      return "queue";
    case WaitReason::kQuotaExceeded:
    case WaitReason::kExceedsMaxQuota:
      return "quota";
    case WaitReason::kNoFit:
    case WaitReason::kNeverFits:
    case WaitReason::kSearchLimitReached:
      return "nodes";
    case WaitReason::kTopologyNoFit:
      return "topology";
    case WaitReason::kVolumesNotReady:
      return "volumes";
    case WaitReason::kWaitingForPreemption:
    case WaitReason::kPreempted:
      return "preemption";
    case WaitReason::kHeldByReservation:
      return "hold";
    case WaitReason::kBackingOff:
      return "backoff";
    case WaitReason::kBinding:
    case WaitReason::kBound:
      return "";
  }
  return "";
}

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
  switch (reason) {
    case WaitReason::kNoFit:
    case WaitReason::kTopologyNoFit:
    case WaitReason::kNeverFits:
      return "Unschedulable";
    case WaitReason::kWaitingForMembers:
    case WaitReason::kSchedulingGated:
    case WaitReason::kQueueNotFound:
    case WaitReason::kQueueInactive:
    case WaitReason::kQueueStopped:
    case WaitReason::kNamespaceNotAllowed:
    case WaitReason::kQuotaExceeded:
    case WaitReason::kExceedsMaxQuota:
    case WaitReason::kVolumesNotReady:
    case WaitReason::kWaitingForPreemption:
    case WaitReason::kHeldByReservation:
    case WaitReason::kBackingOff:
    case WaitReason::kSearchLimitReached:
    case WaitReason::kBinding:
    case WaitReason::kBound:
    case WaitReason::kQuorumLost:
    case WaitReason::kPreempted:
    case WaitReason::kInvalidSpec:
      return WaitReasonName(reason);
  }
  return "";
}

}  // namespace maniple
