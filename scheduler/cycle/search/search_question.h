// The question and the answer of a search for room. Plain values.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/question/quorum.h"
#include "scheduler/cycle/room/bound_shape.h"
#include "scheduler/cycle/room/overlay.h"

namespace maniple {

// The members of one shape. `bound` is null when a plugin refused the shape: it has no room
// anywhere.
struct Kind {
  ShapeId shape;
  BoundShape* bound = nullptr;
};

struct MemberPlace {
  size_t want = 0;  // index into the request's wants
  NodeId node;
  friend auto operator<=>(const MemberPlace&, const MemberPlace&) = default;
};

struct SearchResult {
  enum class Outcome : uint8_t {
    kFound,
    kProven,  // there is no room
    kGaveUp,  // no room found within the bounds of the search
  };
  Outcome outcome = Outcome::kProven;
  std::vector<MemberPlace> places;  // kFound: by want
  Shortage shortage;                // otherwise: the obstacle
};

struct SearchBounds {
  int64_t steps =
      300'000;  // of the exhaustive search, once greedy trials have failed: a few milliseconds
};

}  // namespace maniple
