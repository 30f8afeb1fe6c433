// How much of a node's own quota others use, for status. A pure function of the tree.
//
// The algebra never tracks who lends to whom, so what the borrowers among siblings take is divided:
// first the Cohort's own quota covers it, then each sibling's idle quota in proportion; the shares
// add up.
#pragma once

#include "queue/quota_tree.h"

namespace maniple {

[[nodiscard]] Amount LentOf(const QuotaTree& tree, QuotaNodeId node, QuotaCellId cell);

}  // namespace maniple
