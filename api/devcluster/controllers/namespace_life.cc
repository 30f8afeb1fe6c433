#include "api/devcluster/controllers/namespace_life.h"

#include <utility>

#include "api/base/log.h"
#include "api/devcluster/store/object_facts.h"

namespace maniple::devcluster {

NamespaceLife::NamespaceLife(const TypeRegistry& types)
    : namespaces_storage_(types.Storage("", "namespaces")) {}

void NamespaceLife::OnChange(const Change& change) {
  if (change.storage == namespaces_storage_) {
    const std::string& space = change.name.name;
    if (change.kind == ChangeKind::kDeleted) {
      ending_.erase(space);
      noted_.erase(space);
    } else if ((*change.object)["metadata"].Has("deletionTimestamp")) {
      ending_.insert(space);
      noted_.insert(space);
    }
    return;
  }
  if (change.kind == ChangeKind::kDeleted && ending_.count(change.name.namespace_name) > 0) {
    noted_.insert(change.name.namespace_name);
  }
}

absl::Time NamespaceLife::NextDeadline() const {
  return noted_.empty() ? absl::InfiniteFuture() : absl::InfinitePast();
}

void NamespaceLife::OnTime(const Cluster& cluster) {
  for (const std::string& space : std::exchange(noted_, {})) End(cluster, space);
}

void NamespaceLife::End(const Cluster& cluster, const std::string& space) {
  const ObjectPtr object = cluster.store.Get(namespaces_storage_, {"", space});
  if (object == nullptr || !IsLeaving(*object)) return;
  bool empty = true;
  for (size_t i = 0; i < cluster.types.storages(); ++i) {
    const StorageId storage(static_cast<uint32_t>(i));
    const ResourceType* type = cluster.types.OfStorage(storage);
    if (type == nullptr || !type->namespaced()) continue;
    for (const ObjectPtr& content : cluster.store.List(storage, space)) {
      if (!IsLeaving(*content)) {
        const ApiOr<Deleted> deleted = DeleteObject(cluster, *type, NameOf(*content),
                                                    {.propagation = Propagation::kBackground});
        if (!deleted.ok()) {
          LOG(WARNING) << "namespace " << space << ": " << deleted.error().message;
        }
      }
      empty = empty && cluster.store.Get(storage, NameOf(*content)) == nullptr;
    }
  }
  if (!empty) return;
  // Finalized: what still holds it are finalizers of others.
  if ((*object)["spec"]["finalizers"].size() > 0) {
    Json next = *object;
    next.Mutable("spec").Set("finalizers", Json::Array());
    cluster.store.Put(namespaces_storage_, std::move(next));
  }
  const ResourceType* type = cluster.types.OfStorage(namespaces_storage_);
  const ApiOr<Deleted> gone = DeleteObject(
      cluster, *type, {"", space}, {.uid_precondition = (*object)["metadata"]["uid"].AsString()});
  if (!gone.ok()) LOG(WARNING) << "namespace " << space << ": " << gone.error().message;
}

}  // namespace maniple::devcluster
