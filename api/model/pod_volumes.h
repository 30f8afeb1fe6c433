// The volumes of a pod's spec that bear on where it may run, and the needs that
// the state derives from them.
//
// Plain values. Other mounts of a pod (config maps, empty directories,
// network file systems) tie it to no node and are not kept.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace maniple {

// A claim that the pod mounts.
struct ClaimUse {
  std::string claim;       // of the pod's namespace
  bool ephemeral = false;  // generic ephemeral: "<pod>-<volume>", and it must belong to the pod
  friend auto operator<=>(const ClaimUse&, const ClaimUse&) = default;
};

enum class DiskKind : uint8_t { kGcePersistentDisk, kAwsElasticBlockStore, kIscsi, kRbd };
// A disk named in the pod itself, which one pod of a node may use, or several that only read.
struct Disk {
  DiskKind kind = DiskKind::kGcePersistentDisk;
  std::string name;                   // pdName, volumeID, iqn, image
  std::string pool;                   // of kRbd
  std::vector<std::string> monitors;  // of kRbd, sorted
  bool read_only = false;
  friend auto operator<=>(const Disk&, const Disk&) = default;
};
// Whether two pods with these may not be on one node. A disk of AWS is never shared.
[[nodiscard]] bool Collide(const Disk& a, const Disk& b);

// As its driver knows it.
struct CsiVolume {
  std::string driver, handle;
  friend auto operator<=>(const CsiVolume&, const CsiVolume&) = default;
};

struct PodVolumes {
  std::vector<ClaimUse> claims;  // each once, in the order of the spec, in which they are matched
  std::vector<Disk> disks;       // sorted, unique
  // Named in the pod itself, of kinds that are served by CSI drivers now; sorted, unique.
  std::vector<CsiVolume> attached;
  [[nodiscard]] size_t size() const { return claims.size() + disks.size() + attached.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
};

struct VolumeNeeds;  // api/model/volume_needs.h

// Needs that shapes share; null is "nothing". Compared by value, so that it can be part of a shape.
class SharedVolumeNeeds final {
 public:
  SharedVolumeNeeds() = default;
  explicit SharedVolumeNeeds(VolumeNeeds needs);

  [[nodiscard]] const VolumeNeeds* get() const { return needs_.get(); }
  friend bool operator==(const SharedVolumeNeeds& a, const SharedVolumeNeeds& b) {
    return a.needs_ == b.needs_ || (a <=> b) == 0;
  }
  friend std::strong_ordering operator<=>(const SharedVolumeNeeds& a, const SharedVolumeNeeds& b);

 private:
  std::shared_ptr<const VolumeNeeds> needs_;
};

}  // namespace maniple
