#include "scheduler/report/message.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace maniple {
namespace {

// More kinds of reasons than this make no sentence.
constexpr size_t kMostReasons = 4;

std::string NodesText(int64_t nodes) {
  return absl::StrCat(nodes, nodes == 1 ? " node" : " nodes");
}

}  // namespace

WaitReason ReasonOf(RejectionCode code) {
  switch (code) {
    case RejectionCode::kQuotaExceeded:
      return WaitReason::kQuotaExceeded;
    case RejectionCode::kExceedsMaxQuota:
      return WaitReason::kExceedsMaxQuota;
    case RejectionCode::kNoFit:
      return WaitReason::kNoFit;
    case RejectionCode::kTopologyNoFit:
      return WaitReason::kTopologyNoFit;
    case RejectionCode::kNeverFits:
      return WaitReason::kNeverFits;
    case RejectionCode::kSearchLimitReached:
      return WaitReason::kSearchLimitReached;
    case RejectionCode::kVolumesNotReady:
      return WaitReason::kVolumesNotReady;
    case RejectionCode::kUnsupported:
    case RejectionCode::kInvalidSpec:
      return WaitReason::kInvalidSpec;
  }
  return WaitReason::kNoFit;
}

std::vector<NodeReasonView> NodeReasonLines(const Rejection& rejection, const Tables& tables) {
  std::vector<NodeReasonView> lines;
  lines.reserve(rejection.reasons.size());
  for (const NodeReasonCount& count : rejection.reasons) {
    lines.push_back({.text = ReasonText(count.reason, tables), .nodes = count.nodes});
  }
  return lines;
}

std::string RejectionText(const Rejection& rejection, const Tables& tables) {
  switch (rejection.code) {
    case RejectionCode::kVolumesNotReady:
    case RejectionCode::kUnsupported:
    case RejectionCode::kInvalidSpec:
      return rejection.detail;
    case RejectionCode::kQuotaExceeded:
    case RejectionCode::kExceedsMaxQuota:
      return "the queue's quota does not cover it";
    case RejectionCode::kNoFit:
    case RejectionCode::kTopologyNoFit:
    case RejectionCode::kNeverFits:
    case RejectionCode::kSearchLimitReached:
      break;
  }
  const bool gave_up = rejection.code == RejectionCode::kSearchLimitReached;
  std::string text =
      gave_up
          ? absl::StrCat("no room for all of its ", rejection.wanted,
                         " pods together, as far as was searched")
          : absl::StrCat(
                rejection.placeable, " of ", rejection.wanted,
                rejection.of_some ? " pods of one shape fit" : " pods fit",
                rejection.code == RejectionCode::kTopologyNoFit ? " in one domain" : "",
                rejection.code == RejectionCode::kNeverFits ? " even on the empty cluster" : "");
  if (rejection.nodes == 0) return absl::StrCat(text, ": there are no nodes");
  std::vector<std::string> parts;
  for (const NodeReasonCount& count : rejection.reasons) {
    if (parts.size() == kMostReasons) {
      parts.push_back("…");
      break;
    }
    parts.push_back(absl::StrCat(NodesText(count.nodes), ": ", ReasonText(count.reason, tables)));
  }
  if (!parts.empty()) absl::StrAppend(&text, ": ", absl::StrJoin(parts, "; "));
  if (!rejection.detail.empty()) absl::StrAppend(&text, " (", rejection.detail, ")");
  return text;
}

std::string PriorityTrouble(const Gang& gang) {
  const std::string& priority_class = gang.spec.priority_class_name;
  if (gang.class_missing) {
    return absl::StrCat("PriorityClass \"", priority_class,
                        "\" does not exist: the highest priority among its pods counts");
  }
  std::optional<int32_t> least, most;
  for (const Member& member : gang.members) {
    const bool may_start =
        member.state == MemberState::kPending || member.state == MemberState::kBound;
    if (!priority_class.empty() || !may_start) continue;
    least = std::min(least.value_or(member.priority), member.priority);
    most = std::max(most.value_or(member.priority), member.priority);
  }
  if (least == most) return "";
  return absl::StrCat("its pods differ in priority, from ", *least, " to ", *most,
                      ": the highest counts");
}

std::string GroupText(const Gang& gang) {
  return gang.awaited.empty() ? absl::StrCat("PodGroup ", GangText(gang.key)) : gang.awaited;
}

std::string PodWaitText(const Gang& gang, WaitReason reason) {
  if (!gang.group_exists) {
    return absl::StrCat(GroupText(gang), " does not exist");
  }
  const bool names_none = reason == WaitReason::kQueueNotFound && gang.queue.empty();
  std::string why(names_none ? "it names no queue, and nothing starts without one"
                             : WaitSentence(reason));
  if (absl::string_view rest = why; absl::ConsumePrefix(&rest, "its queue ")) {
    why = absl::StrCat("queue \"", gang.queue, "\" ", rest);
  }
  if (gang.key.dialect == GangDialect::kSingleton) return absl::StrCat("the pod waits: ", why);
  return absl::StrCat("gang ", GangText(gang.key), " waits: ", why);
}

std::string RefusedText(const std::vector<RefusedFlavors>& refused) {
  return absl::StrJoin(refused, "; ", [](std::string* out, const RefusedFlavors& one) {
    const bool quota = one.lacks == RefusedFlavors::Lacks::kQuota;
    absl::StrAppend(out, absl::StrJoin(one.flavors, ", "), quota ? ": no quota" : ": no room");
  });
}

std::string GangText(const GangKey& key) { return absl::StrCat(key.namespace_name, "/", key.name); }

std::string GangTextWithin(const GangKey& key, absl::string_view namespace_name) {
  return key.namespace_name == namespace_name ? GangText(key) : kGangOfAnotherNamespace;
}

}  // namespace maniple
