// One sentence an operator understands, made from the facts that rejected the gang.
//
// Pure functions. The texts are read by people and by tests.
#pragma once

#include <string>
#include <vector>

#include "plugins/framework/snapshot.h"
#include "queue/gang.h"
#include "scheduler/cycle/question/decision.h"
#include "scheduler/report/gang_view.h"
#include "scheduler/report/reason.h"

namespace maniple {

[[nodiscard]] WaitReason ReasonOf(RejectionCode code);

// "0 of 5 pods fit: 4 nodes: insufficient nvidia.com/gpu (want 8, have 0)".
[[nodiscard]] std::string RejectionText(const Rejection& rejection, const Tables& tables);

// What of its priority a user may not expect; "" = nothing.
[[nodiscard]] std::string PriorityTrouble(const Gang& gang);

// Nodes by reason; the counts add up to all nodes.
[[nodiscard]] std::vector<NodeReasonView> NodeReasonLines(const Rejection& rejection,
                                                          const Tables& tables);

// For the condition of a waiting pod: no number in it changes while the gang waits.
[[nodiscard]] std::string PodWaitText(const Gang& gang, WaitReason reason);

// "a100: no quota; h100, spot: no room".
[[nodiscard]] std::string RefusedText(const std::vector<RefusedFlavors>& refused);

// "default/a".
[[nodiscard]] std::string GangText(const GangKey& key);
// … as whoever may see that namespace alone is told it.
inline constexpr char kGangOfAnotherNamespace[] = "a gang of another namespace";
[[nodiscard]] std::string GangTextWithin(const GangKey& key, absl::string_view namespace_name);
// The object that must declare the gang, there or not: "PodGroup default/train".
[[nodiscard]] std::string GroupText(const Gang& gang);

}  // namespace maniple
