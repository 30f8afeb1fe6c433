#include "scheduler/loop/desk/standing_of.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/time_text.h"
#include "scheduler/state/gang_members.h"

namespace maniple {

Assembly KnownAssembly(const Case& c) {
  Assembly known = c.assembly;
  if (!c.record.binding.has_value()) return known;
  for (const Member& member : c.gang.members) {
    if (member.state != MemberState::kPending) continue;
    const std::optional<BindState> state = c.record.binding->StateOf(member.pod);
    if (!state.has_value() || !CountsAsBound(*state)) continue;
    --known.counts.pending;
    ++known.counts.bound;
  }
  return known;
}

std::string NodeOf(const Case& c, const Member& member, const ClusterState& state) {
  if (member.state == MemberState::kBound || member.state == MemberState::kSucceeded) {
    const PodFacts* pod = state.FindPod(member.pod);
    return pod == nullptr ? "" : pod->node_name;
  }
  if (!c.record.binding.has_value()) return "";
  const std::optional<BindState> bind = c.record.binding->StateOf(member.pod);
  if (!bind.has_value() || !CountsAsBound(*bind)) return "";
  const std::optional<NodeId> node = c.record.binding->PlacedOn(member.pod);
  return node.has_value() ? std::string(state.NodeName(*node)) : "";
}

std::vector<std::string> NodesOf(const Case& c, const ClusterState& state) {
  std::set<std::string> nodes;
  for (const Member& member : c.gang.members) {
    if (std::string node = NodeOf(c, member, state); !node.empty()) nodes.insert(std::move(node));
  }
  return {nodes.begin(), nodes.end()};
}

absl::string_view ProblemToTell(const Gang& gang) {
  const PodGroupStatus& status = gang.status;
  // An earlier leader has seen it declared, or it would have written that nobody declares it.
  const bool told =
      !status.phase.empty() && status.reason != WaitReasonName(WaitReason::kInvalidSpec);
  const bool was_declared =
      gang.source_is == SourceIs::kGone || (gang.source_is == SourceIs::kUnknown && told);
  const bool rests = was_declared && std::ranges::none_of(gang.members, IsLive);
  return rests ? absl::string_view() : absl::string_view(gang.problem);
}

bool StaysFailed(const Gang& gang) {
  return gang.source_is != SourceIs::kFine && gang.members.empty() &&
         gang.status.phase == GangPhaseName(GangPhase::kFailed);
}

namespace {

// None of those whom the quorum lacks was ever bound. `bound`: "1 of 3 pods bound".
Standing StandingOfNewcomers(const Case& c, const Assembly& known, const std::string& bound,
                             const WaitingFor* waiting) {
  const GangBinding& binding = *c.record.binding;
  if (!known.members_ready && !binding.Coming()) {
    return {GangPhase::kBinding, WaitReason::kWaitingForMembers,
            absl::StrCat(known.lacking, "; ", bound)};
  }
  if (waiting == nullptr) return {GangPhase::kBinding, WaitReason::kBinding, bound};
  return {GangPhase::kBinding, waiting->reason,
          absl::StrCat(bound, "; the next waits: ", waiting->message)};
}

// The gang runs, and members of its next stage have come.
Standing StandingOfNextStage(const Case& c, const Assembly& known, const std::string& bound,
                             const WaitingFor* waiting) {
  Standing standing = StandingOfNewcomers(c, known, bound, waiting);
  if (!known.members_ready) standing.phase = GangPhase::kWaiting;
  const GangBinding& binding = *c.record.binding;
  const bool evicts = c.gang.spec.quorum_loss_action == QuorumLossAction::kEvict;
  if (binding.phase() == BindPhase::kRepairing && evicts) {
    absl::StrAppend(&standing.message, "; unless the others are bound, these are evicted at ",
                    ClockText(binding.deadline()));
  }
  return standing;
}

}  // namespace

// REQUIRES: the gang is in flight.
Standing StandingInFlight(const Case& c, const Desk& desk) {
  const GangBinding& binding = *c.record.binding;
  const Assembly known = KnownAssembly(c);
  const int32_t quorum = QuorumOf(c.gang.spec);
  const int32_t placed = known.counts.bound + known.counts.succeeded;
  const auto by = [&binding] { return ClockText(binding.deadline()); };
  std::string trouble;
  if (!binding.trouble().empty()) trouble = absl::StrCat(" (", binding.trouble(), ")");
  // Why there is no room for the members that the gang lacks, if it lacks some.
  const WaitingForPtr waiting = c.record.waiting != nullptr && desk.ItemOf(c) == ItemKind::kRepair
                                    ? c.record.waiting
                                    : nullptr;
  const std::string no_room =
      waiting == nullptr ? "" : absl::StrCat("; the next waits: ", waiting->message);
  const std::string bound = absl::StrCat(placed, " of ", quorum, " pods bound", trouble);
  switch (binding.phase()) {
    case BindPhase::kBinding:
      return StandingOfNewcomers(c, known, bound, waiting.get());
    case BindPhase::kUndoing:
      return {GangPhase::kBinding, WaitReason::kBinding,
              absl::StrCat("the binding is being undone", trouble)};
    case BindPhase::kRepairing: {
      if (binding.StageIsLate()) return StandingOfNextStage(c, known, bound, waiting.get());
      const absl::string_view fate = c.gang.spec.quorum_loss_action == QuorumLossAction::kEvict
                                         ? "the rest is evicted at "
                                         : "their room is held until ";
      return {known.members_ready ? GangPhase::kBinding : GangPhase::kWaiting,
              WaitReason::kQuorumLost,
              absl::StrCat(placed, " of ", quorum, " pods are left", trouble, no_room,
                           "; without replacements ", fate, by())};
    }
    case BindPhase::kKept:
      if (binding.StageIsLate()) return StandingOfNextStage(c, known, bound, waiting.get());
      return {known.members_ready ? GangPhase::kBinding : GangPhase::kWaiting,
              WaitReason::kQuorumLost,
              absl::StrCat(placed, " of ", quorum, " pods are left", trouble,
                           "; they are kept running")};
    case BindPhase::kGrowing:
      return {GangPhase::kRunning, WaitReason::kBound,
              absl::StrCat(placed, " of ", quorum, " pods bound; the quorum was ",
                           c.record.quorum_met, " when it started", trouble, no_room)};
    case BindPhase::kEnded:
      if (placed >= quorum) break;
      return {
          GangPhase::kWaiting, WaitReason::kQuorumLost,
          absl::StrCat(placed, " of ", quorum, " pods are left; it waits for its quorum afresh")};
    case BindPhase::kBound:
    case BindPhase::kLeaving:
      break;
  }
  return {GangPhase::kRunning, WaitReason::kBound,
          BoundText(placed, static_cast<int64_t>(NodesOf(c, desk.state).size()))};
}

}  // namespace maniple
