// What the state tells of one pod. A plain value.
#pragma once

#include <string>

#include "api/model/ids.h"

namespace maniple {

// A pod of any scheduler, as far as it takes room or is a member.
struct PodFacts {
  std::string namespace_name, name, uid, resource_version;
  ShapeId shape;
  NodeId node;            // bound there
  NodeId reserved;        // reserved there by us, not bound yet
  std::string node_name;  // spec.nodeName, also when that node is unknown
  GangId gang;            // invalid: not ours
  bool terminal = false;  // Succeeded or Failed
  bool terminating = false;
};

}  // namespace maniple
