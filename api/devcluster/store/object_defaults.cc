#include "api/devcluster/store/object_defaults.h"

#include <limits>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/codec/kubernetes_time.h"
#include "api/devcluster/store/pod_admission.h"
#include "api/devcluster/store/pod_defaults.h"

namespace maniple::devcluster {
namespace {

Json& SpecOf(Json& object) {
  Json& spec = object.Mutable("spec");
  if (spec.is_null()) spec = Json::Object();
  return spec;
}

void DefaultTemplate(Json& spec) {
  Json* pod_template = spec.Find("template");
  if (pod_template == nullptr || !pod_template->is_object()) return;
  SetDefault(*pod_template, "metadata", Json::Object());
  Json* pod_spec = pod_template->Find("spec");
  if (pod_spec != nullptr) DefaultPodSpec(*pod_spec);
}

// Go's decoding fills an absent list of labels from the template.
void LabelsFromTemplate(Json& object) {
  const Json& labels = object.At("spec.template.metadata.labels");
  if (labels.size() > 0 && object["metadata"]["labels"].size() == 0) {
    Json copy = labels;
    object.Mutable("metadata").Set("labels", std::move(copy));
  }
}

void DefaultNamespace(Json& ns) {
  ns.Mutable("metadata")
      .Mutable("labels")
      .Set("kubernetes.io/metadata.name", ns["metadata"]["name"]);
}

void DefaultNode(Json& node) { SpecOf(node); }

void DefaultService(Json& service) {
  Json& spec = SpecOf(service);
  if (!spec.is_object()) return;
  SetDefaultText(spec, "sessionAffinity", "None");
  SetDefaultText(spec, "type", "ClusterIP");
  if (Json* ports = spec.Find("ports"); ports != nullptr && ports->is_array()) {
    for (Json& port : ports->mutable_items()) {
      if (!port.is_object()) continue;
      SetDefaultText(port, "protocol", "TCP");
      SetDefault(port, "targetPort", port["port"]);
    }
  }
  if (spec["type"].AsString() == "ExternalName") return;
  SetDefaultText(spec, "internalTrafficPolicy", "Cluster");
  SetDefault(spec, "ipFamilies", Json::Array({Json("IPv4")}));
  SetDefaultText(spec, "ipFamilyPolicy", "SingleStack");
}

void DefaultSecret(Json& secret) {
  SetDefaultText(secret, "type", "Opaque");
  const Json clear = secret["stringData"];
  if (!clear.is_object()) return;
  for (const auto& [key, value] : clear.members()) {
    secret.Mutable("data").Set(key, absl::Base64Escape(value.AsString()));
  }
  secret.Erase("stringData");
}

void DefaultJob(Json& job) {
  Json& spec = SpecOf(job);
  if (!spec.is_object()) return;
  DefaultTemplate(spec);
  if (spec["completions"].is_null() && spec["parallelism"].is_null()) spec.Set("completions", 1);
  SetDefault(spec, "parallelism", 1);
  const bool per_index = spec["backoffLimitPerIndex"].is_number();
  SetDefault(spec, "backoffLimit",
             per_index ? Json(int64_t{std::numeric_limits<int32_t>::max()}) : Json(6));
  SetDefaultText(spec, "completionMode", "NonIndexed");
  SetDefault(spec, "suspend", false);
  SetDefault(spec, "manualSelector", false);
  SetDefaultText(spec, "podReplacementPolicy",
                 spec["podFailurePolicy"].is_null() ? "TerminatingOrFailed" : "Failed");
  LabelsFromTemplate(job);
}

void DefaultCronJob(Json& cron_job) {
  Json& spec = SpecOf(cron_job);
  if (!spec.is_object()) return;
  SetDefaultText(spec, "concurrencyPolicy", "Allow");
  SetDefault(spec, "suspend", false);
  SetDefault(spec, "successfulJobsHistoryLimit", 3);
  SetDefault(spec, "failedJobsHistoryLimit", 1);
}

void DefaultDeployment(Json& deployment) {
  Json& spec = SpecOf(deployment);
  if (!spec.is_object()) return;
  DefaultTemplate(spec);
  SetDefault(spec, "replicas", 1);
  SetDefault(spec, "strategy", Json::Object());
  Json& strategy = spec.Mutable("strategy");
  if (strategy.is_object()) {
    SetDefaultText(strategy, "type", "RollingUpdate");
    if (strategy["type"].AsString() == "RollingUpdate") {
      SetDefault(strategy, "rollingUpdate", Json::Object());
      Json& rolling = strategy.Mutable("rollingUpdate");
      SetDefault(rolling, "maxUnavailable", "25%");
      SetDefault(rolling, "maxSurge", "25%");
    }
  }
  SetDefault(spec, "revisionHistoryLimit", 10);
  SetDefault(spec, "progressDeadlineSeconds", 600);
}

void DefaultReplicaSet(Json& replica_set) {
  Json& spec = SpecOf(replica_set);
  if (!spec.is_object()) return;
  DefaultTemplate(spec);
  SetDefault(spec, "replicas", 1);
  LabelsFromTemplate(replica_set);
}

void DefaultStatefulSet(Json& stateful_set) {
  Json& spec = SpecOf(stateful_set);
  if (!spec.is_object()) return;
  DefaultTemplate(spec);
  SetDefault(spec, "replicas", 1);
  SetDefaultText(spec, "podManagementPolicy", "OrderedReady");
  SetDefault(spec, "revisionHistoryLimit", 10);
  SetDefault(spec, "updateStrategy",
             Json::Object(
                 {{"type", "RollingUpdate"}, {"rollingUpdate", Json::Object({{"partition", 0}})}}));
  SetDefault(spec, "persistentVolumeClaimRetentionPolicy",
             Json::Object({{"whenDeleted", "Retain"}, {"whenScaled", "Retain"}}));
}

void DefaultDaemonSet(Json& daemon_set) {
  Json& spec = SpecOf(daemon_set);
  if (!spec.is_object()) return;
  DefaultTemplate(spec);
  SetDefault(spec, "revisionHistoryLimit", 10);
  SetDefault(
      spec, "updateStrategy",
      Json::Object({{"type", "RollingUpdate"},
                    {"rollingUpdate", Json::Object({{"maxUnavailable", 1}, {"maxSurge", 0}})}}));
}

void DefaultVolumeClaim(Json& claim) {
  Json& spec = SpecOf(claim);
  if (!spec.is_object()) return;
  SetDefault(spec, "resources", Json::Object());
  SetDefaultText(spec, "volumeMode", "Filesystem");
}

void DefaultPersistentVolume(Json& volume) {
  Json& spec = SpecOf(volume);
  if (!spec.is_object()) return;
  SetDefaultText(spec, "persistentVolumeReclaimPolicy", "Retain");
  SetDefaultText(spec, "volumeMode", "Filesystem");
}

void DefaultStorageClass(Json& storage_class) {
  SetDefaultText(storage_class, "reclaimPolicy", "Delete");
  SetDefaultText(storage_class, "volumeBindingMode", "Immediate");
}

void DefaultPriorityClass(Json& priority_class) {
  SetDefault(priority_class, "value", 0);
  SetDefaultText(priority_class, "preemptionPolicy", "PreemptLowerPriority");
}

void DefaultCustomResourceDefinition(Json& crd) {
  Json& spec = SpecOf(crd);
  if (!spec.is_object()) return;
  Json& names = spec.Mutable("names");
  if (names.is_object() || names.is_null()) {
    const std::string kind = names["kind"].AsString();
    SetDefaultText(names, "singular", absl::AsciiStrToLower(kind));
    SetDefaultText(names, "listKind", absl::StrCat(kind, "List"));
  }
  SetDefault(spec, "conversion", Json::Object({{"strategy", "None"}}));
}

// Members that Go's encoding writes even when nothing is in them.
void DefaultEvent(Json& event) {
  SetDefault(event, "involvedObject", Json::Object());
  SetDefault(event, "source", Json::Object());
  SetDefault(event, "reportingComponent", "");
  SetDefault(event, "reportingInstance", "");
  for (const absl::string_view time : {"firstTimestamp", "lastTimestamp", "eventTime"}) {
    event.Mutable(time);
  }
}

// What Go's encoding always writes of a NodeStatus.
void StartNode(Json& node) {
  SetDefault(node, "status", Json::Object());
  Json& status = node.Mutable("status");
  if (!status.is_object()) return;
  SetDefault(status, "daemonEndpoints",
             Json::Object({{"kubeletEndpoint", Json::Object({{"Port", 0}})}}));
  Json info = Json::Object();
  for (const absl::string_view field :
       {"machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion",
        "kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"}) {
    info.Set(field, status["nodeInfo"][field].AsString());
  }
  status.Set("nodeInfo", std::move(info));
}

void StartNamespace(Json& ns) {
  ns.Set("spec", Json::Object({{"finalizers", Json::Array({Json("kubernetes")})}}));
  ns.Set("status", Json::Object({{"phase", "Active"}}));
}

void StartService(Json& service, Random& random) {
  Json& spec = SpecOf(service);
  const std::string& type = spec["type"].AsString();
  if (type != "ExternalName" && spec["clusterIP"].AsString().empty()) {
    const std::string address = absl::StrCat("10.0.0.", 1 + random.Below(254));
    spec.Set("clusterIP", address);
    spec.Set("clusterIPs", Json::Array({Json(address)}));
  } else if (spec["clusterIP"].is_string()) {
    spec.Set("clusterIPs", Json::Array({spec["clusterIP"]}));
  }
  service.Set("status", Json::Object({{"loadBalancer", Json::Object()}}));
}

// The selector that the Job strategy makes from the uid.
void StartJob(Json& job) {
  job.Set("status", Json::Object());
  Json& spec = SpecOf(job);
  if (spec["manualSelector"].AsBool() || !spec["template"].is_object()) return;
  const std::string uid = job["metadata"]["uid"].AsString();
  const std::string name = job["metadata"]["name"].AsString();
  Json& labels = spec.Mutable("template").Mutable("metadata").Mutable("labels");
  labels.Set("batch.kubernetes.io/controller-uid", uid);
  labels.Set("batch.kubernetes.io/job-name", name);
  labels.Set("controller-uid", uid);
  labels.Set("job-name", name);
  SetDefault(spec, "selector", Json::Object());
  spec.Mutable("selector").Mutable("matchLabels").Set("batch.kubernetes.io/controller-uid", uid);
}

void StartCustomResourceDefinition(Json& crd, absl::Time now) {
  const Json& spec = crd["spec"];
  Json stored = Json::Array();
  for (const Json& version : spec["versions"].items()) {
    if (version["storage"].AsBool()) stored.Append(version["name"]);
  }
  const auto condition = [&](absl::string_view type, absl::string_view reason,
                             absl::string_view message) {
    return Json::Object({{"type", Json(type)},
                         {"status", Json("True")},
                         {"lastTransitionTime", Json(FormatKubernetesTime(now))},
                         {"reason", Json(reason)},
                         {"message", Json(message)}});
  };
  Json names = spec["names"];
  crd.Set(
      "status",
      Json::Object({{"conditions",
                     Json::Array({condition("NamesAccepted", "NoConflicts", "no conflicts found"),
                                  condition("Established", "InitialNamesAccepted",
                                            "the initial names have been accepted")})},
                    {"acceptedNames", std::move(names)},
                    {"storedVersions", std::move(stored)}}));
}

using Defaults = void (*)(Json&);

const absl::flat_hash_map<absl::string_view, Defaults>& DefaultsByKind() {
  static const auto& table = *new absl::flat_hash_map<absl::string_view, Defaults>{
      {"Pod", DefaultPod},
      {"Namespace", DefaultNamespace},
      {"Node", DefaultNode},
      {"Service", DefaultService},
      {"Secret", DefaultSecret},
      {"Event", DefaultEvent},
      {"Job", DefaultJob},
      {"CronJob", DefaultCronJob},
      {"Deployment", DefaultDeployment},
      {"ReplicaSet", DefaultReplicaSet},
      {"ReplicationController", DefaultReplicaSet},
      {"StatefulSet", DefaultStatefulSet},
      {"DaemonSet", DefaultDaemonSet},
      {"PersistentVolumeClaim", DefaultVolumeClaim},
      {"PersistentVolume", DefaultPersistentVolume},
      {"StorageClass", DefaultStorageClass},
      {"PriorityClass", DefaultPriorityClass},
      {"CustomResourceDefinition", DefaultCustomResourceDefinition},
  };
  return table;
}

}  // namespace

void DefaultObject(const ResourceType& type, Json& object) {
  if (type.custom) return;  // its schema does that
  const auto it = DefaultsByKind().find(type.kind);
  if (it != DefaultsByKind().end()) it->second(object);
}

void StartObject(const ResourceType& type, Json& object, const Birth& birth) {
  if (type.custom) {
    if (type.FindSubresource("status") != nullptr) object.Erase("status");
    return;
  }
  if (type.kind == "Pod") return StartPodStatus(object, birth.now);
  if (type.kind == "Node") return StartNode(object);
  if (type.kind == "Namespace") return StartNamespace(object);
  if (type.kind == "Service") return StartService(object, birth.random);
  if (type.kind == "Job") return StartJob(object);
  if (type.kind == "CustomResourceDefinition") {
    return StartCustomResourceDefinition(object, birth.now);
  }
  if (type.kind == "PersistentVolumeClaim" || type.kind == "PersistentVolume") {
    object.Set("status", Json::Object({{"phase", "Pending"}}));
  } else if (type.kind == "PodDisruptionBudget") {
    object.Set("status", Json::Object({{"disruptionsAllowed", 0},
                                       {"currentHealthy", 0},
                                       {"desiredHealthy", 0},
                                       {"expectedPods", 0}}));
  } else if (type.kind == "DaemonSet") {
    object.Set("status", Json::Object({{"currentNumberScheduled", 0},
                                       {"numberMisscheduled", 0},
                                       {"desiredNumberScheduled", 0},
                                       {"numberReady", 0}}));
  } else if (type.kind == "ReplicaSet" || type.kind == "ReplicationController") {
    object.Set("status", Json::Object({{"replicas", 0}}));
  } else if (type.kind == "StatefulSet") {
    object.Set("status", Json::Object({{"replicas", 0}, {"availableReplicas", 0}}));
  } else if (type.FindSubresource("status") != nullptr) {
    object.Set("status", Json::Object());
  }
}

}  // namespace maniple::devcluster
