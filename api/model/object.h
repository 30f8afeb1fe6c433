// What the watches deliver: one object of one kind, and what happened to it.
#pragma once

#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "api/model/maniple_types.h"
#include "api/model/model.h"
#include "api/model/storage.h"

namespace maniple {

enum class ResourceKind : uint8_t {
  kNode,
  kPod,
  kNamespace,
  kPriorityClass,
  kPodGroup,
  kQueue,
  kCohort,
  kResourceFlavor,
  kTopology,
  kPodDisruptionBudget,
  kPersistentVolumeClaim,
  kPersistentVolume,
  kStorageClass,
  kCsiNode,
  kCsiDriver,
  kCsiStorageCapacity,
};
inline constexpr int kResourceKinds = 16;
[[nodiscard]] absl::string_view ResourceKindName(ResourceKind kind);  // "Pod"
[[nodiscard]] bool IsNamespaced(ResourceKind kind);
// "/api/v1/pods", "/apis/scheduling.maniple.dev/v1alpha1/queues": the cluster-wide collection.
[[nodiscard]] absl::string_view ResourceCollectionPath(ResourceKind kind);

// In the order of ResourceKind.
using Object = std::variant<Node, Pod, Namespace, PriorityClass, PodGroup, Queue, Cohort,
                            ResourceFlavor, Topology, PodDisruptionBudget, PersistentVolumeClaim,
                            PersistentVolume, StorageClass, CsiNode, CsiDriver, CsiStorageCapacity>;
[[nodiscard]] ResourceKind KindOf(const Object& object);
[[nodiscard]] const ObjectMeta& MetaOf(const Object& object);

// Enough to name an object that is gone or could not be read.
struct ObjectKey {
  ResourceKind kind = ResourceKind::kPod;
  std::string namespace_name;
  std::string name;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ObjectKey& key) {
    return H::combine(std::move(h), key.kind, key.namespace_name, key.name);
  }
};

// ADDED and MODIFIED are one: handlers are upserts, identity is (key, uid).
struct ObjectUpserted {
  Object object;
};
struct ObjectDeleted {
  ObjectKey key;
  std::string uid;
};
// The server holds an object that we cannot use. It replaces what we knew of it.
struct ObjectInvalid {
  ObjectKey key;
  std::string uid;
  std::string problem;  // "spec.containers[0].resources.requests.cpu: …"
};
// The first full list of the kind has been delivered.
struct KindSynced {
  ResourceKind kind = ResourceKind::kPod;
};
using ObjectEvent = std::variant<ObjectUpserted, ObjectDeleted, ObjectInvalid, KindSynced>;

}  // namespace maniple
