// The needs of a pod's volumes of its node, as the state derives them from claims,
// persistent volumes and storage classes. Part of the pod's shape: pods whose volumes have
// equal needs are of one shape, whichever claims they mount.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/base/amount.h"
#include "api/model/model.h"

namespace maniple {

// Why no node can be named yet, worst first. Time or another's action will help.
enum class VolumeTrouble : uint8_t {
  kNone,
  kNoClaim,       // it does not exist, or is not made yet
  kForeignClaim,  // an ephemeral claim that does not belong to the pod
  kUnreadable,    // the claim, its volume or its class cannot be read
  kLost,          // its volume is gone for good
  kLeaving,       // it is being deleted
  kNoVolume,      // it names a volume that does not exist
  kNotBound,      // its class binds at once, and has not done so yet
  kNoClass,       // not bound, and its class does not exist
};

// Access modes as bits.
enum AccessMode : uint8_t {
  kReadWriteOnce = 1,
  kReadOnlyMany = 2,
  kReadWriteMany = 4,
  kReadWriteOncePod = 8,
  kUnknownAccess = 16,
};
using AccessModes = uint8_t;

// ORed terms; a node must match one of them.
using NodeTerms = std::vector<NodeSelectorTerm>;

// A label of a bound volume that names its zone or region. A node with any such label
// must carry this one, with one of the values.
struct ZoneNeed {
  std::string key;
  std::vector<std::string> values;  // sorted
  friend auto operator<=>(const ZoneNeed&, const ZoneNeed&) = default;
};

// A claim that is to be bound once the pod has a node.
struct UnboundClaim {
  std::string storage_class;
  Amount size;
  AccessModes modes = 0;
  bool block = false;  // volumeMode Block
  std::optional<LabelSelector> selector;
  std::string attributes_class;
  // A volume is set aside for this claim: where that volume may be used, no other is looked for.
  std::optional<NodeTerms> reserved_where;  // empty terms: anywhere
  // No existing volume may be taken: a provisioner has been told to make one.
  bool provision_only = false;
  // Where a volume can be made for it: terms that must all hold. None: nowhere.
  std::optional<std::vector<NodeTerms>> provision_where;
  bool short_of_capacity = false;  // … and nowhere because no storage has room for it
  friend auto operator<=>(const UnboundClaim&, const UnboundClaim&) = default;
};

enum class VolumeUseKind : uint8_t {
  kAttached,   // counts against the driver's limit on the node
  kDisk,       // of the pod itself; see Collide
  kExclusive,  // a ReadWriteOncePod claim of several pods: one of them at a time
};
// One use of a volume by the pod on its node.
struct VolumeUse {
  VolumeUseKind kind = VolumeUseKind::kAttached;
  std::string driver;  // of kAttached
  // Of kAttached the volume; "" = one that no other pod uses, so that it needs no name. Of
  // kExclusive the claim: "namespace/name".
  std::string name;
  Disk disk;  // of kDisk
  friend auto operator<=>(const VolumeUse&, const VolumeUse&) = default;
};

struct VolumeNeeds {
  VolumeTrouble trouble = VolumeTrouble::kNone;
  std::vector<NodeTerms> reachable;   // of bound volumes: each must hold; sorted, unique
  std::vector<ZoneNeed> zones;        // of bound volumes; sorted, unique
  std::string selected_node;          // an unbound claim is being provisioned for this one
  bool torn = false;                  // … and another one for another node
  std::vector<UnboundClaim> unbound;  // smallest first
  std::vector<VolumeUse> uses;        // sorted; equal ones count each
  friend auto operator<=>(const VolumeNeeds&, const VolumeNeeds&) = default;
};

}  // namespace maniple
