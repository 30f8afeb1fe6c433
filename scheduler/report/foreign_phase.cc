#include "scheduler/report/foreign_phase.h"

#include <string>
#include <utility>
#include <vector>

namespace maniple {
namespace {

using Dialect = ForeignStatusTarget::Dialect;

absl::string_view Xk8sPhase(const ForeignPhaseFacts& facts) {
  switch (facts.standing.phase) {
    case GangPhase::kWaiting:
      return "Pending";
    case GangPhase::kPending:
    case GangPhase::kBinding:
      return facts.assembly.members_ready ? "Scheduling" : "Pending";
    case GangPhase::kRunning:
      return "Running";
    case GangPhase::kCompleted:
      return "Finished";
    case GangPhase::kFailed:
      return "Failed";
  }
  return "";
}

absl::string_view VolcanoPhase(const ForeignPhaseFacts& facts) {
  // What is left of a gang that has started runs on.
  const bool is_left =
      facts.standing.reason == WaitReason::kQuorumLost && facts.assembly.counts.bound > 0;
  switch (facts.standing.phase) {
    case GangPhase::kWaiting:
    case GangPhase::kPending:
      if (is_left) return "Running";
      return facts.queue_admits && facts.standing.reason != WaitReason::kInvalidSpec ? "Inqueue"
                                                                                     : "Pending";
    case GangPhase::kBinding:
      return is_left ? "Running" : "Inqueue";
    case GangPhase::kRunning:
      return "Running";
    case GangPhase::kCompleted:
      return "Completed";
    case GangPhase::kFailed:
      return "";
  }
  return "";
}

std::vector<Condition> VolcanoConditions(absl::string_view phase, const Standing& standing,
                                         absl::Time now) {
  Condition condition{.type = "Unschedulable",
                      .status = "True",
                      .reason = "NotEnoughResources",
                      .message = standing.message,
                      .last_transition = WholeSeconds(now)};
  if (phase == "Running" || phase == "Completed") {
    condition.type = "Scheduled";
    condition.reason = "tasks in gang are ready to be scheduled";
  } else if (standing.phase == GangPhase::kWaiting) {
    condition.reason = "NotEnoughTasks";
  }
  return {std::move(condition)};
}

}  // namespace

absl::string_view PhaseInDialect(Dialect dialect, const ForeignPhaseFacts& facts) {
  switch (dialect) {
    case Dialect::kXk8s:
      return Xk8sPhase(facts);
    case Dialect::kVolcano:
      return VolcanoPhase(facts);
  }
  return "";
}

ForeignPhase PhaseToWrite(Dialect dialect, absl::string_view uid, absl::string_view phase,
                          const Standing& standing, absl::Time now) {
  ForeignPhase written{.uid = std::string(uid), .phase = std::string(phase)};
  if (dialect == Dialect::kVolcano) written.conditions = VolcanoConditions(phase, standing, now);
  return written;
}

}  // namespace maniple
