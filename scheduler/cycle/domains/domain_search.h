// The search for a gang within its topology: the best single domain, level by level, then the
// fewest domains, then any nodes if it may.
#pragma once

#include "scheduler/cycle/domains/domain_question.h"

namespace maniple {

// Among fitting domains of one level: first those with room for all wants, then the least room
// left over, then the least fragmentation, then the path. Leaves the overlay as it was.
[[nodiscard]] DomainResult SearchDomains(const DomainSearch& ask, Overlay& overlay,
                                         SearchGoal goal);

}  // namespace maniple
