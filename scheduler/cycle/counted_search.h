// The search for a gang of one shape within its topology, by counting alone: domains, slices and
// what is left over are sums. Used by domain_search.cc.
//
// Of all ways to take the gang: the narrowest level of which one domain does, else the fewest
// domains; then, from that level down to the narrowest that is preferred and to the slices, at each
// the fewest domains and the least room left over in them; then the highest sum of node scores,
// then the path. Exact where the choices are few enough to be looked at one by one (bin_choice.h).
#pragma once

#include <cstdint>

#include "scheduler/cycle/domain_question.h"

namespace maniple {

// REQUIRES: every want is of this kind, it is bound, its counts prove, no sub-group has a wish of
// its own, no want is stuck, and the scope is the quorum.
[[nodiscard]] DomainResult SearchByCount(const DomainSearch& ask, uint32_t kind, Overlay& overlay,
                                         SearchGoal goal);

}  // namespace maniple
