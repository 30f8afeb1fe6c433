#include "api/model/object.h"

#include "api/base/check.h"

namespace maniple {
namespace {

struct KindFacts {
  absl::string_view name;
  absl::string_view collection_path;
};

// In the order of ResourceKind.
constexpr KindFacts kFacts[kResourceKinds] = {
    {"Node", "/api/v1/nodes"},
    {"Pod", "/api/v1/pods"},
    {"Namespace", "/api/v1/namespaces"},
    {"PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses"},
    {"PodGroup", "/apis/scheduling.maniple.dev/v1alpha1/podgroups"},
    {"Queue", "/apis/scheduling.maniple.dev/v1alpha1/queues"},
    {"Cohort", "/apis/scheduling.maniple.dev/v1alpha1/cohorts"},
    {"ResourceFlavor", "/apis/scheduling.maniple.dev/v1alpha1/resourceflavors"},
    {"Topology", "/apis/scheduling.maniple.dev/v1alpha1/topologies"},
    {"PodDisruptionBudget", "/apis/policy/v1/poddisruptionbudgets"},
    {"PersistentVolumeClaim", "/api/v1/persistentvolumeclaims"},
    {"PersistentVolume", "/api/v1/persistentvolumes"},
    {"StorageClass", "/apis/storage.k8s.io/v1/storageclasses"},
    {"CSINode", "/apis/storage.k8s.io/v1/csinodes"},
    {"CSIDriver", "/apis/storage.k8s.io/v1/csidrivers"},
    {"CSIStorageCapacity", "/apis/storage.k8s.io/v1/csistoragecapacities"},
    {"VolumeAttachment", "/apis/storage.k8s.io/v1/volumeattachments"},
};
static_assert(std::variant_size_v<Object> == kResourceKinds + 1);

const KindFacts& FactsOf(ResourceKind kind) {
  const auto index = static_cast<size_t>(kind);
  CHECK_LT(index, size_t{kResourceKinds});
  return kFacts[index];
}

}  // namespace

absl::string_view ResourceKindName(ResourceKind kind) {
  return IsForeign(kind) ? "producer's object" : FactsOf(kind).name;
}

bool IsNamespaced(ResourceKind kind) {
  return kind == ResourceKind::kPod || kind == ResourceKind::kPodGroup ||
         kind == ResourceKind::kPodDisruptionBudget ||
         kind == ResourceKind::kPersistentVolumeClaim ||
         kind == ResourceKind::kCsiStorageCapacity || IsForeign(kind);
}

absl::string_view ResourceCollectionPath(ResourceKind kind) {
  return FactsOf(kind).collection_path;
}

ResourceKind KindOf(const Object& object) {
  const auto* foreign = std::get_if<ForeignObject>(&object);
  return static_cast<ResourceKind>(foreign != nullptr ? foreign->kind : object.index());
}

const ObjectMeta& MetaOf(const Object& object) {
  return std::visit([](const auto& value) -> const ObjectMeta& { return value.meta; }, object);
}

}  // namespace maniple
