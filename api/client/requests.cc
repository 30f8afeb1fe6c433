#include "api/client/requests.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/codec/decode.h"
#include "api/codec/json.h"
#include "api/codec/quantity.h"

namespace maniple {
namespace {

constexpr char kJsonBody[] = "application/json";
constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kStrategicMergePatch[] = "application/strategic-merge-patch+json";
constexpr size_t kLongestNote = 1024;
constexpr size_t kLongestName = 253;
constexpr size_t kLongestInstance = 128;

std::string PodPath(const PodReference& pod, absl::string_view subresource) {
  return absl::StrCat("/api/v1/namespaces/", UrlEncoded(pod.namespace_name), "/pods/",
                      UrlEncoded(pod.name), subresource);
}

HttpRequest Write(HttpMethod method, std::string target, absl::string_view content_type,
                  const Json& body) {
  return {.method = method,
          .target = std::move(target),
          .content_type = std::string(content_type),
          .body = body.Dump(),
          .lane = HttpLane::kWrite};
}

Json TimeOrNull(const std::optional<absl::Time>& time) {
  return time.has_value() ? Json(FormatKubernetesTime(*time)) : Json();
}

Json ConditionsJson(const std::vector<Condition>& conditions) {
  Json out = Json::Array();
  for (const Condition& condition : conditions) {
    Json item =
        Json::Object({{"type", condition.type},
                      {"status", condition.status},
                      {"reason", condition.reason},
                      {"message", condition.message},
                      {"lastTransitionTime", FormatKubernetesTime(condition.last_transition)}});
    if (condition.observed_generation > 0) {
      item.Set("observedGeneration", condition.observed_generation);
    }
    out.Append(std::move(item));
  }
  return out;
}

Json Texts(const std::vector<std::string>& texts) {
  Json out = Json::Array();
  for (const std::string& text : texts) out.Append(text);
  return out;
}

// At most `most` bytes, never half a character.
absl::string_view Cut(absl::string_view text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

HttpRequest BindRequest(const PodReference& pod, absl::string_view node_name) {
  return Write(
      HttpMethod::kPost, PodPath(pod, "/binding"), kJsonBody,
      Json::Object(
          {{"apiVersion", "v1"},
           {"kind", "Binding"},
           {"metadata",
            Json::Object(
                {{"name", pod.name}, {"namespace", pod.namespace_name}, {"uid", pod.uid}})},
           {"target",
            Json::Object({{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node_name}})}}));
}

HttpRequest ReadPodRequest(const PodReference& pod) {
  return {.method = HttpMethod::kGet, .target = PodPath(pod, ""), .lane = HttpLane::kWrite};
}

HttpRequest DeletePodRequest(const PodReference& pod) {
  return Write(HttpMethod::kDelete, PodPath(pod, ""), kJsonBody,
               Json::Object({{"apiVersion", "v1"},
                             {"kind", "DeleteOptions"},
                             {"preconditions", Json::Object({{"uid", pod.uid}})}}));
}

HttpRequest PodWaitsRequest(const PodReference& pod, const PodWaits& waits) {
  Json condition = Json::Object({{"type", "PodScheduled"},
                                 {"status", "False"},
                                 {"reason", waits.reason},
                                 {"message", waits.message}});
  if (waits.since.has_value()) {
    condition.Set("lastTransitionTime", FormatKubernetesTime(*waits.since));
  }
  return Write(
      HttpMethod::kPatch, PodPath(pod, "/status"), kStrategicMergePatch,
      Json::Object({{"metadata", Json::Object({{"uid", pod.uid}})},
                    {"status", Json::Object({{"conditions", Json::Array({condition})}})}}));
}

HttpRequest PodGroupStatusRequest(absl::string_view namespace_name, absl::string_view name,
                                  absl::string_view resource_version,
                                  const PodGroupStatus& status) {
  const MemberCounts& counts = status.members;
  const bool placed = !status.placement_nodes.empty() || !status.placement_domains.empty();
  // Null takes a field away.
  Json body = Json::Object(
      {{"phase", status.phase},
       {"members", Json::Object({{"total", counts.total},
                                 {"pending", counts.pending},
                                 {"bound", counts.bound},
                                 {"running", counts.running},
                                 {"succeeded", counts.succeeded},
                                 {"failed", counts.failed}})},
       {"conditions", ConditionsJson(status.conditions)},
       {"reason", status.reason},
       {"message", status.message},
       {"placement", placed ? Json::Object({{"nodes", Texts(status.placement_nodes)},
                                            {"domains", Texts(status.placement_domains)}})
                            : Json()},
       {"quorumReachedAt", TimeOrNull(status.quorum_reached_at)},
       {"lastUndoneAt", TimeOrNull(status.last_undone_at)},
       {"initialSharePreemptionUsed", status.initial_share_preemption_used ? Json(true) : Json()},
       {"preemptedBy", status.preempted_by.empty() ? Json() : Json(status.preempted_by)}});
  return Write(HttpMethod::kPatch,
               absl::StrCat("/apis/", kManipleGroup, "/", kManipleVersion, "/namespaces/",
                            UrlEncoded(namespace_name), "/podgroups/", UrlEncoded(name), "/status"),
               kMergePatch,
               Json::Object({{"metadata", Json::Object({{"resourceVersion", resource_version}})},
                             {"status", std::move(body)}}));
}

HttpRequest QueueStatusRequest(const ObjectMeta& queue, const QueueStatus& status) {
  Json usage = Json::Array();
  for (const QueueUsage& row : status.usage) {
    usage.Append(Json::Object({{"flavor", row.flavor},
                               {"name", row.resource},
                               {"used", FormatAmount(row.resource, row.used)},
                               {"borrowed", FormatAmount(row.resource, row.borrowed)},
                               {"lent", FormatAmount(row.resource, row.lent)}}));
  }
  return Write(HttpMethod::kPatch,
               absl::StrCat("/apis/", kManipleGroup, "/", kManipleVersion, "/queues/",
                            UrlEncoded(queue.name), "/status"),
               kMergePatch,
               Json::Object({{"metadata", Json::Object({{"uid", queue.uid}})},
                             {"status",
                              Json::Object({{"pending", status.pending},
                                            {"running", status.running},
                                            {"pendingPods", status.pending_pods},
                                            {"runningPods", status.running_pods},
                                            {"usage", std::move(usage)},
                                            {"conditions", ConditionsJson(status.conditions)}})}}));
}

HttpRequest EventRequest(const EventNote& note, absl::string_view reporting_instance,
                         absl::Time now, uint64_t serial) {
  const std::string namespace_name =
      note.namespace_name.empty() ? std::string("default") : note.namespace_name;
  const std::string suffix = absl::StrFormat(".%x%04x", absl::ToUnixNanos(now), serial & 0xffff);
  const absl::string_view stem = Cut(note.name, kLongestName - suffix.size());
  return Write(
      HttpMethod::kPost,
      absl::StrCat("/apis/events.k8s.io/v1/namespaces/", UrlEncoded(namespace_name), "/events"),
      kJsonBody,
      Json::Object({{"apiVersion", "events.k8s.io/v1"},
                    {"kind", "Event"},
                    {"metadata", Json::Object({{"name", absl::StrCat(stem, suffix)},
                                               {"namespace", namespace_name}})},
                    {"eventTime", FormatKubernetesMicroTime(now)},
                    {"reportingController", "maniple.dev/scheduler"},
                    {"reportingInstance", Cut(reporting_instance, kLongestInstance)},
                    {"action", note.action},
                    {"reason", note.reason},
                    {"type", note.type == EventType::kNormal ? "Normal" : "Warning"},
                    {"note", Cut(note.note, kLongestNote)},
                    {"regarding", Json::Object({{"apiVersion", note.api_version},
                                                {"kind", note.kind},
                                                {"namespace", note.namespace_name},
                                                {"name", note.name},
                                                {"uid", note.uid}})}}));
}

}  // namespace maniple
