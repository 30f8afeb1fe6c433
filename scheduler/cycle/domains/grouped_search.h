// The search for a gang whose members are bound together in slices or sub-groups,
// by trial on the overlay. It takes domains for sub-groups and slices one after the other,
// puts each member where it fits, and backtracks within bounds.
// Used by domain_search.cc where counting alone does not tell.
#pragma once

#include "scheduler/cycle/domains/domain_question.h"

namespace maniple {

// All live members, then the quorum alone; exactly the quorum is placed. Leaves the overlay as it
// was. REQUIRES: no want is stuck.
[[nodiscard]] SearchResult PlaceGroups(const DomainSearch& ask, Overlay& overlay,
                                       const NodeSet* within);

// The same by counting and a few trials alone: kGaveUp where these leave it open.
[[nodiscard]] SearchResult TryToPlaceGroups(const DomainSearch& ask, Overlay& overlay,
                                            const NodeSet* within);

// As many wants as fit, in rank order; kFound with at least one. Leaves the overlay as it was.
[[nodiscard]] SearchResult PlaceSurplusOfGroups(const DomainSearch& ask, Overlay& overlay,
                                                const NodeSet* within);

}  // namespace maniple
