// Which gang a pod belongs to, and what was looked at to find that out. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/producers/marks.h"
#include "api/producers/object_table.h"

namespace maniple {

enum class GangOrigin : uint8_t {
  kNone,        // a gang of one
  kOurs,        // a PodGroup of ours
  kMissing,     // who would say is not there yet: a name that no gang answers to
  kObject,      // a group object
  kOwner,       // an owner that is known
  kController,  // an annotation on pods of a controller that is not known
  kMarks,       // marks alone
};

// Which gang, and which part of it.
struct GangIdentity {
  GangOrigin origin = GangOrigin::kNone;
  std::string group_name;
  const ObjectSlot* source = nullptr;  // of kObject and kOwner
  const ObjectSlot* stager = nullptr;  // the owner of a group object that makes members in stages
  // Of kObject and kMarks: the owner of the pods, if it is known. It speaks where nobody else does.
  const ObjectSlot* owner = nullptr;
  MarkField dialect = MarkField::kNamespace;  // of kMarks
  std::string part;                           // of the source; of kMarks the group that they name
  std::string carrier;  // marks of a pod that is gone, of kYunikorn: no member has its table
  std::string problem;  // that is no object's own
};

struct Resolution {
  GangIdentity gang;
  // Of a gang of one: the owner that could have made it larger, and the name that it then has.
  const ObjectSlot* single_of = nullptr;
  std::string larger;
  std::string sub_group;    // counts if the gang has it
  std::string passed_over;  // see PodPlace
  std::string awaited;      // likewise
  std::vector<ObjectSlot*> seen;
};

}  // namespace maniple
