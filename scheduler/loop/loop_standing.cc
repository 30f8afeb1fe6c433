// How a gang stands, as its status, its events and `explain` tell it.
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/loop/leadership.h"
#include "scheduler/report/events.h"
#include "scheduler/report/message.h"

namespace maniple {

// None while nothing is known that would be true: the gang is ready, and not decided yet.
std::optional<Standing> Leadership::StandingOf(const Case& c) const {
  std::optional<Standing> standing = StandingAsSuch(c);
  if (!standing.has_value() || !unadmitted_.contains(c.gang.id)) return standing;
  if (const std::string why = directory_.WhyNotCharged(c.gang); !why.empty()) {
    absl::StrAppend(&standing->message, "; ", why);
  }
  return standing;
}

std::optional<Standing> Leadership::StandingAsSuch(const Case& c) const {
  const Assembly& assembly = c.assembly;
  const MemberCounts& counts = assembly.counts;
  if (!c.gang.problem.empty()) {
    return Standing{GangPhase::kPending, WaitReason::kInvalidSpec, c.gang.problem};
  }
  if (!c.gang.group_exists) {
    return Standing{GangPhase::kWaiting, WaitReason::kWaitingForMembers,
                    PodWaitText(c.gang, WaitReason::kWaitingForMembers)};
  }
  if (c.record.departure.has_value() && c.record.departure->whole) {
    const Departure& departure = *c.record.departure;
    return Standing{
        GangPhase::kRunning, WaitReason::kPreempted,
        absl::StrCat(departure.why, departure.forbidden.empty() ? "" : "; ", departure.forbidden)};
  }
  if (c.record.binding.has_value()) return StandingInFlight(c);
  if (c.record.volumes.has_value()) {
    const VolumeBinding& volumes = *c.record.volumes;
    return Standing{GangPhase::kPending, WaitReason::kVolumesNotReady,
                    absl::StrCat(volumes.bound(), " of ", volumes.goals().size(),
                                 " claims of its pods are bound")};
  }
  if (assembly.completed) {
    return Standing{GangPhase::kCompleted, WaitReason::kBound,
                    absl::StrCat(counts.succeeded, " pods succeeded")};
  }
  if (assembly.need.Met()) {
    Standing standing{GangPhase::kRunning, WaitReason::kBound,
                      BoundText(counts.bound + counts.succeeded,
                                static_cast<int64_t>(NodesOf(c, state_).size()))};
    if (c.record.surplus_waiting != nullptr) {
      absl::StrAppend(&standing.message, "; the rest waits: ", c.record.surplus_waiting->message);
    }
    return standing;
  }
  if (!assembly.members_ready) {
    const bool newcomers = std::ranges::any_of(c.gang.members, [&](const Member& member) {
      return (member.state == MemberState::kPending || member.state == MemberState::kGated) &&
             c.record.evicted.has_value() && !c.record.evicted->members.contains(member.pod);
    });
    const GangPhase phase = assembly.failed ? GangPhase::kFailed : GangPhase::kWaiting;
    if (c.record.evicted.has_value() && !newcomers) {
      if (!c.record.evicted->why.empty()) {
        return Standing{phase, WaitReason::kPreempted,
                        absl::StrCat(c.record.evicted->why, ": ", assembly.lacking)};
      }
      return Standing{phase, WaitReason::kQuorumLost,
                      absl::StrCat("quorum was lost: ", assembly.lacking)};
    }
    const std::string failed = counts.failed > 0
                                   ? absl::StrCat(assembly.lacking, "; ", counts.failed, " failed")
                                   : assembly.lacking;
    return Standing{phase,
                    assembly.gated ? WaitReason::kSchedulingGated : WaitReason::kWaitingForMembers,
                    failed};
  }
  if (c.record.waiting == nullptr) return BehindAnother(c);
  Standing standing{GangPhase::kPending, c.record.waiting->reason, c.record.waiting->message};
  if (const std::string trouble = EvictionTrouble(c); !trouble.empty()) {
    absl::StrAppend(&standing.message, "; ", trouble);
  }
  if (c.record.node_request.has_value()) {
    absl::StrAppend(&standing.message, "; ", c.record.node_request->Text());
  }
  if (c.record.reservation.has_value()) {
    absl::StrAppend(&standing.message, "; room is held for it to start at ",
                    StartText(*c.record.reservation), DelayText(*c.record.reservation));
  }
  return standing;
}

// In a StrictFIFO queue nothing passes the first that waits.
std::optional<Standing> Leadership::BehindAnother(const Case& c) const {
  const std::optional<QueueItem> first = queue_->BlockerOf({c.gang.id, ItemKind::kQuorum});
  const Gang* blocker = first.has_value() ? state_.FindGang(first->gang) : nullptr;
  if (blocker == nullptr) return std::nullopt;
  return Standing{GangPhase::kPending, WaitReason::kHeldByReservation,
                  absl::StrCat("it comes after ", GangText(blocker->key),
                               ", which waits at the head of queue \"", c.gang.queue,
                               "\", and that is StrictFIFO")};
}

std::string Leadership::EvictionTrouble(const Case& c) const {
  if (!c.record.claim.has_value()) return "";
  for (const GangId victim : c.record.claim->victims) {
    const auto it = records_.find(victim);
    if (it == records_.end() || !it->second->departure.has_value()) continue;
    const Departure& departure = *it->second->departure;
    if (departure.for_gang == c.gang.id && !departure.forbidden.empty()) return departure.forbidden;
  }
  return "";
}

// REQUIRES: the gang is in flight.
Standing Leadership::StandingInFlight(const Case& c) const {
  const GangBinding& binding = *c.record.binding;
  const Assembly known = KnownAssembly(c);
  const int32_t quorum = std::max(1, c.gang.spec.min_member);
  const int32_t placed = known.counts.bound + known.counts.succeeded;
  const auto by = [&binding] { return ClockText(binding.deadline()); };
  std::string trouble;
  if (!binding.trouble().empty()) trouble = absl::StrCat(" (", binding.trouble(), ")");
  // Why the members that it lacks have no room, if it lacks some.
  const WaitingForPtr waiting =
      c.record.waiting != nullptr && ItemOf(c) == ItemKind::kRepair ? c.record.waiting : nullptr;
  const std::string no_room =
      waiting == nullptr ? "" : absl::StrCat("; the next waits: ", waiting->message);
  switch (binding.phase()) {
    case BindPhase::kBinding:
      return {GangPhase::kBinding, waiting != nullptr ? waiting->reason : WaitReason::kBinding,
              absl::StrCat(placed, " of ", quorum, " pods bound", trouble, no_room)};
    case BindPhase::kUndoing:
      return {GangPhase::kBinding, WaitReason::kBinding,
              absl::StrCat("the binding is being undone", trouble)};
    case BindPhase::kRepairing: {
      const absl::string_view fate = c.gang.spec.quorum_loss_action == QuorumLossAction::kEvict
                                         ? "the rest is evicted at "
                                         : "their room is held until ";
      return {known.members_ready ? GangPhase::kBinding : GangPhase::kWaiting,
              WaitReason::kQuorumLost,
              absl::StrCat(placed, " of ", quorum, " pods are left", trouble, no_room,
                           "; without replacements ", fate, by())};
    }
    case BindPhase::kKept:
      return {known.members_ready ? GangPhase::kBinding : GangPhase::kWaiting,
              WaitReason::kQuorumLost,
              absl::StrCat(placed, " of ", quorum, " pods are left", trouble,
                           "; they are kept running")};
    case BindPhase::kBound:
    case BindPhase::kLeaving:
    case BindPhase::kEnded:
      break;
  }
  return {GangPhase::kRunning, WaitReason::kBound,
          BoundText(placed, static_cast<int64_t>(NodesOf(c, state_).size()))};
}

}  // namespace maniple
