// Kubernetes events: few, and about the gang rather than its pods, because a write costs more than
// a decision.
//
// Pure functions. An event about a gang stands on its PodGroup, or on the pod of a gang of one.
// While no PodGroup stands for a foreign gang it stands on the object that declares it, else on the
// first member. MIG events stand on the node.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "api/client/requests.h"
#include "queue/gang.h"
#include "scheduler/bind/bind_action.h"
#include "scheduler/report/status.h"

namespace maniple {

[[nodiscard]] EventNote GangBoundEvent(const Gang& gang, int64_t pods, int64_t nodes);
[[nodiscard]] EventNote GangUndoneEvent(const Gang& gang, const Undone& undone);
[[nodiscard]] EventNote QuorumLostEvent(const Gang& gang, absl::string_view lacking);
// `victims`: the gangs that leave so that it can start.
[[nodiscard]] EventNote PreemptingEvent(const Gang& gang, absl::string_view victims);
[[nodiscard]] EventNote PreemptedEvent(const Gang& gang, absl::string_view why);
// The gang waits for something that only its owner can put right.
[[nodiscard]] EventNote GangCannotStartEvent(const Gang& gang, const Standing& standing);
[[nodiscard]] EventNote PodScheduledEvent(const Gang& gang, const Member& member,
                                          absl::string_view node);
[[nodiscard]] EventNote GroupMissingEvent(const Gang& gang, const Member& member);
// Another priority counts than a user may expect.
[[nodiscard]] EventNote PriorityUnclearEvent(const Gang& gang, std::string trouble);
// Its pods carry marks of several gangs, and the first mark decided.
[[nodiscard]] EventNote MarksPassedOverEvent(const Gang& gang);
// No PodGroup of ours can be made that stands for it.
[[nodiscard]] EventNote PodGroupRefusedEvent(const Gang& gang, absl::string_view why);

struct NodeReference {
  std::string name, uid;
};
// Another MIG configuration for an idle node, and the reason for it.
struct MigChange {
  NodeReference node;
  std::string from, to, why;
};
[[nodiscard]] EventNote MigProposedEvent(const MigChange& change);  // in a dry run
[[nodiscard]] EventNote MigChangedEvent(const MigChange& change);
[[nodiscard]] EventNote MigOverdueEvent(const NodeReference& node, absl::string_view config,
                                        absl::Duration since);

// "bound 4 pods to 2 nodes"
[[nodiscard]] std::string BoundText(int64_t pods, int64_t nodes);
// "quorum was not bound within 1m (…); 3 bound pods were deleted"
[[nodiscard]] std::string UndoneText(const Gang& gang, const Undone& undone);

}  // namespace maniple
