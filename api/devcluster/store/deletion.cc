// DELETE: grace, finalizers, propagation; what becomes of namespaces and of the objects of a CRD.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/codec/kubernetes_time.h"
#include "api/devcluster/store/object_facts.h"
#include "api/devcluster/store/writes.h"

namespace maniple::devcluster {
namespace {

constexpr absl::string_view kOrphanFinalizer = "orphan";
constexpr absl::string_view kForegroundFinalizer = "foregroundDeletion";
constexpr absl::string_view kCrdFinalizer = "customresourcecleanup.apiextensions.k8s.io";
constexpr std::array<absl::string_view, 3> kImmortalNamespaces = {"default", "kube-public",
                                                                  "kube-system"};

bool IsCoreKind(const ResourceType& type, absl::string_view kind) {
  return type.group.empty() && type.kind == kind;
}

MaybeError CheckDeletable(const ResourceType& type, const Json& object,
                          const DeleteOptions& options) {
  const Json& metadata = object["metadata"];
  const std::string& name = metadata["name"].AsString();
  const std::string& uid = metadata["uid"].AsString();
  const std::string& version = metadata["resourceVersion"].AsString();
  if (IsCoreKind(type, "Namespace") &&
      std::find(kImmortalNamespaces.begin(), kImmortalNamespaces.end(), name) !=
          kImmortalNamespaces.end()) {
    return Forbidden(type, name, "this namespace may not be deleted");
  }
  std::string why;
  if (!options.uid_precondition.empty() && options.uid_precondition != uid) {
    why = absl::StrCat("the UID in the precondition (", options.uid_precondition,
                       ") does not match the UID in record (", uid,
                       "). The object might have been deleted and then recreated");
  } else if (!options.version_precondition.empty() && options.version_precondition != version) {
    why = absl::StrCat("the ResourceVersion in the precondition (", options.version_precondition,
                       ") does not match the ResourceVersion in record (", version,
                       "). The object might have been modified");
  }
  if (why.empty()) return std::nullopt;
  ApiError error = Conflict(type, name, why);
  // Kubernetes names the kind here, not the resource.
  error.kind = type.kind;
  const std::string qualified =
      type.group.empty() ? type.kind : absl::StrCat(type.kind, ".", type.group);
  error.message =
      absl::StrCat("Operation cannot be fulfilled on ", qualified, " \"", name, "\": ", why);
  return error;
}

// The finalizers by which the garbage collector knows what to do with the dependents.
void SetPropagation(const ResourceType& type, const DeleteOptions& options, Json& object) {
  Json kept = Json::Array();
  bool orphan = type.traits.orphans_by_default;
  bool foreground = false;
  for (const Json& finalizer : object["metadata"]["finalizers"].items()) {
    if (finalizer.AsString() == kOrphanFinalizer) {
      orphan = true;
    } else if (finalizer.AsString() == kForegroundFinalizer) {
      foreground = true;
    } else {
      kept.Append(finalizer);
    }
  }
  if (options.propagation.has_value()) {
    orphan = *options.propagation == Propagation::kOrphan;
    foreground = *options.propagation == Propagation::kForeground;
  }
  if (foreground) orphan = false;
  if (orphan) kept.Append(kOrphanFinalizer);
  if (foreground) kept.Append(kForegroundFinalizer);
  if (kept.size() > 0) {
    object.Mutable("metadata").Set("finalizers", std::move(kept));
  } else {
    object.Mutable("metadata").Erase("finalizers");
  }
}

// How long the pod's containers get, as the pod strategy decides it.
int64_t GraceOfPod(const Json& pod, const DeleteOptions& options) {
  if (pod["spec"]["nodeName"].AsString().empty() || HasEnded(pod)) return 0;
  const int64_t seconds = options.grace_seconds.has_value()
                              ? *options.grace_seconds
                              : pod["spec"]["terminationGracePeriodSeconds"].AsInt();
  return seconds < 0 ? 1 : seconds;
}

void MarkDeleting(Json& object, absl::Time when, int64_t grace) {
  Json& metadata = object.Mutable("metadata");
  if (!IsLeaving(object) && metadata["generation"].AsInt() > 0) {
    metadata.Set("generation", metadata["generation"].AsInt() + 1);
  }
  metadata.Set("deletionTimestamp", FormatKubernetesTime(when));
  metadata.Set("deletionGracePeriodSeconds", grace);
}

// A pod that is on its way already: its grace may only become shorter.
enum class Again { kAsItIs, kShortened, kNow };
Again DeleteAgain(Json& pod, const DeleteOptions& options, absl::Time now) {
  const Json& metadata = pod["metadata"];
  const int64_t grace = metadata["deletionGracePeriodSeconds"].AsInt();
  if (grace == 0) return Again::kNow;
  if (!options.grace_seconds.has_value()) return Again::kAsItIs;
  int64_t period = *options.grace_seconds < 0 ? 1 : *options.grace_seconds;
  if (period >= grace) return Again::kAsItIs;
  absl::Time due = ParseKubernetesTime(metadata["deletionTimestamp"].AsString()).value_or(now);
  due += absl::Seconds(period - grace);
  if (due < now) {
    due = now;
    if (period != 0) period = 1;
  }
  MarkDeleting(pod, due, period);
  return period == 0 ? Again::kNow : Again::kShortened;
}

class Deletion final {
 public:
  Deletion(const Cluster& cluster, const ResourceType& type, const DeleteOptions& options)
      : cluster_(cluster), type_(type), options_(options) {}

