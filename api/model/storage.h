// Claims, volumes, and the objects that bring them together: exactly the fields that
// scheduling looks at. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/model/model.h"
#include "api/model/pod_volumes.h"
#include "api/model/volume_needs.h"

namespace maniple {

inline constexpr char kSelectedNodeAnnotation[] = "volume.kubernetes.io/selected-node";
inline constexpr char kBindCompletedAnnotation[] = "pv.kubernetes.io/bind-completed";
inline constexpr char kBoundByControllerAnnotation[] = "pv.kubernetes.io/bound-by-controller";
inline constexpr char kStorageClassAnnotation[] = "volume.beta.kubernetes.io/storage-class";
inline constexpr char kNoProvisioner[] = "kubernetes.io/no-provisioner";

enum class ClaimPhase : uint8_t { kPending, kBound, kLost };

struct PersistentVolumeClaim {
  ObjectMeta meta;
  std::string volume_name;
  std::string storage_class;  // "" = none, and so no provisioning
  AccessModes modes = 0;
  bool block = false;
  Amount size;
  std::optional<LabelSelector> selector;
  std::string attributes_class;
  ClaimPhase phase = ClaimPhase::kPending;

  [[nodiscard]] bool bound() const {
    return !volume_name.empty() && meta.annotations.Find(kBindCompletedAnnotation) != nullptr;
  }
  [[nodiscard]] absl::string_view selected_node() const {
    return meta.annotations.Get(kSelectedNodeAnnotation);
  }
};

struct ClaimReference {
  std::string namespace_name, name, uid;  // uid "" = any object of the name
  friend auto operator<=>(const ClaimReference&, const ClaimReference&) = default;
};
[[nodiscard]] bool RefersTo(const ClaimReference& reference, const PersistentVolumeClaim& claim);

struct PersistentVolume {
  ObjectMeta meta;
  std::string storage_class;
  AccessModes modes = 0;
  bool block = false;
  Amount capacity;
  std::string attributes_class;
  std::optional<ClaimReference> claim;
  std::optional<NodeTerms> node_affinity;  // absent: reachable from everywhere
  CsiVolume csi;                           // empty: of another kind
  bool available = false;                  // status.phase is Available
};

struct StorageClass {
  ObjectMeta meta;
  std::string provisioner;
  bool waits_for_consumer = false;
  std::optional<NodeTerms> allowed_topologies;  // absent: everywhere
};

// How many volumes a driver can attach to a node.
struct VolumeLimit {
  std::string driver;
  int64_t most = 0;
  friend auto operator<=>(const VolumeLimit&, const VolumeLimit&) = default;
};
struct CsiNode {
  ObjectMeta meta;                  // of the node's name
  std::vector<VolumeLimit> limits;  // by driver; a driver without one has none
};

// How many volumes of a driver a node attaches, and how many of these no pod that stands there
// uses.
struct NodeAttachments {
  std::string driver;
  int64_t most = 0;
  int64_t unused = 0;
  friend auto operator<=>(const NodeAttachments&, const NodeAttachments&) = default;
};

// A volume is attached to a node, or about to be, whether a pod there uses it or not.
struct VolumeAttachment {
  ObjectMeta meta;
  std::string node;
  std::string volume;  // a PersistentVolume; "": one that a pod describes itself
};

struct CsiDriver {
  ObjectMeta meta;
  bool tracks_capacity = false;
};

struct CsiStorageCapacity {
  ObjectMeta meta;
  std::string storage_class;
  std::optional<LabelSelector> nodes;  // absent: none
  std::optional<Amount> largest;       // the largest volume that can be made; absent: none
};

}  // namespace maniple
