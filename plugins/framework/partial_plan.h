// The placements of a gang so far, during its search.
//
// The room that these take is already folded into the blocks that a plugin is shown; a plugin that
// couples members across nodes finds the places of members here.
#pragma once

#include <span>

#include "api/model/ids.h"

namespace maniple {

struct PlacedMember {
  ShapeId shape;
  NodeId node;
};

struct PartialPlan {
  std::span<const PlacedMember> placed;
};

}  // namespace maniple
