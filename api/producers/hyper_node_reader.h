// Reads HyperNodes of topology.volcano.sh.
//
// What cannot be meant is refused at the cursor: a tier that is none, a member with no selector or
// with two, a pattern that is no regular expression. Anything else is as Volcano has it.
#pragma once

#include "api/codec/cursor.h"
#include "api/model/hyper_node.h"

namespace maniple {

// So many members of one HyperNode may select by pattern or labels; names are not counted.
inline constexpr int kMostHyperNodePatterns = 256;

[[nodiscard]] HyperNode ReadHyperNode(const Cursor& root);

}  // namespace maniple
