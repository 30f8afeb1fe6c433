// What a gang has placed and evicted so far while it is being searched for.
//
// The room these take is already folded into the blocks that a plugin is shown; a plugin that
// couples members across nodes looks here for who stands where.
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
  std::span<const PodId> evicted;
};

}  // namespace maniple
