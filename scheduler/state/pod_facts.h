// What the state tells of one pod. Plain values.
#pragma once

#include <compare>
#include <string>

#include "absl/time/time.h"
#include "api/model/ids.h"

namespace maniple {

// A pod of any scheduler, as far as it takes room or is a member.
// Room that another scheduler's pod, which it has nominated there, is charged for.
struct PromisedRoom {
  NodeId node;
  ShapeId shape;
  friend auto operator<=>(const PromisedRoom&, const PromisedRoom&) = default;
};

struct PodFacts {
  std::string namespace_name, name, uid, resource_version;
  ShapeId shape;
  NodeId node;      // bound there
  NodeId reserved;  // reserved there by us, not bound yet
  // Bound, as a reply says and the watch does not show yet, or perhaps so: there, if that node is
  // known.
  bool is_awaited = false;
  NodeId awaited;
  std::string node_name;  // spec.nodeName, also when that node is unknown
  GangId gang;            // invalid: not ours
  bool terminal = false;  // Succeeded or Failed
  bool terminating = false;
  absl::Duration grace;  // terminating: how long it has been given to end
};

}  // namespace maniple
