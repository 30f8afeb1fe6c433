// The binding of claims that wait for their pod's node: the goal for each,
// and its sight in the API. Plain values.
#pragma once

#include <string>

#include "api/model/ids.h"
#include "api/model/volume_needs.h"

namespace maniple {

// A claim of a pod that has no volume yet.
struct ClaimToBind {
  std::string namespace_name, name, uid;
  UnboundClaim need;
  std::string reserved_volume;  // that somebody set aside for it; "" = none
};

// The goal for one claim: to be bound to a volume that the node reaches.
struct ClaimGoal {
  PodId pod;
  std::string namespace_name, name, uid;
  std::string node;
  std::string volume;  // to be set aside for it; "" = the provisioner is told the node
};

enum class VolumeStanding : uint8_t {
  kNone,    // no such volume, or it may not be had any more
  kFree,    // no claim has it
  kOurs,    // set aside for the claim, by its uid
  kOthers,  // for another one
};
// The claim, and the volume of the goal, as the watch shows them.
struct ClaimSight {
  bool there = false;  // of that uid, and not being deleted
  bool bound = false;  // to a volume that is also shown
  bool named = false;  // it names a volume: the volume controller is at work
  std::string selected_node;
  std::string claim_version, volume_version;  // resourceVersions
  std::string volume_uid;
  VolumeStanding volume = VolumeStanding::kNone;
};

}  // namespace maniple
