#include "api/model/storage.h"

#include <algorithm>

namespace maniple {

bool Collide(const Disk& a, const Disk& b) {
  if (a.kind != b.kind || a.name != b.name) return false;
  switch (a.kind) {
    case DiskKind::kAwsElasticBlockStore:
      return true;
    case DiskKind::kGcePersistentDisk:
    case DiskKind::kIscsi:
      return !(a.read_only && b.read_only);
    case DiskKind::kRbd:
      return a.pool == b.pool && !(a.read_only && b.read_only) &&
             std::any_of(a.monitors.begin(), a.monitors.end(), [&b](const std::string& monitor) {
               return std::binary_search(b.monitors.begin(), b.monitors.end(), monitor);
             });
  }
  return false;
}

SharedVolumeNeeds::SharedVolumeNeeds(VolumeNeeds needs)
    : needs_(needs == VolumeNeeds() ? nullptr
                                    : std::make_shared<const VolumeNeeds>(std::move(needs))) {}

std::strong_ordering operator<=>(const SharedVolumeNeeds& a, const SharedVolumeNeeds& b) {
  if (a.needs_ == b.needs_) return std::strong_ordering::equal;
  if (a.needs_ == nullptr) return std::strong_ordering::less;
  if (b.needs_ == nullptr) return std::strong_ordering::greater;
  return *a.needs_ <=> *b.needs_;
}

bool RefersTo(const ClaimReference& reference, const PersistentVolumeClaim& claim) {
  return reference.namespace_name == claim.meta.namespace_name &&
         reference.name == claim.meta.name &&
         (reference.uid.empty() || reference.uid == claim.meta.uid);
}

}  // namespace maniple
