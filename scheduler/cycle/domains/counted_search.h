// The search for a gang of one shape within its topology, by counting alone: domains, slices and
// left-over room are sums. Used by domain_search.cc.
//
// Of all ways to take the gang it prefers, in this order:
//   1. the narrowest level of which one domain does, else the fewest domains;
//   2. from there down to the narrowest preferred level and to the slices, at each level the fewest
//      domains and the least room left over in them;
//   3. the highest sum of node scores, then the path.
// Exact where the choices are few enough to be looked at one by one (bin_choice.h).
#pragma once

#include <cstdint>

#include "scheduler/cycle/domains/domain_question.h"

namespace maniple {

// REQUIRES: the scope is the quorum, and every want is of this kind,
// which is bound with counts that prove. No sub-group has a wish of its own, and no want is stuck.
[[nodiscard]] DomainResult SearchByCount(const DomainSearch& ask, uint32_t kind, Overlay& overlay,
                                         SearchGoal goal);

}  // namespace maniple
