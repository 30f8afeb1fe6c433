#include "api/devcluster/controllers/garbage.h"

#include <algorithm>

#include "api/base/log.h"
#include "api/devcluster/store/object_facts.h"

namespace maniple::devcluster {
namespace {

constexpr const char* kForeground = "foregroundDeletion";
constexpr const char* kOrphan = "orphan";

const std::vector<Json>& OwnersOf(const Json& object) {
  return object["metadata"]["ownerReferences"].items();
}

bool HasFinalizer(const Json& object, absl::string_view finalizer) {
  const std::vector<Json>& all = object["metadata"]["finalizers"].items();
  return std::any_of(all.begin(), all.end(),
                     [&](const Json& item) { return item.AsString() == finalizer; });
}

// Whether the owner of a reference is there. One of an unknown type may be: nothing is deleted on a
// guess.
bool MayExist(const Cluster& cluster, const Json& reference, const std::string& space) {
  const ResourceType* type =
      cluster.types.FindByKind(reference["apiVersion"].AsString(), reference["kind"].AsString());
  if (type == nullptr) return true;
  const ObjectPtr owner = cluster.store.Get(
      type->storage, {type->namespaced() ? space : "", reference["name"].AsString()});
  return owner != nullptr && UidOf(*owner) == reference["uid"].AsString();
}

void Report(const ObjectName& name, const ApiError& error) {
  LOG(WARNING) << "garbage collector: " << name.namespace_name << "/" << name.name << ": "
               << error.message;
}

// The object without those entries of a list of its metadata that `gone` names.
template <typename Gone>
Json Without(const Json& object, absl::string_view list, Gone gone) {
  Json next = object;
  Json& entries = next.Mutable("metadata").Mutable(list);
  std::vector<Json>& items = entries.mutable_items();
  items.erase(std::remove_if(items.begin(), items.end(), gone), items.end());
  if (items.empty()) next.Mutable("metadata").Erase(list);
  return next;
}

void Update(const Cluster& cluster, StorageId storage, const ObjectName& name, Json object) {
  const ResourceType* type = cluster.types.OfStorage(storage);
  if (type == nullptr) return;
  const ApiOr<ObjectPtr> updated =
      UpdateObject(cluster, *type, std::move(object), WritePart::kMain, {});
  if (!updated.ok()) Report(name, updated.error());
}

}  // namespace

void GarbageCollector::OnChange(const Change& change) {
  const Place place{change.storage, change.name};
  if (change.previous != nullptr) {
    for (const Json& owner : OwnersOf(*change.previous)) {
      const auto found = dependents_.find(owner["uid"].AsString());
      if (found == dependents_.end()) continue;
      found->second.erase(place);
      if (found->second.empty()) dependents_.erase(found);
    }
  }
  if (change.kind != ChangeKind::kDeleted && !OwnersOf(*change.object).empty()) {
    for (const Json& owner : OwnersOf(*change.object)) {
      dependents_[owner["uid"].AsString()].insert(place);
    }
    if (change.kind == ChangeKind::kAdded ||
        !(OwnersOf(*change.object) == OwnersOf(*change.previous))) {
      noted_dependents_.insert(place);
    }
  }
  if (change.kind == ChangeKind::kDeleted) {
    for (const Place& dependent : DependentsOf(UidOf(*change.object))) {
      noted_dependents_.insert(dependent);
    }
    for (const Json& owner : OwnersOf(*change.object)) {
      const auto waiting = leaving_owners_.find(owner["uid"].AsString());
      if (waiting != leaving_owners_.end()) noted_owners_.insert(waiting->second);
    }
    leaving_owners_.erase(UidOf(*change.object));
  } else if (IsLeaving(*change.object) &&
             (HasFinalizer(*change.object, kForeground) || HasFinalizer(*change.object, kOrphan))) {
    leaving_owners_[UidOf(*change.object)] = place;
    noted_owners_.insert(place);
  }
}

absl::Time GarbageCollector::NextDeadline() const {
  return noted_dependents_.empty() && noted_owners_.empty() ? absl::InfiniteFuture()
                                                            : absl::InfinitePast();
}

void GarbageCollector::OnTime(const Cluster& cluster) {
  for (const Place& place : std::exchange(noted_dependents_, {})) LookAtDependent(cluster, place);
  for (const Place& place : std::exchange(noted_owners_, {})) LookAtLeavingOwner(cluster, place);
}

std::vector<GarbageCollector::Place> GarbageCollector::DependentsOf(
    const std::string& owner_uid) const {
  const auto found = dependents_.find(owner_uid);
  if (found == dependents_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

void GarbageCollector::LookAtDependent(const Cluster& cluster, const Place& place) {
  const ObjectPtr object = cluster.store.Get(place.storage, place.name);
  const ResourceType* type = cluster.types.OfStorage(place.storage);
  if (object == nullptr || type == nullptr || IsLeaving(*object)) return;
  const std::vector<Json>& owners = OwnersOf(*object);
  const auto exists = [&](const Json& owner) {
    return MayExist(cluster, owner, place.name.namespace_name);
  };
  const size_t there = std::count_if(owners.begin(), owners.end(), exists);
  if (there == owners.size()) return;
  if (there > 0) {
    return Update(
        cluster, place.storage, place.name,
        Without(*object, "ownerReferences", [&](const Json& owner) { return !exists(owner); }));
  }
  const ApiOr<Deleted> deleted =
      DeleteObject(cluster, *type, place.name,
                   {.uid_precondition = UidOf(*object), .propagation = Propagation::kBackground});
  if (!deleted.ok()) Report(place.name, deleted.error());
}

void GarbageCollector::LookAtLeavingOwner(const Cluster& cluster, const Place& place) {
  const ObjectPtr owner = cluster.store.Get(place.storage, place.name);
  if (owner == nullptr || !IsLeaving(*owner)) return;
  const char* const finalizer = HasFinalizer(*owner, kOrphan) ? kOrphan : kForeground;
  if (finalizer == kOrphan) {
    OrphanDependents(cluster, UidOf(*owner));
  } else if (DeleteDependents(cluster, UidOf(*owner))) {
    return;  // heard of again when they are gone
  }
  const ObjectPtr now = cluster.store.Get(place.storage, place.name);
  if (now == nullptr || !HasFinalizer(*now, finalizer)) return;
  Update(cluster, place.storage, place.name, Without(*now, "finalizers", [&](const Json& item) {
           return item.AsString() == finalizer;
         }));
}

// True while one is left that blocks its owner.
bool GarbageCollector::DeleteDependents(const Cluster& cluster, const std::string& owner_uid) {
  bool blocked = false;
  for (const Place& place : DependentsOf(owner_uid)) {
    const ObjectPtr object = cluster.store.Get(place.storage, place.name);
    const ResourceType* type = cluster.types.OfStorage(place.storage);
    if (object == nullptr || type == nullptr) continue;
    if (!IsLeaving(*object)) {
      const ApiOr<Deleted> deleted = DeleteObject(
          cluster, *type, place.name,
          {.uid_precondition = UidOf(*object), .propagation = Propagation::kForeground});
      if (!deleted.ok()) Report(place.name, deleted.error());
    }
    if (cluster.store.Get(place.storage, place.name) == nullptr) continue;
    for (const Json& owner : OwnersOf(*object)) {
      blocked =
          blocked || (owner["uid"].AsString() == owner_uid && owner["blockOwnerDeletion"].AsBool());
    }
  }
  return blocked;
}

void GarbageCollector::OrphanDependents(const Cluster& cluster, const std::string& owner_uid) {
  for (const Place& place : DependentsOf(owner_uid)) {
    const ObjectPtr object = cluster.store.Get(place.storage, place.name);
    if (object == nullptr) continue;
    Update(cluster, place.storage, place.name,
           Without(*object, "ownerReferences",
                   [&](const Json& owner) { return owner["uid"].AsString() == owner_uid; }));
  }
}

}  // namespace maniple::devcluster
