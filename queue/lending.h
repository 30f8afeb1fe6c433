// The part of a node's own quota that others use, for status. A pure function of the tree.
//
// The algebra never tracks lenders and borrowers, so the borrowed total among siblings is divided.
// First the Cohort's own quota covers it, then each sibling's idle quota in proportion.
// The shares add up.
#pragma once

#include "queue/quota_tree.h"

namespace maniple {

[[nodiscard]] Amount LentOf(const QuotaTree& tree, QuotaNodeId node, QuotaCellId cell);

}  // namespace maniple
