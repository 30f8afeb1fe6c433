// Writes with the whole meaning of the Kubernetes API: admission, defaults, validation, versions,
// finalizers, graceful deletion. What the HTTP paths, the loader and the controllers call.
//
// Functions of a Cluster (borrowed for the call); one thread.
//
//   ApiOr<ObjectPtr> made = CreateObject(cluster, *type, std::move(pod), {});
//   ApiOr<Deleted> gone = DeleteObject(cluster, *type, {"default", "web-0"}, {.grace_seconds = 0});
#pragma once

#include <optional>
#include <string>

#include "api/codec/json.h"
#include "api/devcluster/store/cluster.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/store/write_part.h"
#include "api/devcluster/types/api_error.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

enum class DryRun { kNo, kAll };

struct WriteOptions {
  DryRun dry_run = DryRun::kNo;
};

// The object as stored. `object` needs no metadata but a name or generateName (and a namespace).
// (A CustomResourceDefinition is served as soon as it is stored.)
ApiOr<ObjectPtr> CreateObject(const Cluster& cluster, const ResourceType& type, Json object,
                              const WriteOptions& options);

// PUT: replaces the main part or the status of an existing object; metadata.resourceVersion and
// metadata.uid in `object` are preconditions when set.
// When the last finalizer of a deleted object goes, so does the object.
ApiOr<ObjectPtr> UpdateObject(const Cluster& cluster, const ResourceType& type, Json object,
                              WritePart part, const WriteOptions& options);

enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::optional<int64_t> grace_seconds = {};  // absent: the object's own
  std::string uid_precondition = {};
  std::string version_precondition = {};
  std::optional<Propagation> propagation = {};
  DryRun dry_run = DryRun::kNo;
};

struct Deleted {
  ObjectPtr object;  // the state after the call; of a removed object its last one
  enum class Outcome { kRemoved, kGraceful, kHeldByFinalizers } outcome = Outcome::kRemoved;
};

// DELETE. A bound, running pod only gets its deletionTimestamp; call again with grace 0 (as the
// kubelet does) to let it go. Finalizers hold any object.
ApiOr<Deleted> DeleteObject(const Cluster& cluster, const ResourceType& type,
                            const ObjectName& name, const DeleteOptions& options);

// Removes the deleted CustomResourceDefinitions whose last object is gone.
void FinishDeletedCrds(const Cluster& cluster);

// PUT of namespaces/finalize: spec.finalizers are replaced; a deleted namespace without any leaves.
ApiOr<ObjectPtr> FinalizeNamespace(const Cluster& cluster, const Json& ns);

// Puts back an object as a snapshot has it: uid, times and status included, nothing defaulted.
ApiOr<ObjectPtr> RestoreObject(const Cluster& cluster, const ResourceType& type, Json object);

// The namespaces and priority classes that every cluster has. Nothing is changed that exists.
void CreateBuiltinObjects(const Cluster& cluster);

}  // namespace maniple::devcluster
