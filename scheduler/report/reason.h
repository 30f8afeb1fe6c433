// Every reason, condition type and phase that Maniple writes, in one table. Texts are API.
#pragma once

#include "absl/strings/string_view.h"
#include "queue/assembly.h"

namespace maniple {

enum class WaitReason : uint8_t {
  kWaitingForMembers,
  kSchedulingGated,
  kQueueNotFound,
  kQueueInactive,
  kQueueStopped,
  kNamespaceNotAllowed,
  kQuotaExceeded,
  kExceedsMaxQuota,
  kNoFit,
  kTopologyNoFit,
  kNeverFits,
  kVolumesNotReady,
  kWaitingForPreemption,
  kHeldByReservation,
  kBackingOff,
  kSearchLimitReached,
  kBinding,
  kBound,
  kQuorumLost,
  kPreempted,
  kInvalidSpec,
};
[[nodiscard]] absl::string_view WaitReasonName(WaitReason reason);  // "WaitingForMembers"
// The stage at which a gang waits: "members", "queue", "quota", "nodes", "topology", "volumes",
// "preemption", "hold", "backoff"; "" when it waits for nothing.
[[nodiscard]] absl::string_view StageName(WaitReason reason);
// What a waiting pod is told, without numbers, which would change: "the quota of its queue is in
// use".
[[nodiscard]] absl::string_view WaitSentence(WaitReason reason);
[[nodiscard]] absl::string_view GangPhaseName(GangPhase phase);  // "Waiting"

// The reason in a waiting pod's condition PodScheduled=False: "Unschedulable" for NoFit,
// TopologyNoFit and NeverFits (autoscalers buy nodes for it), else the PodGroup's own reason.
[[nodiscard]] absl::string_view PodReasonName(WaitReason reason);
// The reason in place of "Unschedulable" when an autoscaler is asked for the nodes
// of the whole gang: it must not look at each pod.
inline constexpr absl::string_view kPodAwaitsNodes = "WaitingForNodes";

inline constexpr char kConditionMembersReady[] = "MembersReady";
inline constexpr char kConditionQuotaReserved[] = "QuotaReserved";
inline constexpr char kConditionScheduled[] = "Scheduled";
inline constexpr char kConditionDisrupted[] = "Disrupted";

}  // namespace maniple
