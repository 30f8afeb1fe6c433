#include "api/codec/encode.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/codec/json.h"
#include "api/codec/kubernetes_time.h"
#include "api/codec/quantity.h"
#include "api/codec/utf8.h"
#include "api/model/storage.h"

namespace maniple {
namespace {

constexpr size_t kMostNote = 1024;
constexpr size_t kMostWord = 128;
constexpr size_t kMostName = 253;

bool IsSet(absl::Time time) {
  return time != absl::InfinitePast() && time != absl::InfiniteFuture();
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json TimeOrNull(const std::optional<absl::Time>& time) {
  return time.has_value() && IsSet(*time) ? Json(FormatKubernetesMicroTime(*time)) : Json();
}

Json Conditions(const std::vector<Condition>& conditions) {
  Json out = Json::Array();
  for (const Condition& condition : conditions) {
    Json item = Json::Object({{"type", condition.type},
                              {"status", condition.status},
                              {"reason", condition.reason},
                              {"message", condition.message}});
    if (IsSet(condition.last_transition)) {
      item.Set("lastTransitionTime", FormatKubernetesTime(condition.last_transition));
    }
    if (condition.observed_generation > 0) {
      item.Set("observedGeneration", condition.observed_generation);
    }
    out.Append(std::move(item));
  }
  return out;
}

// A list, or null for an empty one: a merge patch replaces the list as a whole.
Json ListOrNull(Json list) { return list.size() > 0 ? std::move(list) : Json(); }

Json UsageRows(const std::vector<QueueUsage>& rows) {
  Json out = Json::Array();
  for (const QueueUsage& row : rows) {
    out.Append(Json::Object({{"flavor", row.flavor},
                             {"name", row.resource},
                             {"used", FormatAmount(row.resource, row.used)},
                             {"borrowed", FormatAmount(row.resource, row.borrowed)},
                             {"lent", FormatAmount(row.resource, row.lent)}}));
  }
  return out;
}

Json UsageRecordJson(const UsageRecord& record) {
  Json items = Json::Array();
  for (const ResourceSeconds& row : record.rows) {
    items.Append(Json::Object({{"namespace", row.namespace_name},
                               {"flavor", row.flavor},
                               {"name", row.resource},
                               {"total", row.total},
                               {"recent", row.recent}}));
  }
  return Json::Object({{"asOf", FormatKubernetesTime(record.as_of)}, {"items", std::move(items)}});
}

// The uid is a precondition.
std::string StatusPatch(absl::string_view uid, Json status) {
  return Json::Object({{"metadata", Json::Object({{"uid", uid}})}, {"status", std::move(status)}})
      .Dump();
}

Json Subject(const EventSubject& subject) {
  Json out = Json::Object({{"apiVersion", subject.api_version}, {"kind", subject.kind}});
  if (!subject.namespace_name.empty()) out.Set("namespace", subject.namespace_name);
  out.Set("name", subject.name);
  if (!subject.uid.empty()) out.Set("uid", subject.uid);
  return out;
}

Json DeleteOptions(absl::string_view uid) {
  return Json::Object({{"kind", "DeleteOptions"},
                       {"apiVersion", "v1"},
                       {"preconditions", Json::Object({{"uid", uid}})}});
}

}  // namespace

std::string EncodeBinding(absl::string_view namespace_name, absl::string_view pod,
                          absl::string_view uid, absl::string_view node,
                          absl::string_view admitted_queue, const Annotations& further) {
  std::string annotations;
  const auto add = [&annotations](absl::string_view key, absl::string_view value) {
    absl::StrAppend(&annotations, annotations.empty() ? R"(,"annotations":{")" : R"(,")",
                    JsonEscaped(key), R"(":")", JsonEscaped(value), R"(")");
  };
  if (!admitted_queue.empty()) add(kAdmittedQueueAnnotation, admitted_queue);
  for (const auto& [key, value] : further) add(key, value);
  if (!annotations.empty()) annotations += "}";
  return absl::StrCat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")",
                      JsonEscaped(pod), R"(","namespace":")", JsonEscaped(namespace_name),
                      R"(","uid":")", JsonEscaped(uid), R"(")", annotations,
                      R"(},"target":{"apiVersion":"v1","kind":"Node","name":")", JsonEscaped(node),
                      R"("}})");
}

