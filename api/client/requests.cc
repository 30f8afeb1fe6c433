#include "api/client/requests.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

constexpr char kJsonBody[] = "application/json";
constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kStrategicMergePatch[] = "application/strategic-merge-patch+json";
// Names of events end in their nanosecond and a serial, which tells events of one instant apart.
constexpr uint64_t kSerials = 1000;

std::string PodPath(const PodReference& pod, absl::string_view subresource) {
  return absl::StrCat("/api/v1/namespaces/", UrlEncoded(pod.namespace_name), "/pods/",
                      UrlEncoded(pod.name), subresource);
}

std::string ManiplePath(absl::string_view rest) {
  return absl::StrCat("/apis/", kManipleGroup, "/", kManipleVersion, "/", rest);
}

std::string PodGroupsPath(absl::string_view namespace_name) {
  return ManiplePath(absl::StrCat("namespaces/", UrlEncoded(namespace_name), "/podgroups"));
}

std::string PodGroupPath(absl::string_view namespace_name, absl::string_view name) {
  return absl::StrCat(PodGroupsPath(namespace_name), "/", UrlEncoded(name));
}

// The path of the collection, or of the object of that name in it.
std::string ProvisioningPath(absl::string_view namespace_name, absl::string_view name = "") {
  return absl::StrCat("/apis/autoscaling.x-k8s.io/v1/namespaces/", UrlEncoded(namespace_name),
                      "/provisioningrequests", name.empty() ? "" : "/", UrlEncoded(name));
}

std::string PodTemplatePath(absl::string_view namespace_name, absl::string_view name = "") {
  return absl::StrCat("/api/v1/namespaces/", UrlEncoded(namespace_name), "/podtemplates",
                      name.empty() ? "" : "/", UrlEncoded(name));
}

HttpRequest Write(HttpMethod method, std::string target, absl::string_view content_type,
                  std::string body) {
  return {.method = method,
          .target = std::move(target),
          .content_type = std::string(content_type),
          .body = std::move(body),
          .lane = HttpLane::kWrite};
}

}  // namespace

HttpRequest BindRequest(const PodReference& pod, absl::string_view node_name,
                        absl::string_view admitted_queue, const Annotations& further) {
  return Write(
      HttpMethod::kPost, PodPath(pod, "/binding"), kJsonBody,
      EncodeBinding(pod.namespace_name, pod.name, pod.uid, node_name, admitted_queue, further));
}

HttpRequest ReadPodRequest(const PodReference& pod) {
  return {.method = HttpMethod::kGet, .target = PodPath(pod, ""), .lane = HttpLane::kWrite};
}

HttpRequest DeletePodRequest(const PodReference& pod) {
  return Write(HttpMethod::kDelete, PodPath(pod, ""), kJsonBody, EncodeDeleteOptions(pod.uid));
}

HttpRequest EvictPodRequest(const PodReference& pod) {
  return Write(HttpMethod::kPost, PodPath(pod, "/eviction"), kJsonBody,
               EncodeEviction(pod.namespace_name, pod.name, pod.uid));
}

HttpRequest PodIsPreemptedRequest(const PodReference& pod, absl::string_view why,
                                  absl::Time since) {
  return Write(HttpMethod::kPatch, PodPath(pod, "/status"), kStrategicMergePatch,
               EncodeDisruptionTargetPatch(pod.uid, why, since));
}

HttpRequest PodWaitsRequest(const PodReference& pod, const PodWaits& waits) {
  return Write(HttpMethod::kPatch, PodPath(pod, "/status"), kStrategicMergePatch,
               EncodePodScheduledPatch({.uid = pod.uid,
                                        .condition = {"False", waits.reason, waits.message},
                                        .flipped_at = waits.since,
                                        .nominated_node_name = waits.nominated}));
}

HttpRequest PodGroupStatusRequest(absl::string_view namespace_name, absl::string_view name,
                                  absl::string_view resource_version,
                                  const PodGroupStatus& status) {
  return Write(HttpMethod::kPatch, absl::StrCat(PodGroupPath(namespace_name, name), "/status"),
               kMergePatch, EncodePodGroupStatusPatch(status, resource_version));
}

HttpRequest MakePodGroupRequest(const NewPodGroup& group) {
  return Write(HttpMethod::kPost, PodGroupsPath(group.namespace_name), kJsonBody,
               EncodePodGroup(group));
}

HttpRequest PodGroupSpecRequest(absl::string_view namespace_name, absl::string_view name,
                                absl::string_view uid, const PodGroupSpec& spec) {
  return Write(HttpMethod::kPatch, PodGroupPath(namespace_name, name), kMergePatch,
               EncodePodGroupSpecPatch(uid, spec));
}

