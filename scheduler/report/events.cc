#include "scheduler/report/events.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

EventNote OnPod(const Gang& gang, const Member& member) {
  return {.api_version = "v1",
          .kind = "Pod",
          .namespace_name = gang.key.namespace_name,
          .name = member.name,
          .uid = member.uid};
}

EventNote OnGang(const Gang& gang) {
  if (gang.key.dialect == GangDialect::kSingleton && !gang.members.empty()) {
    return OnPod(gang, gang.members.front());
  }
  if (gang.foreign != nullptr && !gang.stand_in.has_value()) {
    const GangSource& source = gang.spec.source;
    if (!gang.foreign->owner.has_value() && !gang.members.empty()) {
      return OnPod(gang, gang.members.front());
    }
    return {.api_version = source.api_version,
            .kind = source.kind,
            .namespace_name = gang.key.namespace_name,
            .name = source.name,
            .uid = source.uid};
  }
  return {.api_version = absl::StrCat(kManipleGroup, "/", kManipleVersion),
          .kind = "PodGroup",
          .namespace_name = gang.key.namespace_name,
          .name = gang.key.name,
          .uid = gang.stand_in.has_value() ? gang.stand_in->uid : gang.group_uid};
}

EventNote OnNode(const NodeReference& node) {
  return {.api_version = "v1", .kind = "Node", .name = node.name, .uid = node.uid};
}

EventNote Told(EventNote note, EventType type, absl::string_view reason, std::string text) {
  note.type = type;
  note.reason = std::string(reason);
  note.action = "Scheduling";
  note.note = std::move(text);
  return note;
}

std::string Count(int64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

}  // namespace

std::string BoundText(int64_t pods, int64_t nodes) {
  return absl::StrCat("bound ", Count(pods, "pod"), " to ", Count(nodes, "node"));
}

std::string UndoneText(const Gang& gang, const Undone& undone) {
  std::string text;
  switch (undone.cause) {
    case UndoCause::kGroupGone:
      text = "its PodGroup was deleted before the quorum was bound";
      break;
    case UndoCause::kTimeout:
      text = absl::StrCat("quorum was not bound within ",
                          absl::FormatDuration(gang.spec.schedule_timeout));
      break;
    case UndoCause::kRefused:
      text = "a pod that the quorum needs can never be bound";
      break;
    case UndoCause::kQuorumLost:
      text = absl::StrCat("quorum was lost and not restored within ",
                          absl::FormatDuration(gang.spec.quorum_loss_grace));
      break;
    case UndoCause::kStageLate:
      text = absl::StrCat("pods that came after its start were not bound within ",
                          absl::FormatDuration(gang.spec.quorum_loss_grace));
      break;
  }
  if (!undone.detail.empty()) absl::StrAppend(&text, " (", undone.detail, ")");
  absl::StrAppend(&text, "; ", Count(undone.deleted, "bound pod"),
                  undone.deleted == 1 ? " was deleted" : " were deleted");
  return text;
}

EventNote GangBoundEvent(const Gang& gang, int64_t pods, int64_t nodes) {
  return Told(OnGang(gang), EventType::kNormal, "Bound", BoundText(pods, nodes));
}

EventNote GangUndoneEvent(const Gang& gang, const Undone& undone) {
  const bool lost = undone.cause == UndoCause::kQuorumLost;
  return Told(OnGang(gang), EventType::kWarning, lost ? "Evicted" : "Undone",
              UndoneText(gang, undone));
}

EventNote QuorumLostEvent(const Gang& gang, absl::string_view lacking) {
  return Told(OnGang(gang), EventType::kWarning, WaitReasonName(WaitReason::kQuorumLost),
              std::string(lacking));
}

EventNote PreemptingEvent(const Gang& gang, absl::string_view victims) {
  return Told(OnGang(gang), EventType::kNormal, "Preempting",
              absl::StrCat("evicts to make room: ", victims));
}

EventNote PreemptedEvent(const Gang& gang, absl::string_view why) {
  return Told(OnGang(gang), EventType::kNormal, WaitReasonName(WaitReason::kPreempted),
              std::string(why));
}

EventNote GangCannotStartEvent(const Gang& gang, const Standing& standing) {
  return Told(OnGang(gang), EventType::kWarning, WaitReasonName(standing.reason), standing.message);
}

EventNote PodScheduledEvent(const Gang& gang, const Member& member, absl::string_view node) {
  return Told(OnPod(gang, member), EventType::kNormal, "Scheduled",
              absl::StrCat("Successfully assigned ", gang.key.namespace_name, "/", member.name,
                           " to ", node));
}

EventNote GroupMissingEvent(const Gang& gang, const Member& member) {
  return Told(OnPod(gang, member), EventType::kWarning, "PodGroupNotFound",
              absl::StrCat(GroupText(gang),
                           " does not exist; the pod waits for it and is not bound alone"));
}

EventNote PriorityUnclearEvent(const Gang& gang, std::string trouble) {
  return Told(OnGang(gang), EventType::kWarning, "PriorityUnclear", std::move(trouble));
}

EventNote MarksPassedOverEvent(const Gang& gang) {
  return Told(OnGang(gang), EventType::kNormal, "MarksPassedOver", gang.passed_over);
}

EventNote PodGroupRefusedEvent(const Gang& gang, absl::string_view why) {
  return Told(
      OnGang(gang), EventType::kWarning, "PodGroupRefused",
      absl::StrCat("it is scheduled, but no PodGroup can be made that stands for it: ", why));
}

EventNote MigProposedEvent(const MigChange& change) {
  return Told(OnNode(change.node), EventType::kNormal, "MigConfigProposed",
              absl::StrCat("dry run: nvidia.com/mig.config would be set from ", change.from, " to ",
                           change.to, "; ", change.why));
}

EventNote MigChangedEvent(const MigChange& change) {
  return Told(OnNode(change.node), EventType::kNormal, "MigConfigChanged",
              absl::StrCat("nvidia.com/mig.config set from ", change.from, " to ", change.to, "; ",
                           change.why));
}

EventNote MigOverdueEvent(const NodeReference& node, absl::string_view config,
                          absl::Duration since) {
  return Told(OnNode(node), EventType::kWarning, "MigConfigOverdue",
              absl::StrCat("nobody has carried out nvidia.com/mig.config ", config, " for ",
                           absl::FormatDuration(absl::Floor(since, absl::Seconds(1))),
                           ": is mig-manager running here? Until nvidia.com/mig.config.state is "
                           "success its GPUs are used by nobody, and no other node is changed"));
}

}  // namespace maniple
