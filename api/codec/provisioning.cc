#include "api/codec/provisioning.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/status_macros.h"
#include "api/codec/json.h"

namespace maniple {
namespace {

constexpr absl::string_view kPlacementFields[] = {"affinity",
                                                  "hostNetwork",
                                                  "nodeSelector",
                                                  "overhead",
                                                  "preemptionPolicy",
                                                  "priority",
                                                  "priorityClassName",
                                                  "resourceClaims",
                                                  "resources",
                                                  "runtimeClassName",
                                                  "schedulerName",
                                                  "tolerations",
                                                  "topologySpreadConstraints"};
constexpr absl::string_view kContainerFields[] = {"image", "name", "ports", "resources",
                                                  "restartPolicy"};

void CopyMembers(const Json& from, absl::Span<const absl::string_view> fields, Json& to) {
  for (const absl::string_view field : fields) {
    if (const Json* value = from.Find(field); value != nullptr) to.Set(field, *value);
  }
}

Json Containers(const Json& from) {
  Json out = Json::Array();
  for (const Json& container : from.items()) {
    Json copy = Json::Object();
    CopyMembers(container, kContainerFields, copy);
    out.Append(std::move(copy));
  }
  return out;
}

// A claim may be bound to a place; other volumes fit everywhere.
Json ClaimVolumes(const Json& from) {
  Json out = Json::Array();
  for (const Json& volume : from.items()) {
    if (volume.Has("persistentVolumeClaim") || volume.Has("ephemeral")) out.Append(volume);
  }
  return out;
}

Json OwnedMetadata(absl::string_view namespace_name, absl::string_view name,
                   const OwnerReference& owner) {
  return Json::Object(
      {{"name", name},
       {"namespace", namespace_name},
       {"ownerReferences", Json::Array({Json::Object({{"apiVersion", owner.api_version},
                                                      {"kind", owner.kind},
                                                      {"name", owner.name},
                                                      {"uid", owner.uid},
                                                      {"controller", true}})})}});
}

bool IsTrue(const Json& condition) { return condition["status"].AsString() == "True"; }

}  // namespace

std::string EncodeProvisioningRequest(const NewProvisioningRequest& request) {
  Json pod_sets = Json::Array();
  for (const NewProvisioningRequest::PodSet& set : request.pod_sets) {
    pod_sets.Append(Json::Object(
        {{"podTemplateRef", Json::Object({{"name", set.template_name}})}, {"count", set.count}}));
  }
  Json spec = Json::Object({{"provisioningClassName", request.class_name}, {"podSets", pod_sets}});
  for (const auto& [key, value] : request.parameters) spec.Mutable("parameters").Set(key, value);
  return Json::Object(
             {{"apiVersion", "autoscaling.x-k8s.io/v1"},
              {"kind", "ProvisioningRequest"},
              {"metadata", OwnedMetadata(request.namespace_name, request.name, request.owner)},
              {"spec", std::move(spec)}})
      .Dump();
}

absl::StatusOr<std::string> EncodePodTemplate(absl::string_view namespace_name,
                                              absl::string_view name, const OwnerReference& owner,
                                              absl::string_view pod) {
  ASSIGN_OR_RETURN(const Json whole, Json::Parse(pod));
  const Json& asked = whole["spec"];
  if (!asked["containers"].is_array()) {
    return absl::InvalidArgumentError("spec.containers: is not there");
  }
  Json spec = Json::Object({{"containers", Containers(asked["containers"])}});
  if (asked.Has("initContainers")) spec.Set("initContainers", Containers(asked["initContainers"]));
  CopyMembers(asked, kPlacementFields, spec);
  if (Json volumes = ClaimVolumes(asked["volumes"]); volumes.size() > 0) {
    spec.Set("volumes", std::move(volumes));
  }
  Json metadata = Json::Object();
  if (const Json& labels = whole["metadata"]["labels"]; labels.size() > 0) {
    metadata.Set("labels", labels);
  }
  return Json::Object({{"apiVersion", "v1"},
                       {"kind", "PodTemplate"},
                       {"metadata", OwnedMetadata(namespace_name, name, owner)},
                       {"template", Json::Object({{"metadata", std::move(metadata)},
                                                  {"spec", std::move(spec)}})}})
      .Dump();
}

std::string UidIn(absl::string_view object) {
  const absl::StatusOr<Json> whole = Json::Parse(object);
  return whole.ok() ? whole->At("metadata.uid").AsString() : "";
}

ProvisioningAnswer ReadProvisioningAnswer(absl::string_view request) {
  ProvisioningAnswer answer;
  const absl::StatusOr<Json> whole = Json::Parse(request);
  if (!whole.ok()) return answer;
  for (const Json& condition : whole->At("status.conditions").items()) {
    const std::string& type = condition["type"].AsString();
    const bool ends = type == "Failed" || type == "BookingExpired" || type == "CapacityRevoked";
    if (ends && IsTrue(condition)) {
      return {.state = ProvisioningState::kFailed,
              .why = absl::StrCat(condition["reason"].AsString(), ": ",
                                  condition["message"].AsString())};
    }
    if (!IsTrue(condition)) continue;
    if (type == "Provisioned") answer.state = ProvisioningState::kProvisioned;
    if (type == "Accepted") answer.state = std::max(answer.state, ProvisioningState::kAccepted);
  }
  return answer;
}

}  // namespace maniple
