#include "api/devcluster/store/writes.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/devcluster/store/event_form.h"
#include "api/devcluster/store/metadata.h"
#include "api/devcluster/store/object_defaults.h"
#include "api/devcluster/store/object_facts.h"
#include "api/devcluster/store/object_validation.h"
#include "api/devcluster/store/pod_admission.h"
#include "api/devcluster/types/quantity_form.h"
#include "api/devcluster/types/type_check.h"
#include "api/validation/schema.h"

namespace maniple::devcluster {
namespace {

constexpr int kNameAttempts = 8;
constexpr absl::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

bool IsCrd(const ResourceType& type) {
  return type.group == "apiextensions.k8s.io" && type.kind == "CustomResourceDefinition";
}

bool IsPod(const ResourceType& type) { return type.kind == "Pod" && !type.custom; }

// The admission plugin NamespaceLifecycle.
MaybeError CheckNamespaceAccepts(const Cluster& cluster, const ResourceType& type,
                                 const Json& object) {
  if (!type.namespaced()) return std::nullopt;
  const std::string& name = object["metadata"]["namespace"].AsString();
  const ResourceType* namespaces = cluster.types.Find("", "v1", "namespaces");
  const ObjectPtr ns = cluster.store.Get(namespaces->storage, {"", name});
  if (ns == nullptr) return NotFound(*namespaces, name);
  if (!IsLeaving(*ns)) return std::nullopt;
  ApiError error = Forbidden(type, object["metadata"]["name"].AsString(),
                             absl::StrCat("unable to create new content in namespace ", name,
                                          " because it is being terminated"));
  error.causes.push_back({.reason = "NamespaceTerminating",
                          .message = absl::StrCat("namespace ", name, " is being terminated"),
                          .field = "metadata.namespace"});
  return error;
}

// Only one PriorityClass may be the default.
MaybeError CheckOneDefaultPriority(const Cluster& cluster, const ResourceType& type,
                                   const Json& object) {
  if (type.kind != "PriorityClass" || !object["globalDefault"].AsBool()) return std::nullopt;
  const std::string& name = object["metadata"]["name"].AsString();
  for (const ObjectPtr& other : cluster.store.List(type.storage)) {
    const std::string& other_name = (*other)["metadata"]["name"].AsString();
    if (!(*other)["globalDefault"].AsBool() || other_name == name) continue;
    return Forbidden(type, name,
                     absl::StrCat("PriorityClass ", other_name,
                                  " is already marked as default. Only one default can exist"));
  }
  return std::nullopt;
}

void ApplyDefaults(const ResourceType& type, Json& object) {
  if (type.schema != nullptr) {
    type.schema->Prune(object);
    type.schema->Default(object);
  } else {
    CanonicalizeResources(type, object);
    DefaultObject(type, object);
  }
}

// The kind that errors name: an Event is one kind, whichever group shows it.
ApiError InvalidObject(const ResourceType& type, absl::string_view name,
                       std::vector<StatusCause> causes) {
  if (type.group != "events.k8s.io") return Invalid(type, name, std::move(causes));
  ResourceType event;
  event.kind = type.kind;
  return Invalid(event, name, std::move(causes));
}

// What a write to the status may not touch comes back from the old object.
Json WithStatusOf(const ResourceType& type, const Json& old_object, const Json& object) {
  Json next = old_object;
  if (const Json* status = object.Find("status"); status != nullptr) {
    next.Set("status", *status);
  } else {
    next.Erase("status");
  }
  if (type.custom) return next;
  // Built-in kinds let labels, annotations and finalizers through.
  for (const absl::string_view member : {"labels", "annotations", "finalizers"}) {
    if (const Json* value = object["metadata"].Find(member); value != nullptr) {
      next.Mutable("metadata").Set(member, *value);
    } else {
      next.Mutable("metadata").Erase(member);
    }
  }
  return next;
}

void KeepStatus(const ResourceType& type, const Json& old_object, Json& object) {
  if (type.FindSubresource("status") == nullptr) return;
  if (const Json* status = old_object.Find("status"); status != nullptr) {
    object.Set("status", *status);
  } else {
    object.Erase("status");
  }
}

// Whether what the user wants has changed: for custom kinds all but metadata and status.
bool WantChanged(const ResourceType& type, const Json& old_object, const Json& object) {
  if (!type.custom) return !(old_object["spec"] == object["spec"]);
  const bool ignores_status = type.FindSubresource("status") != nullptr;
  const auto covered = [&](const Json& from, const Json& to) {
    for (const auto& [name, value] : from.members()) {
      if (name == "metadata" || name == "apiVersion" || (ignores_status && name == "status")) {
        continue;
      }
      if (!(to[name] == value)) return false;
    }
    return true;
  };
  return !covered(old_object, object) || !covered(object, old_object);
}

MaybeError CheckPreconditions(const ResourceType& type, const Json& old_object,
                              const Json& object) {
  const Json& metadata = object["metadata"];
  const Json& old_metadata = old_object["metadata"];
  const std::string& name = old_metadata["name"].AsString();
  const std::string& uid = metadata["uid"].AsString();
  if (!uid.empty() && uid != old_metadata["uid"].AsString()) {
    return Conflict(type, name,
                    absl::StrCat("Precondition failed: UID in precondition: ", uid,
                                 ", UID in object meta: ", old_metadata["uid"].AsString()));
  }
  const std::string& version = metadata["resourceVersion"].AsString();
  if (version.empty() || version == "0") {
    if (type.traits.unconditional_update) return std::nullopt;
    ApiError error = Invalid(type, name,
                             {{.reason = "FieldValueInvalid",
                               .message = "Invalid value: 0: must be specified for an update",
                               .field = "metadata.resourceVersion"}});
    // Kubernetes names the resource here, not the kind.
    error.kind = type.plural;
    error.message =
        absl::StrCat(type.group_resource(), " \"", name,
                     "\" is invalid: ", "metadata.resourceVersion: ", error.causes[0].message);
    return error;
  }
  if (version != old_metadata["resourceVersion"].AsString()) {
    return Conflict(type, name, kModified);
  }
  return std::nullopt;
}

void KeepWhatAdmissionSet(const ResourceType& type, const Json& old_object, Json& object) {
  Json* spec = object.Find("spec");
  if (spec == nullptr || !spec->is_object()) return;
  const Json& old_spec = old_object["spec"];
  std::vector<absl::string_view> kept;
  if (type.kind == "Pod") {
    kept = {"priority", "preemptionPolicy"};
  } else if (type.kind == "Service") {
    kept = {"clusterIP", "clusterIPs"};
  } else if (type.kind == "Namespace") {
    kept = {"finalizers"};
  } else if (type.kind == "Job") {
    kept = {"selector"};
  }
  for (const absl::string_view member : kept) {
    if (spec->Has(member) || !old_spec.Has(member)) continue;
    spec->Set(member, old_spec[member]);
  }
}

bool IsLastWord(const Json& old_object, const Json& object) {
  const Json& grace = old_object["metadata"]["deletionGracePeriodSeconds"];
  return IsLeaving(old_object) && object["metadata"]["finalizers"].size() == 0 &&
         grace.AsInt() == 0;
}

// Namespaces also wait for their own list of finalizers.
bool IsHeldBySpec(const ResourceType& type, const Json& object) {
  return type.kind == "Namespace" && type.group.empty() && object["spec"]["finalizers"].size() > 0;
}

MaybeError CheckTypes(const ResourceType& type, const Json& object) {
  const std::string why = TypeProblem(type, object);
  if (why.empty()) return std::nullopt;
  return CannotBeHandled(type.version, type.kind, why);
}

ApiOr<ObjectPtr> CreateOnce(const Cluster& cluster, const ResourceType& type, Json object,
                            const WriteOptions& options) {
  StartMetadata(cluster, type, object);
  ApplyDefaults(type, object);
  if (IsPod(type)) API_RETURN_IF_ERROR(AdmitNewPod(cluster, type, object));
  API_RETURN_IF_ERROR(CheckOneDefaultPriority(cluster, type, object));
  StartObject(type, object, {.now = cluster.now, .random = cluster.random});
  if (type.schema != nullptr) type.schema->Default(object);

  DropEmptyMetadata(object);
  const ObjectName name = NameOf(object);
  std::vector<StatusCause> causes;
  ValidateNewMetadata(type, object, causes);
  ValidateNewObject(type, object, causes);
  if (!causes.empty()) return InvalidObject(type, name.name, std::move(causes));

  if (const ObjectPtr existing = cluster.store.Get(type.storage, name); existing != nullptr) {
    ApiError error = AlreadyExists(type, name.name);
    if (IsLeaving(*existing)) {
      error.message = absl::StrCat("object is being deleted: ", error.message);
    }
    return error;
  }
  if (options.dry_run == DryRun::kAll) return ObjectPtr(std::move(object));
  if (IsCrd(type)) API_RETURN_IF_ERROR(cluster.types.DefineCustom(object));
  return cluster.store.Put(type.storage, std::move(object));
}

}  // namespace

ApiOr<ObjectPtr> CreateObject(const Cluster& cluster, const ResourceType& type, Json object,
                              const WriteOptions& options) {
  CHECK(type.storage.valid());
  if (!object["metadata"].is_object()) object.Set("metadata", Json::Object());
  if (!object.Has("apiVersion")) object.Set("apiVersion", type.api_version());
  if (!object.Has("kind")) object.Set("kind", type.kind);
  API_RETURN_IF_ERROR(CheckTypes(type, object));
  object = StoredForm(type, std::move(object));
  const Json& metadata = object["metadata"];
  API_RETURN_IF_ERROR(CheckNamespaceAccepts(cluster, type, object));
  if (const std::string& version = metadata["resourceVersion"].AsString();
      !version.empty() && version != "0") {
    return ApiError{.code = 500,
                    .message = "resourceVersion should not be set on objects to be created"};
  }
  const bool generated =
      metadata["name"].AsString().empty() && !metadata["generateName"].AsString().empty();
  for (int attempt = 1; generated; ++attempt) {
    ApiOr<ObjectPtr> made = CreateOnce(cluster, type, object, options);
    if (made.ok() || made.error().reason != "AlreadyExists" || attempt == kNameAttempts) {
      return made;
    }
  }
  return CreateOnce(cluster, type, std::move(object), options);
}

ApiOr<ObjectPtr> UpdateObject(const Cluster& cluster, const ResourceType& type, Json object,
                              WritePart part, const WriteOptions& options) {
  CHECK(type.storage.valid());
  API_RETURN_IF_ERROR(CheckTypes(type, object));
  object = StoredForm(type, std::move(object));
  const ObjectName name = NameOf(object);
  const ObjectPtr old_object = cluster.store.Get(type.storage, name);
  if (old_object == nullptr) return NotFound(type, name.name);
  API_RETURN_IF_ERROR(CheckPreconditions(type, *old_object, object));
  if (part == WritePart::kMain) ApplyDefaults(type, object);
  if (part == WritePart::kStatus) {
    object = WithStatusOf(type, *old_object, object);
    if (type.schema != nullptr) ApplyDefaults(type, object);
    CanonicalizeResources(type, object);
  } else {
    KeepStatus(type, *old_object, object);
    KeepWhatAdmissionSet(type, *old_object, object);
    if (IsPod(type)) AdmitPodChange(object);
  }
  KeepMetadata(*old_object, object);
  DropEmptyMetadata(object);
  if (part == WritePart::kMain) {
    API_RETURN_IF_ERROR(CheckOneDefaultPriority(cluster, type, object));
  }
  std::vector<StatusCause> causes;
  ValidateMetadataChange(type, *old_object, object, causes);
  ValidateObjectChange(type, *old_object, object, part, causes);
  if (!causes.empty()) return InvalidObject(type, name.name, std::move(causes));

  if (part == WritePart::kMain && type.traits.counts_generation &&
      WantChanged(type, *old_object, object)) {
    Json& metadata = object.Mutable("metadata");
    metadata.Set("generation", metadata["generation"].AsInt() + 1);
  }
  if (options.dry_run == DryRun::kAll) return ObjectPtr(std::move(object));
  if (IsCrd(type) && part == WritePart::kMain && !(object["spec"] == (*old_object)["spec"])) {
    API_RETURN_IF_ERROR(cluster.types.DefineCustom(object));
  }
  const bool last_word = IsLastWord(*old_object, object) && !IsHeldBySpec(type, object);
  ObjectPtr stored = cluster.store.Put(type.storage, std::move(object));
  if (last_word) {
    cluster.store.Erase(type.storage, name);
    if (IsCrd(type)) cluster.types.RemoveCustom(name.name);
  }
  return stored;
}

ApiOr<ObjectPtr> FinalizeNamespace(const Cluster& cluster, const Json& ns) {
  const ResourceType* namespaces = cluster.types.Find("", "v1", "namespaces");
  const ObjectName name{"", ns["metadata"]["name"].AsString()};
  const ObjectPtr old_object = cluster.store.Get(namespaces->storage, name);
  if (old_object == nullptr) return NotFound(*namespaces, name.name);
  API_RETURN_IF_ERROR(CheckPreconditions(*namespaces, *old_object, ns));
  Json next = *old_object;
  if (ns["spec"]["finalizers"].size() > 0) {
    next.Mutable("spec").Set("finalizers", ns["spec"]["finalizers"]);
  } else {
    next.Set("spec", Json::Object());
  }
  const bool gone = IsLeaving(next) && next["spec"]["finalizers"].size() == 0 &&
                    next["metadata"]["finalizers"].size() == 0;
  ObjectPtr stored = cluster.store.Put(namespaces->storage, std::move(next));
  if (gone) cluster.store.Erase(namespaces->storage, name);
  return stored;
}

ApiOr<ObjectPtr> RestoreObject(const Cluster& cluster, const ResourceType& type, Json object) {
  API_RETURN_IF_ERROR(CheckTypes(type, object));
  const ObjectName name = NameOf(object);
  if (name.name.empty() || (type.namespaced() && name.namespace_name.empty())) {
    return BadRequest("a snapshot's object must have its name and namespace");
  }
  if (IsCrd(type)) API_RETURN_IF_ERROR(cluster.types.DefineCustom(object));
  return cluster.store.Put(type.storage, StoredForm(type, std::move(object)));
}

void CreateBuiltinObjects(const Cluster& cluster) {
  const auto create = [&](absl::string_view group, absl::string_view plural, Json object) {
    const ResourceType* type = cluster.types.Find(group, "v1", plural);
    const ApiOr<ObjectPtr> made = CreateObject(cluster, *type, std::move(object), {});
    CHECK(made.ok() || made.error().reason == "AlreadyExists") << plural;
  };
  for (const absl::string_view name :
       {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    create("", "namespaces", Json::Object({{"metadata", Json::Object({{"name", Json(name)}})}}));
  }
  const auto priority_class = [&](absl::string_view name, int64_t value,
                                  absl::string_view description) {
    create("scheduling.k8s.io", "priorityclasses",
           Json::Object({{"metadata", Json::Object({{"name", Json(name)}})},
                         {"value", Json(value)},
                         {"description", Json(description)}}));
  };
  priority_class("system-cluster-critical", 2'000'000'000,
                 "Used for system critical pods that must run in the cluster, but can be moved to "
                 "another node if necessary.");
  priority_class("system-node-critical", 2'000'001'000,
                 "Used for system critical pods that must not be moved from their current node.");
}

}  // namespace maniple::devcluster
