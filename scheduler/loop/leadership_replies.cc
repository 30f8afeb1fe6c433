// Replies to writes: each goes to its sender, and a refusal of the server is told once.

#include "api/base/log.h"
#include "scheduler/loop/leadership.h"
#include "scheduler/report/events.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// For the status of a Queue or Cohort.
template <typename Status>
void HearPaced(PacedStatuses<Status>& statuses, const std::string& name, const WriteResult& result,
               absl::Time now) {
  if (result.outcome == WriteOutcome::kSuperseded) return statuses.Superseded(name);
  if (result.http_status / 100 != 2) return statuses.Lost(name, now);
  statuses.Made(name, MadeVersion(result));
}

bool IsForbidden(const WriteResult& result) {
  // Nothing can be made in a namespace that is being deleted; no right would help.
  return result.outcome == WriteOutcome::kAnswered && result.http_status == 403 &&
         result.status.cause != "NamespaceTerminating";
}

// The status of a PodGroup carries what must survive this process.
bool IsWorthALine(const Errand& errand, const WriteResult& result) {
  return errand.kind == ErrandKind::kGroupStatus && result.http_status >= 400 &&
         result.http_status != 404 && result.http_status != 409;
}

}  // namespace

void Leadership::Hear(const Errand& errand, const WriteResult& result, absl::Time now) {
  switch (errand.kind) {
    case ErrandKind::kGroupStatus:
      reporter_.OnStatusReply(errand.gang, result, now);
      return;
    case ErrandKind::kQueueStatus:
      HearPaced(desk_.directory.statuses(), errand.name, result, now);
      return;
    case ErrandKind::kCohortStatus:
      HearPaced(desk_.directory.cohorts().statuses(), errand.name, result, now);
      return;
    case ErrandKind::kEvict:
      evictions_.HearEviction(errand, result, now);
      return;
    case ErrandKind::kNodeConfig:
      mig_.HearNodeConfig(errand.name, result, now);
      return;
    case ErrandKind::kVolume:
      flights_.HearVolume(errand, result, now);
      return;
    case ErrandKind::kStandIn:
      stand_ins_.HearStandIn(errand.gang, result, now);
      return;
    case ErrandKind::kForeignPhase:
      stand_ins_.HearPhase(errand, result, now);
      return;
    case ErrandKind::kNodeRequest:
      node_asks_.HearNodeRequest(errand, result, now);
      return;
    case ErrandKind::kPodWaits:
    case ErrandKind::kEvent:
      return;
    case ErrandKind::kBind:
    case ErrandKind::kRead:
    case ErrandKind::kDelete:
      flights_.HearOfPod(errand, result, now);
      return;
  }
}

// Counts and logs a refusal; the owner that hears the reply then finds the right by name.
void Leadership::NoteRefusal(const Errand& errand, WriteResult& result, absl::Time now) {
  if (result.outcome == WriteOutcome::kDropped) ++desk_.counters.events_crowded_out;
  if (IsForbidden(result)) {
    ++desk_.counters.forbidden[errand.right];
    result.status.message = ForbiddenText(errand.right, result.status.message);
    if (complaint_budget_.Spend(errand.right, now)) LOG(WARNING) << result.status.message;
  } else if (IsWorthALine(errand, result) && complaint_budget_.Spend(errand.right, now)) {
    LOG(WARNING) << "could not " << RightText(errand.right) << ": HTTP " << result.http_status
                 << " " << result.status.message;
  }
}

}  // namespace maniple