  ApiOr<Deleted> Run(const ObjectPtr& stored) {
    Json object = *stored;
    const bool gracefully_deleting = IsLeaving(object) && IsCoreKind(type_, "Pod");
    if (gracefully_deleting) return Repeat(stored, std::move(object));
    SetPropagation(type_, options_, object);
    if (IsCoreKind(type_, "Namespace")) return OfNamespace(stored, std::move(object));
    if (type_.kind == "CustomResourceDefinition" && type_.group == "apiextensions.k8s.io") {
      return OfCrd(std::move(object));
    }
    if (IsCoreKind(type_, "Pod")) {
      const int64_t grace = GraceOfPod(object, options_);
      MarkDeleting(object, cluster_.now + absl::Seconds(grace), grace);
      if (grace > 0) return Keep(std::move(object), Deleted::Outcome::kGraceful);
      return MarkAndRemove(std::move(object));
    }
    return RemoveUnlessHeld(std::move(object));
  }

 private:
  ApiOr<Deleted> Repeat(const ObjectPtr& stored, Json object) {
    switch (DeleteAgain(object, options_, cluster_.now)) {
      case Again::kAsItIs:
        return Deleted{stored, Deleted::Outcome::kGraceful};
      case Again::kShortened:
        return Keep(std::move(object), Deleted::Outcome::kGraceful);
      case Again::kNow:
        return MarkAndRemove(std::move(object));
    }
    return Deleted{stored, Deleted::Outcome::kGraceful};
  }

  // A pod is first seen to be deleted, and then gone, even when it gets no time.
  ApiOr<Deleted> MarkAndRemove(Json pod) {
    const bool held = pod["metadata"]["finalizers"].size() > 0;
    ApiOr<Deleted> marked = Keep(
        std::move(pod), held ? Deleted::Outcome::kHeldByFinalizers : Deleted::Outcome::kRemoved);
    if (!held && marked.ok() && options_.dry_run == DryRun::kNo) {
      cluster_.store.Erase(type_.storage, NameOf(*marked->object));
    }
    return marked;
  }

  ApiOr<Deleted> RemoveUnlessHeld(Json object) {
    if (object["metadata"]["finalizers"].size() > 0) {
      if (!IsLeaving(object)) {
        MarkDeleting(object, cluster_.now, 0);
      } else {
        object.Mutable("metadata").Set("deletionGracePeriodSeconds", 0);
      }
      return Keep(std::move(object), Deleted::Outcome::kHeldByFinalizers);
    }
    const ObjectName name = NameOf(object);
    ObjectPtr last(std::move(object));
    if (options_.dry_run == DryRun::kNo) cluster_.store.Erase(type_.storage, name);
    return Deleted{std::move(last), Deleted::Outcome::kRemoved};
  }

