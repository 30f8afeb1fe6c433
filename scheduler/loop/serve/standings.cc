#include "scheduler/loop/serve/standings.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/loop/desk/standing_of.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

Standing PendingFor(const WaitingFor& waits) {
  return {GangPhase::kPending, waits.reason, waits.message, waits.unnamed};
}

// REQUIRES: fewer members are there than its quorum needs.
Standing StandingOfLacking(const Case& c) {
  const Assembly& assembly = c.assembly;
  const bool newcomers = std::ranges::any_of(c.gang.members, [&](const Member& member) {
    return (member.state == MemberState::kPending || member.state == MemberState::kGated) &&
           c.record.evicted.has_value() && !c.record.evicted->members.contains(member.pod);
  });
  const bool failed = assembly.failed || StaysFailed(c.gang);
  const GangPhase phase = failed ? GangPhase::kFailed : GangPhase::kWaiting;
  if (c.record.evicted.has_value() && !newcomers) {
    return {phase, c.record.evicted->reason,
            absl::StrCat(c.record.evicted->why, ": ", assembly.lacking)};
  }
  std::string lacking = assembly.lacking;
  if (assembly.counts.failed > 0) {
    absl::StrAppend(&lacking, "; ", assembly.counts.failed, " failed");
  }
  return {phase, assembly.gated ? WaitReason::kSchedulingGated : WaitReason::kWaitingForMembers,
          std::move(lacking)};
}

}  // namespace

std::optional<Standing> Standings::StandingOf(const Case& c) const {
  std::optional<Standing> standing = StandingAsSuch(c);
  // What runs is what it was; only, nobody else of it starts.
  const absl::string_view problem = ProblemToTell(c.gang);
  if (standing.has_value() && !problem.empty() && standing->reason != WaitReason::kInvalidSpec) {
    absl::StrAppend(&standing->message, "; no other pod of it starts: ", problem);
  }
  if (!standing.has_value() || !RunsUncharged(c)) return standing;
  if (const std::string why = desk_.directory.WhyNotCharged(c.gang); !why.empty()) {
    absl::StrAppend(&standing->message, "; ", why);
  }
  return standing;
}

bool Standings::RunsUncharged(const Case& c) const {
  if (charges_.unadmitted().contains(c.gang.id)) return true;
  const std::optional<std::string>& admitted = c.gang.admitted_queue;
  return admitted.has_value() && !admitted->empty() && !desk_.directory.Has(*admitted);
}

std::optional<Standing> Standings::StandingAsSuch(const Case& c) const {
  const Assembly& assembly = c.assembly;
  const MemberCounts& counts = assembly.counts;
  const bool runs = counts.bound > 0 || c.record.binding.has_value();
  const bool troubled = !ProblemToTell(c.gang).empty();
  if (troubled && !runs) {
    return Standing{GangPhase::kPending, WaitReason::kInvalidSpec, c.gang.problem};
  }
  if (!c.gang.group_exists) {
    return Standing{GangPhase::kWaiting, WaitReason::kWaitingForMembers,
                    PodWaitText(c.gang, WaitReason::kWaitingForMembers)};
  }
  if (c.record.LeavesWhole()) {
    const Departure& departure = *c.record.departure;
    return Standing{
        GangPhase::kRunning, WaitReason::kPreempted,
        absl::StrCat(departure.why, departure.forbidden.empty() ? "" : "; ", departure.forbidden)};
  }
  if (c.record.binding.has_value()) return StandingInFlight(c, desk_);
  if (c.record.volumes.has_value() && !c.record.volumes_are_surplus) return StandingOfVolumes(c);
  if (assembly.completed) {
    return Standing{
        GangPhase::kCompleted, WaitReason::kBound,
        absl::StrCat(counts.succeeded, counts.succeeded == 1 ? " pod" : " pods", " succeeded")};
  }
  if (assembly.need.Met() || troubled) {
    Standing standing{GangPhase::kRunning, WaitReason::kBound,
                      BoundText(counts.bound + counts.succeeded,
                                static_cast<int64_t>(NodesOf(c, desk_.state).size()))};
    if (troubled) return standing;
    if (const std::optional<Standing> surplus = StandingOfSurplus(c)) {
      absl::StrAppend(&standing.message, "; the rest waits: ", surplus->message);
      standing.unnamed = surplus->unnamed;
    }
    return standing;
  }
  if (!assembly.members_ready) return StandingOfLacking(c);
  if (c.record.waiting == nullptr) return BehindAnother(c, ItemKind::kQuorum);
  Standing standing = PendingFor(*c.record.waiting);
  for (const std::string& trouble : {QuotaTrouble(c, standing.reason), EvictionTrouble(c),
                                     c.gang.class_missing ? PriorityTrouble(c.gang) : ""}) {
    if (!trouble.empty()) absl::StrAppend(&standing.message, "; ", trouble);
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

Standing Standings::StandingOfVolumes(const Case& c) {
  const GangVolumes& volumes = *c.record.volumes;
  return {GangPhase::kPending, WaitReason::kVolumesNotReady,
          absl::StrCat(volumes.bound(), " of ", volumes.goals().size(),
                       " claims of its pods are bound")};
}

std::optional<Standing> Standings::StandingOfSurplus(const Case& c) const {
  if (!c.gang.problem.empty()) {
    return Standing{GangPhase::kPending, WaitReason::kInvalidSpec, c.gang.problem};
  }
  if (c.record.volumes.has_value() && c.record.volumes_are_surplus) return StandingOfVolumes(c);
  // What it was short of before the head came is no longer what keeps it.
  if (std::optional<Standing> behind = BehindAnother(c, ItemKind::kSurplus)) return behind;
  const WaitingForPtr& waits = c.record.surplus_waiting;
  if (waits == nullptr) return std::nullopt;
  return PendingFor(*waits);
}

// In a StrictFIFO Queue no gang, and no surplus, passes the first that waits.
std::optional<Standing> Standings::BehindAnother(const Case& c, ItemKind kind) const {
  const std::optional<QueueItem> first = desk_.queue.BlockerOf({c.gang.id, kind});
  const Gang* blocker = first.has_value() ? desk_.state.FindGang(first->gang) : nullptr;
  if (blocker == nullptr) return std::nullopt;
  const std::string& reader = c.gang.key.namespace_name;
  return Standing{GangPhase::kPending, WaitReason::kHeldByReservation,
                  absl::StrCat("it comes after ", GangTextWithin(blocker->key, reader),
                               ", which waits at the head of queue \"", c.gang.queue,
                               "\", and that is StrictFIFO"),
                  blocker->key.namespace_name == reader ? "" : GangText(blocker->key)};
}

// Nobody sees from the numbers that a typo in a Cohort has taken its quota away.
std::string Standings::QuotaTrouble(const Case& c, WaitReason reason) const {
  const bool lacks = reason == WaitReason::kQuotaExceeded || reason == WaitReason::kExceedsMaxQuota;
  return lacks ? desk_.ledger.book().ProblemAbove(c.gang.queue) : "";
}

std::string Standings::EvictionTrouble(const Case& c) const {
  if (!c.record.claim.has_value()) return "";
  for (const GangId victim : c.record.claim->victims) {
    const auto it = desk_.records.find(victim);
    if (it == desk_.records.end() || !it->second->departure.has_value()) continue;
    const Departure& departure = *it->second->departure;
    if (departure.for_gang == c.gang.id && !departure.forbidden.empty()) return departure.forbidden;
  }
  return "";
}

}  // namespace maniple
