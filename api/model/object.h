// The events of watches: one object of one kind, and its change.
#pragma once

#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "api/model/foreign.h"
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
  kVolumeAttachment,
};
inline constexpr int kResourceKinds = 17;
// Kinds of producers of gangs come after, by their place in the table of kinds.
[[nodiscard]] constexpr ResourceKind ForeignResource(size_t index) {
  return static_cast<ResourceKind>(kResourceKinds + index);
}
[[nodiscard]] constexpr bool IsForeign(ResourceKind kind) {
  return static_cast<size_t>(kind) >= size_t{kResourceKinds};
}
// REQUIRES: IsForeign(kind).
[[nodiscard]] constexpr size_t ForeignIndex(ResourceKind kind) {
  return static_cast<size_t>(kind) - kResourceKinds;
}
[[nodiscard]] absl::string_view ResourceKindName(ResourceKind kind);  // "Pod"
[[nodiscard]] bool IsNamespaced(ResourceKind kind);
// "/api/v1/pods", "/apis/scheduling.maniple.dev/v1alpha1/queues": the cluster-wide collection.
// REQUIRES: !IsForeign(kind).
[[nodiscard]] absl::string_view ResourceCollectionPath(ResourceKind kind);

// In the order of ResourceKind; the last one stands for all kinds of producers.
using Object = std::variant<Node, Pod, Namespace, PriorityClass, PodGroup, Queue, Cohort,
                            ResourceFlavor, Topology, PodDisruptionBudget, PersistentVolumeClaim,
                            PersistentVolume, StorageClass, CsiNode, CsiDriver, CsiStorageCapacity,
                            VolumeAttachment, ForeignObject>;
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
// The server holds an object that we cannot use. It replaces the older version that we knew.
struct ObjectInvalid {
  ObjectKey key;
  std::string uid;
  std::string problem;  // "spec.containers[0].resources.requests.cpu: …"
};
// The first full list of the kind has been delivered.
struct KindSynced {
  ResourceKind kind = ResourceKind::kPod;
};
// For a kind of producers only: whether its objects can be had now. Comes before the first of them,
// and again when its CRD, or the right to read it, goes or comes.
enum class ServedState : uint8_t { kServed, kNotInstalled, kForbidden };
struct KindServed {
  ResourceKind kind = ResourceKind::kPod;
  ServedState state = ServedState::kServed;
  std::string version;  // that is watched, "" unless served
};
using ObjectEvent =
    std::variant<ObjectUpserted, ObjectDeleted, ObjectInvalid, KindSynced, KindServed>;

}  // namespace maniple
