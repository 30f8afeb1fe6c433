// The table of built-in types, in the order in which discovery names them.
#include <algorithm>
#include <initializer_list>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/devcluster/types/type_registry.h"

namespace maniple::devcluster {
namespace {

// Which subresources a type has besides its objects.
enum class Parts { kNone, kStatus, kStatusAndScale };

struct Row {
  const char* group;
  const char* version;
  const char* kind;
  const char* plural;
  const char* short_names;  // comma separated
  const char* categories;
  Scope scope;
  Parts parts;
};

constexpr Scope kCluster = Scope::kCluster;
constexpr Scope kNamespaced = Scope::kNamespaced;

constexpr Row kRows[] = {
    {"", "v1", "ConfigMap", "configmaps", "cm", "", kNamespaced, Parts::kNone},
    {"", "v1", "Endpoints", "endpoints", "ep", "", kNamespaced, Parts::kNone},
    {"", "v1", "Event", "events", "ev", "", kNamespaced, Parts::kNone},
    {"", "v1", "LimitRange", "limitranges", "limits", "", kNamespaced, Parts::kNone},
    {"", "v1", "Namespace", "namespaces", "ns", "", kCluster, Parts::kStatus},
    {"", "v1", "Node", "nodes", "no", "", kCluster, Parts::kStatus},
    {"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc", "", kNamespaced,
     Parts::kStatus},
    {"", "v1", "PersistentVolume", "persistentvolumes", "pv", "", kCluster, Parts::kStatus},
    {"", "v1", "Pod", "pods", "po", "all", kNamespaced, Parts::kStatus},
    {"", "v1", "PodTemplate", "podtemplates", "", "", kNamespaced, Parts::kNone},
    {"", "v1", "ReplicationController", "replicationcontrollers", "rc", "all", kNamespaced,
     Parts::kStatusAndScale},
    {"", "v1", "ResourceQuota", "resourcequotas", "quota", "", kNamespaced, Parts::kStatus},
    {"", "v1", "Secret", "secrets", "", "", kNamespaced, Parts::kNone},
    {"", "v1", "ServiceAccount", "serviceaccounts", "sa", "", kNamespaced, Parts::kNone},
    {"", "v1", "Service", "services", "svc", "all", kNamespaced, Parts::kStatus},
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
     "crd,crds", "api-extensions", kCluster, Parts::kStatus},
    {"apps", "v1", "DaemonSet", "daemonsets", "ds", "all", kNamespaced, Parts::kStatus},
    {"apps", "v1", "Deployment", "deployments", "deploy", "all", kNamespaced,
     Parts::kStatusAndScale},
    {"apps", "v1", "ReplicaSet", "replicasets", "rs", "all", kNamespaced, Parts::kStatusAndScale},
    {"apps", "v1", "StatefulSet", "statefulsets", "sts", "all", kNamespaced,
     Parts::kStatusAndScale},
    {"events.k8s.io", "v1", "Event", "events", "ev", "", kNamespaced, Parts::kNone},
    {"batch", "v1", "CronJob", "cronjobs", "cj", "all", kNamespaced, Parts::kStatus},
    {"batch", "v1", "Job", "jobs", "", "all", kNamespaced, Parts::kStatus},
    {"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "pdb", "", kNamespaced,
     Parts::kStatus},
    {"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", "", "",
     kCluster, Parts::kNone},
    {"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", "", "", kCluster,
     Parts::kNone},
    {"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", "", "", kNamespaced,
     Parts::kNone},
    {"rbac.authorization.k8s.io", "v1", "Role", "roles", "", "", kNamespaced, Parts::kNone},
    {"storage.k8s.io", "v1", "CSIDriver", "csidrivers", "", "", kCluster, Parts::kNone},
    {"storage.k8s.io", "v1", "CSINode", "csinodes", "", "", kCluster, Parts::kNone},
    {"storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", "", "", kNamespaced,
     Parts::kNone},
    {"storage.k8s.io", "v1", "StorageClass", "storageclasses", "sc", "", kCluster, Parts::kNone},
    {"storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", "", "", kCluster,
     Parts::kStatus},
    {"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "pc", "", kCluster,
     Parts::kNone},
    {"coordination.k8s.io", "v1", "Lease", "leases", "", "", kNamespaced, Parts::kNone},
    {"node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", "", "", kCluster, Parts::kNone},
};

// Kinds that are asked and answered, never stored.
constexpr Row kReviews[] = {
    {"authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", "", "", kCluster,
     Parts::kNone},
    {"authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", "", "",
     kCluster, Parts::kNone},
    {"authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", "", "",
     kCluster, Parts::kNone},
    {"authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", "", "", kCluster,
     Parts::kNone},
    {"", "v1", "Binding", "bindings", "", "", kNamespaced, Parts::kNone},
};

struct Fields {
  const char* group;
  const char* kind;
  std::vector<std::string> paths;
};

const std::vector<Fields>& SelectableFields() {
  static const auto& fields = *new std::vector<Fields>{
      {"",
       "Pod",
       {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
        "spec.hostNetwork", "status.phase", "status.podIP", "status.podIPs",
        "status.nominatedNodeName"}},
      {"", "Node", {"spec.unschedulable"}},
      {"", "Namespace", {"status.phase"}},
      {"", "Secret", {"type"}},
      {"", "Service", {"spec.clusterIP", "spec.type"}},
      {"", "ReplicationController", {"status.replicas"}},
      {"apps", "ReplicaSet", {"status.replicas"}},
      {"batch", "Job", {"status.successful"}},
      {"",
       "Event",
       {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
        "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion",
        "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type"}},
      {"events.k8s.io",
       "Event",
       {"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid",
        "regarding.apiVersion", "regarding.resourceVersion", "regarding.fieldPath", "reason",
        "reportingController", "type"}},
  };
  return fields;
}

bool IsOneOf(absl::string_view kind, std::initializer_list<absl::string_view> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

WriteTraits TraitsOf(const ResourceType& type) {
  const std::string& kind = type.kind;
  WriteTraits traits;
  traits.counts_generation =
      IsOneOf(kind, {"Pod", "PodDisruptionBudget", "DaemonSet", "Deployment", "ReplicaSet",
                     "StatefulSet", "Job", "CronJob", "ReplicationController", "PriorityClass",
                     "CustomResourceDefinition"});
  traits.unconditional_update = !IsOneOf(
      kind, {"RuntimeClass", "PodDisruptionBudget", "CSIDriver", "CSINode", "CSIStorageCapacity",
             "VolumeAttachment", "Lease", "CustomResourceDefinition"});
  traits.create_on_update =
      IsOneOf(kind, {"RuntimeClass", "RoleBinding", "ClusterRoleBinding", "Role", "ClusterRole",
                     "Lease", "LimitRange", "Event", "Service", "Endpoints"});
  traits.returns_deleted_object =
      IsOneOf(kind, {"CSIDriver", "StorageClass", "VolumeAttachment", "CSINode", "ResourceQuota",
                     "PersistentVolume", "PersistentVolumeClaim", "ServiceAccount", "Namespace",
                     "Pod", "Service"});
  traits.orphans_by_default = IsOneOf(kind, {"Job", "ReplicationController"});
  return traits;
}

std::vector<std::string> Words(absl::string_view comma_separated) {
  return absl::StrSplit(comma_separated, ',', absl::SkipEmpty());
}

ResourceType TypeOf(const Row& row) {
  ResourceType type;
  type.group = row.group;
  type.version = row.version;
  type.kind = row.kind;
  type.list_kind = absl::StrCat(row.kind, "List");
  type.plural = row.plural;
  type.singular = absl::AsciiStrToLower(row.kind);
  type.short_names = Words(row.short_names);
  type.categories = Words(row.categories);
  type.scope = row.scope;
  type.verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  type.traits = TraitsOf(type);
  const std::vector<std::string> read_and_write = {"get", "patch", "update"};
  if (row.parts == Parts::kStatusAndScale) {
    type.subresources.push_back({"scale", "autoscaling", "v1", "Scale", read_and_write});
  }
  if (row.parts != Parts::kNone) {
    type.subresources.push_back({"status", type.group, type.version, type.kind, read_and_write});
  }
  for (const Fields& fields : SelectableFields()) {
    if (type.group == fields.group && type.kind == fields.kind) {
      type.selectable_fields = fields.paths;
    }
  }
  return type;
}

void AddSpecialSubresources(ResourceType& type) {
  if (!type.group.empty()) return;
  if (type.kind == "Pod") {
    type.subresources.push_back({"binding", "", "v1", "Binding", {"create"}});
    type.subresources.push_back({"eviction", "policy", "v1", "Eviction", {"create"}});
    type.subresources.push_back({"log", "", "v1", "Pod", {"get"}});
  } else if (type.kind == "Namespace") {
    type.subresources.push_back({"finalize", "", "v1", "Namespace", {"update"}});
    std::erase(type.verbs, "deletecollection");
  }
}

}  // namespace

std::vector<ResourceType> BuiltinTypes() {
  std::vector<ResourceType> types;
  for (const Row& row : kRows) {
    types.push_back(TypeOf(row));
    AddSpecialSubresources(types.back());
  }
  for (const Row& row : kReviews) {
    types.push_back(TypeOf(row));
    types.back().verbs = {"create"};
  }
  return types;
}

}  // namespace maniple::devcluster
