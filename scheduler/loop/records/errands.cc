#include "scheduler/loop/records/errands.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/codec/json.h"

namespace maniple {
namespace {

struct Manner {
  WritePriority priority;
  WriteRetry retry;
};

Manner MannerOf(const Errand& errand) {
  switch (errand.kind) {
    case ErrandKind::kBind:
      return {errand.begun ? WritePriority::kFinish : WritePriority::kBind, WriteRetry::kNone};
    case ErrandKind::kRead:
      return {WritePriority::kFinish, WriteRetry::kNone};
    case ErrandKind::kVolume:
      return {WritePriority::kBind, WriteRetry::kNone};
    case ErrandKind::kDelete:
    case ErrandKind::kEvict:
      return {WritePriority::kUndo, WriteRetry::kNone};
    case ErrandKind::kPodWaits:
      return {WritePriority::kReason, WriteRetry::kInside};
    case ErrandKind::kGroupStatus:
    case ErrandKind::kQueueStatus:
    case ErrandKind::kCohortStatus:
    case ErrandKind::kForeignPhase:
      return {errand.news ? WritePriority::kReason : WritePriority::kStatus, WriteRetry::kInside};
    case ErrandKind::kStandIn:
    case ErrandKind::kNodeRequest:
      return {WritePriority::kReason, errand.begun ? WriteRetry::kInside : WriteRetry::kNone};
    case ErrandKind::kNodeConfig:
      // Another writer may have bound a pod there since: the division is decided anew.
      return {WritePriority::kStatus, WriteRetry::kNone};
    case ErrandKind::kEvent:
      return {WritePriority::kEvent, WriteRetry::kInside};
  }
  return {WritePriority::kEvent, WriteRetry::kNone};
}

std::string CoalesceKey(const Errand& errand) {
  switch (errand.kind) {
    case ErrandKind::kGroupStatus:
      return absl::StrCat("group/", errand.gang.index());
    case ErrandKind::kPodWaits:
      return absl::StrCat("pod/", errand.pod.index());
    case ErrandKind::kQueueStatus:
      return absl::StrCat("queue/", errand.name);
    case ErrandKind::kCohortStatus:
      return absl::StrCat("cohort/", errand.name);
    case ErrandKind::kNodeConfig:
      return absl::StrCat("node/", errand.name);
    case ErrandKind::kBind:
    case ErrandKind::kRead:
    case ErrandKind::kDelete:
    case ErrandKind::kEvict:
    case ErrandKind::kVolume:
    case ErrandKind::kStandIn:
    case ErrandKind::kForeignPhase:
    case ErrandKind::kNodeRequest:
    case ErrandKind::kEvent:
      return "";
  }
  return "";
}

}  // namespace

WriteCommand Errands::Send(Errand errand, HttpRequest request) {
  const Manner manner = MannerOf(errand);
  errand.right = RightFor(request);
  WriteCommand command{.id = next_++,
                       .priority = manner.priority,
                       .retry = manner.retry,
                       .request = std::move(request),
                       .coalesce_key = CoalesceKey(errand),
                       .lane = errand.lane};
  Count(errand, 1);
  open_.emplace(command.id, std::move(errand));
  return command;
}

std::optional<Errand> Errands::Take(uint64_t id) {
  const auto it = open_.find(id);
  if (it == open_.end()) return std::nullopt;
  Errand errand = std::move(it->second);
  open_.erase(it);
  Count(errand, -1);
  return errand;
}

void Errands::Forget() {
  open_.clear();
  binds_ = awaited_ = 0;
}

void Errands::Count(const Errand& errand, int64_t by) {
  switch (errand.kind) {
    case ErrandKind::kBind:
      binds_ += by;
      [[fallthrough]];
    case ErrandKind::kRead:
    case ErrandKind::kDelete:
    case ErrandKind::kEvict:
    case ErrandKind::kVolume:
    case ErrandKind::kGroupStatus:
    case ErrandKind::kNodeConfig:
    case ErrandKind::kStandIn:
    case ErrandKind::kNodeRequest:
      awaited_ += by;
      break;
    case ErrandKind::kPodWaits:
    case ErrandKind::kQueueStatus:
    case ErrandKind::kCohortStatus:
    case ErrandKind::kForeignPhase:
    case ErrandKind::kEvent:
      break;
  }
}

std::string MadeVersion(const WriteResult& result) {
  const absl::StatusOr<Json> made = Json::Parse(result.body);
  return made.ok() ? made->At("metadata.resourceVersion").AsString() : "";
}

}  // namespace maniple