std::string EncodePodScheduledPatch(const PodScheduledPatch& patch) {
  Json condition = Json::Object({{"type", "PodScheduled"},
                                 {"status", patch.condition.status},
                                 {"reason", TextOrNull(patch.condition.reason)},
                                 {"message", TextOrNull(patch.condition.message)},
                                 {"lastProbeTime", nullptr}});
  if (patch.flipped_at.has_value()) {
    condition.Set("lastTransitionTime", FormatKubernetesTime(*patch.flipped_at));
  }
  Json status = Json::Object({{"conditions", Json::Array({std::move(condition)})}});
  if (patch.nominated_node_name.has_value()) {
    status.Set("nominatedNodeName", TextOrNull(*patch.nominated_node_name));
  }
  return StatusPatch(patch.uid, std::move(status));
}

std::string EncodeDisruptionTargetPatch(absl::string_view uid, absl::string_view message,
                                        absl::Time since) {
  const Json condition = Json::Object({{"type", "DisruptionTarget"},
                                       {"status", "True"},
                                       {"reason", "PreemptionByScheduler"},
                                       {"message", message},
                                       {"lastTransitionTime", FormatKubernetesTime(since)}});
  return StatusPatch(uid, Json::Object({{"conditions", Json::Array({condition})}}));
}

std::string EncodePodGroupStatusPatch(const PodGroupStatus& status,
                                      absl::string_view resource_version) {
  const MemberCounts& members = status.members;
  const bool placed = !status.placement_nodes.empty() || !status.placement_domains.empty();
  Json placement;
  if (placed) {
    placement = Json::Object({{"nodes", Json::Strings(status.placement_nodes)},
                              {"domains", Json::Strings(status.placement_domains)}});
  }
  Json body = Json::Object(
      {{"phase", TextOrNull(status.phase)},
       {"members", Json::Object({{"total", members.total},
                                 {"pending", members.pending},
                                 {"bound", members.bound},
                                 {"running", members.running},
                                 {"succeeded", members.succeeded},
                                 {"failed", members.failed}})},
       {"conditions", ListOrNull(Conditions(status.conditions))},
       {"reason", TextOrNull(status.reason)},
       {"message", TextOrNull(status.message)},
       {"placement", std::move(placement)},
       {"quorumReachedAt", TimeOrNull(status.quorum_reached_at)},
       {"quorumMet", status.quorum_met > 0 ? Json(status.quorum_met) : Json()},
       {"lastUndoneAt", TimeOrNull(status.last_undone_at)},
       {"initialSharePreemptionUsed", status.initial_share_preemption_used ? Json(true) : Json()},
       {"preemptedBy", TextOrNull(status.preempted_by)},
       {"admittedQueue", TextOrNull(status.admitted_queue)}});
  Json patch = Json::Object();
  if (!resource_version.empty()) {
    patch.Set("metadata", Json::Object({{"resourceVersion", resource_version}}));
  }
  patch.Set("status", std::move(body));
  return patch.Dump();
}

std::string EncodeForeignPhasePatch(const ForeignPhase& phase) {
  Json status = Json::Object({{"phase", phase.phase}});
  if (!phase.conditions.empty()) status.Set("conditions", Conditions(phase.conditions));
  return StatusPatch(phase.uid, std::move(status));
}

std::string EncodeQueueStatusPatch(const QueueStatus& status, absl::string_view uid) {
  Json body = Json::Object({{"pending", status.pending},
                            {"running", status.running},
                            {"pendingPods", status.pending_pods},
                            {"runningPods", status.running_pods},
                            {"usage", ListOrNull(UsageRows(status.usage))},
                            {"summary", TextOrNull(status.summary)},
                            {"fairShare", status.fair_share}});
  // A null would erase what an earlier leader has told.
  if (IsSet(status.used.as_of)) body.Set("resourceSeconds", UsageRecordJson(status.used));
  body.Set("conditions", ListOrNull(Conditions(status.conditions)));
  return StatusPatch(uid, std::move(body));
}

