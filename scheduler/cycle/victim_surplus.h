// How many members a running gang can do without. Pure functions of a Gang.
#pragma once

#include <cstdint>
#include <vector>

#include "queue/gang.h"

namespace maniple {

// A gang still stands when any of its members are gone, as long as they are at most so many, in all
// and of each sub-group.
struct Surplus {
  int64_t members = 0;
  std::vector<int64_t> sub_groups;  // parallel to spec.subGroups; one that is not listed: no limit
};

// Of a gang without its quorum nothing is surplus.
[[nodiscard]] Surplus SurplusOf(const Gang& gang);

}  // namespace maniple
