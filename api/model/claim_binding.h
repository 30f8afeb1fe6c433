// How claims that wait for their pod's node come to be bound: what is to be done for one, and what
// the API shows of it. Plain values.
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

// What is wanted of it: to be bound to a volume that the node reaches.
struct ClaimGoal {
  PodId pod;
  std::string namespace_name, name, uid;
  std::string node;
  std::string volume;  // to be set aside for it; "" = the provisioner is told the node
};

enum class VolumeStanding : uint8_t {
  kNone,    // no such volume, or nobody may have it any more
  kFree,    // no claim has it
  kOurs,    // set aside for the claim, by its uid
  kOthers,  // for another one
};
// The claim, and the volume of the goal, as the watch shows them.
struct ClaimSight {
  bool there = false;  // of that uid, and not being deleted
  bool bound = false;  // to a volume that is shown, too
  bool named = false;  // it names a volume: whoever binds it is at work
  std::string selected_node;
  std::string claim_version, volume_version;  // resourceVersions
  std::string volume_uid;
  VolumeStanding volume = VolumeStanding::kNone;
};

}  // namespace maniple
