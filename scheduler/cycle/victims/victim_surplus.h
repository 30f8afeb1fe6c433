// The members that a running gang can do without. Pure functions of a Gang.
#pragma once

#include <cstdint>
#include <vector>

#include "queue/gang.h"

namespace maniple {

// A gang still stands when so many of its members are gone, whichever they are,
// in all and of each sub-group.
struct Surplus {
  int64_t members = 0;
  std::vector<int64_t> sub_groups;  // parallel to spec.subGroups; one that is not listed: no limit
};

// A gang without its quorum has no surplus.
[[nodiscard]] Surplus SurplusOf(const Gang& gang);

}  // namespace maniple
