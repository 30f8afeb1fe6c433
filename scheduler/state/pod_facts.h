// Facts of one pod, as the state tells them. Plain values.
#pragma once

#include <compare>
#include <string>

#include "absl/time/time.h"
#include "api/model/ids.h"

namespace maniple {

// Room charged for a pod of another scheduler, on the node that its scheduler
// has nominated for it.
struct PromisedRoom {
  NodeId node;
  ShapeId shape;
  friend auto operator<=>(const PromisedRoom&, const PromisedRoom&) = default;
};

// A pod of any scheduler, as far as it takes room or is a member.
struct PodFacts {
  std::string namespace_name, name, uid, resource_version;
  ShapeId shape;
  NodeId node;      // bound there
  NodeId reserved;  // reserved there by us, not bound yet
  // Bound, or perhaps bound, as a reply says before the watch shows it:
  // to `awaited`, if that node is known.
  bool is_awaited = false;
  NodeId awaited;
  std::string node_name;  // spec.nodeName, also when that node is unknown
  GangId gang;            // invalid: not ours
  bool terminal = false;  // Succeeded or Failed
  bool terminating = false;
  absl::Duration grace;  // terminating: how long it has been given to end
};

}  // namespace maniple