std::string EncodeCohortStatusPatch(const CohortStatus& status, absl::string_view uid) {
  return StatusPatch(uid,
                     Json::Object({{"usage", ListOrNull(UsageRows(status.usage))},
                                   {"fairShare", status.fair_share},
                                   {"conditions", ListOrNull(Conditions(status.conditions))}}));
}

std::string EventName(const EventRecord& event) {
  const auto nanos = static_cast<uint64_t>(absl::ToUnixNanos(event.at));
  const std::string suffix = absl::StrCat(".", absl::Hex(nanos));
  absl::string_view name = Utf8Prefix(event.regarding.name, kMostName - suffix.size());
  // A label of a name ends with a letter or a digit, wherever it was cut.
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.remove_suffix(1);
  return absl::StrCat(name, suffix);
}

absl::string_view EventNamespace(const EventRecord& event) {
  const std::string& named = event.regarding.namespace_name;
  return named.empty() ? absl::string_view("default") : absl::string_view(named);
}

std::string EncodeEvent(const EventRecord& event) {
  Json out = Json::Object({{"apiVersion", "events.k8s.io/v1"},
                           {"kind", "Event"},
                           {"metadata", Json::Object({{"name", EventName(event)},
                                                      {"namespace", EventNamespace(event)}})},
                           {"eventTime", FormatKubernetesMicroTime(event.at)},
                           {"type", event.type == EventType::kNormal ? "Normal" : "Warning"},
                           {"reason", Utf8Prefix(event.reason, kMostWord)},
                           {"action", Utf8Prefix(event.action, kMostWord)},
                           {"note", Utf8Prefix(event.note, kMostNote)},
                           {"reportingController", event.controller},
                           {"reportingInstance", Utf8Prefix(event.instance, kMostWord)},
                           {"regarding", Subject(event.regarding)}});
  return out.Dump();
}

std::string EncodeSelectedNodePatch(absl::string_view uid, absl::string_view resource_version,
                                    absl::string_view node) {
  Json annotations = Json::Object({{kSelectedNodeAnnotation, TextOrNull(std::string(node))}});
  return Json::Object({{"metadata", Json::Object({{"uid", uid},
                                                  {"resourceVersion", resource_version},
                                                  {"annotations", std::move(annotations)}})}})
      .Dump();
}

std::string EncodeSetAsidePatch(const SetAsidePatch& patch) {
  return Json::Object(
             {{"metadata", Json::Object({{"uid", patch.volume_uid},
                                         {"resourceVersion", patch.volume_version},
                                         {"annotations",
                                          Json::Object({{kBoundByControllerAnnotation, "yes"}})}})},
              {"spec",
               Json::Object({{"claimRef", Json::Object({{"apiVersion", "v1"},
                                                        {"kind", "PersistentVolumeClaim"},
                                                        {"namespace", patch.claim_namespace},
                                                        {"name", patch.claim_name},
                                                        {"uid", patch.claim_uid}})}})}})
      .Dump();
}

std::string EncodeDeleteOptions(absl::string_view uid) { return DeleteOptions(uid).Dump(); }

std::string EncodeEviction(absl::string_view namespace_name, absl::string_view pod,
                           absl::string_view uid) {
  return Json::Object({{"apiVersion", "policy/v1"},
                       {"kind", "Eviction"},
                       {"metadata", Json::Object({{"name", pod}, {"namespace", namespace_name}})},
                       {"deleteOptions", DeleteOptions(uid)}})
      .Dump();
}

std::string EncodeMetadataPatch(const MetadataPatch& patch) {
  const auto changes = [](const StringMap& entries) {
    Json out = Json::Object();
    for (const auto& [key, value] : entries.entries()) out.Set(key, TextOrNull(value));
    return out;
  };
  return Json::Object({{"metadata", Json::Object({{"resourceVersion", patch.resource_version},
                                                  {"labels", changes(patch.labels)},
                                                  {"annotations", changes(patch.annotations)}})}})
      .Dump();
}

}  // namespace maniple