HttpRequest MakeProvisioningRequest(const NewProvisioningRequest& request) {
  return Write(HttpMethod::kPost, ProvisioningPath(request.namespace_name), kJsonBody,
               EncodeProvisioningRequest(request));
}

HttpRequest ReadProvisioningRequest(absl::string_view namespace_name, absl::string_view name) {
  return {.method = HttpMethod::kGet,
          .target = ProvisioningPath(namespace_name, name),
          .lane = HttpLane::kWrite};
}

HttpRequest DeleteProvisioningRequest(absl::string_view namespace_name, absl::string_view name,
                                      absl::string_view uid) {
  return Write(HttpMethod::kDelete, ProvisioningPath(namespace_name, name), kJsonBody,
               EncodeDeleteOptions(uid));
}

HttpRequest MakePodTemplateRequest(absl::string_view namespace_name, std::string body) {
  return Write(HttpMethod::kPost, PodTemplatePath(namespace_name), kJsonBody, std::move(body));
}

HttpRequest DeletePodTemplateRequest(absl::string_view namespace_name, absl::string_view name,
                                     absl::string_view uid) {
  return Write(HttpMethod::kDelete, PodTemplatePath(namespace_name, name), kJsonBody,
               EncodeDeleteOptions(uid));
}

HttpRequest DeletePodGroupRequest(absl::string_view namespace_name, absl::string_view name,
                                  absl::string_view uid) {
  return Write(HttpMethod::kDelete, PodGroupPath(namespace_name, name), kJsonBody,
               EncodeDeleteOptions(uid));
}

HttpRequest ForeignPhaseRequest(absl::string_view path, const ForeignPhase& phase) {
  return Write(HttpMethod::kPatch, std::string(path), kMergePatch, EncodeForeignPhasePatch(phase));
}

HttpRequest QueueStatusRequest(const ObjectMeta& queue, const QueueStatus& status) {
  return Write(HttpMethod::kPatch,
               ManiplePath(absl::StrCat("queues/", UrlEncoded(queue.name), "/status")), kMergePatch,
               EncodeQueueStatusPatch(status, queue.uid));
}

HttpRequest CohortStatusRequest(const ObjectMeta& cohort, const CohortStatus& status) {
  return Write(HttpMethod::kPatch,
               ManiplePath(absl::StrCat("cohorts/", UrlEncoded(cohort.name), "/status")),
               kMergePatch, EncodeCohortStatusPatch(status, cohort.uid));
}

HttpRequest NodeMetadataRequest(absl::string_view node, const MetadataPatch& patch) {
  return Write(HttpMethod::kPatch, absl::StrCat("/api/v1/nodes/", UrlEncoded(node)), kMergePatch,
               EncodeMetadataPatch(patch));
}

HttpRequest SelectNodeRequest(const ClaimGoal& goal, absl::string_view claim_version,
                              absl::string_view node) {
  return Write(HttpMethod::kPatch,
               absl::StrCat("/api/v1/namespaces/", UrlEncoded(goal.namespace_name),
                            "/persistentvolumeclaims/", UrlEncoded(goal.name)),
               kMergePatch, EncodeSelectedNodePatch(goal.uid, claim_version, node));
}

HttpRequest SetAsideRequest(const ClaimGoal& goal, const ClaimSight& sight) {
  return Write(HttpMethod::kPatch,
               absl::StrCat("/api/v1/persistentvolumes/", UrlEncoded(goal.volume)), kMergePatch,
               EncodeSetAsidePatch({.volume_uid = sight.volume_uid,
                                    .volume_version = sight.volume_version,
                                    .claim_namespace = goal.namespace_name,
                                    .claim_name = goal.name,
                                    .claim_uid = goal.uid}));
}

HttpRequest EventRequest(const EventNote& note, absl::string_view reporting_instance,
                         absl::Time now, uint64_t serial) {
  const EventRecord event = {
      .regarding = {note.api_version, note.kind, note.namespace_name, note.name, note.uid},
      .type = note.type,
      .reason = note.reason,
      .action = note.action,
      .note = note.note,
      .controller = "maniple.dev/scheduler",
      .instance = std::string(reporting_instance),
      .at = absl::FromUnixMicros(absl::ToUnixMicros(now)) + absl::Nanoseconds(serial % kSerials)};
  return Write(HttpMethod::kPost,
               absl::StrCat("/apis/events.k8s.io/v1/namespaces/", UrlEncoded(EventNamespace(event)),
                            "/events"),
               kJsonBody, EncodeEvent(event));
}

}  // namespace maniple