  ApiOr<Deleted> OfNamespace(const ObjectPtr& stored, Json ns) {
    if (IsLeaving(*stored)) {
      if (ns["spec"]["finalizers"].size() > 0) {
        return Deleted{stored, Deleted::Outcome::kHeldByFinalizers};
      }
      return RemoveUnlessHeld(std::move(ns));
    }
    ns.Mutable("metadata").Set("deletionTimestamp", FormatKubernetesTime(cluster_.now));
    ns.Mutable("status").Set("phase", "Terminating");
    return Keep(std::move(ns), Deleted::Outcome::kHeldByFinalizers);
  }

  // Its objects go first; those that finalizers hold keep the CRD, marked, until they are gone.
  ApiOr<Deleted> OfCrd(Json crd) {
    if (options_.dry_run == DryRun::kAll) return RemoveUnlessHeld(std::move(crd));
    const std::string name = crd["metadata"]["name"].AsString();
    const ResourceType* instances = nullptr;
    for (const ResourceType* type : cluster_.types.All()) {
      if (type->custom && type->group_resource() == name) instances = type;
    }
    if (instances != nullptr) {
      for (const ObjectPtr& instance : cluster_.store.List(instances->storage)) {
        (void)DeleteObject(cluster_, *instances, NameOf(*instance), {});
      }
      if (cluster_.store.Count(instances->storage) > 0) {
        if (!IsLeaving(crd)) {
          crd.Mutable("metadata").Mutable("finalizers").Append(kCrdFinalizer);
          MarkDeleting(crd, cluster_.now, 0);
        }
        return Keep(std::move(crd), Deleted::Outcome::kHeldByFinalizers);
      }
    }
    ApiOr<Deleted> gone = RemoveUnlessHeld(std::move(crd));
    if (gone.ok() && gone->outcome == Deleted::Outcome::kRemoved) {
      cluster_.types.RemoveCustom(name);
    }
    return gone;
  }

  ApiOr<Deleted> Keep(Json object, Deleted::Outcome outcome) {
    if (options_.dry_run == DryRun::kAll) {
      return Deleted{ObjectPtr(std::move(object)), outcome};
    }
    return Deleted{cluster_.store.Put(type_.storage, std::move(object)), outcome};
  }

  const Cluster& cluster_;
  const ResourceType& type_;
  const DeleteOptions& options_;
};

}  // namespace

void FinishDeletedCrds(const Cluster& cluster) {
  const ResourceType& crds =
      *cluster.types.Find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  if (cluster.store.Count(crds.storage) == 0) return;
  for (const ObjectPtr& crd : cluster.store.List(crds.storage)) {
    if (!IsLeaving(*crd)) continue;
    const StorageId storage = cluster.types.Storage((*crd)["spec"]["group"].AsString(),
                                                    (*crd)["spec"]["names"]["plural"].AsString());
    if (cluster.store.Count(storage) > 0) continue;
    const ObjectName name = NameOf(*crd);
    Json next = *crd;
    std::vector<Json> finalizers = next["metadata"]["finalizers"].items();
    std::erase_if(finalizers, [](const Json& item) { return item.AsString() == kCrdFinalizer; });
    if (!finalizers.empty()) continue;
    next.Mutable("metadata").Erase("finalizers");
    cluster.store.Put(crds.storage, std::move(next));
    cluster.store.Erase(crds.storage, name);
    cluster.types.RemoveCustom(name.name);
  }
}

ApiOr<Deleted> DeleteObject(const Cluster& cluster, const ResourceType& type,
                            const ObjectName& name, const DeleteOptions& options) {
  const ObjectPtr stored = cluster.store.Get(type.storage, name);
  if (stored == nullptr) return NotFound(type, name.name);
  API_RETURN_IF_ERROR(CheckDeletable(type, *stored, options));
  return Deletion(cluster, type, options).Run(stored);
}

}  // namespace maniple::devcluster
