// What every write has in common: how much may be said about one object, and what becomes known
// when the server refuses.
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/log.h"
#include "scheduler/loop/leadership.h"

namespace maniple {
namespace {

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

void Leadership::SendEvent(const EventNote& note, absl::Time now) {
  if (options_.per_pod_events == PerPodEvents::kNever && note.reason == "Scheduled") return;
  const std::string object =
      absl::StrCat(note.namespace_name, "/", note.uid.empty() ? note.name : note.uid);
  if (!event_budget_.Spend(object, now)) {
    ++counters_.events_over_budget;
    return;
  }
  ++counters_.events_written;
  writes_.push_back(
      errands_.Send({.kind = ErrandKind::kEvent},
                    EventRequest(note, options_.identity, now, ++warm_.event_serial)));
}

// Counts and tells what was refused; whoever waits for the reply then finds the right by name.
void Leadership::NoteRefusal(const Errand& errand, WriteResult& result, absl::Time now) {
  if (result.outcome == WriteOutcome::kDropped) ++counters_.events_crowded_out;
  if (IsForbidden(result)) {
    ++counters_.forbidden[errand.right];
    result.status.message = ForbiddenText(errand.right, result.status.message);
    if (complaint_budget_.Spend(errand.right, now)) LOG(WARNING) << result.status.message;
  } else if (IsWorthALine(errand, result) && complaint_budget_.Spend(errand.right, now)) {
    LOG(WARNING) << "could not " << RightText(errand.right) << ": HTTP " << result.http_status
                 << " " << result.status.message;
  }
}

}  // namespace maniple
