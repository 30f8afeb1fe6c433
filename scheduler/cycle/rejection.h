// Turns a failed search into reasons for an operator: nodes by reason, adding up to all nodes.
#pragma once

#include <vector>

#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/room/bound_shape.h"
#include "scheduler/cycle/room/overlay.h"

namespace maniple {

// Why no further pod of the shape fits. A node with room for some members of the gang, but not all,
// counts as filled by the gang; one outside `within` as outside the domain. By count descending,
// then in the order of the table of reasons.
[[nodiscard]] std::vector<NodeReasonCount> ReasonsOf(BoundShape& shape, const Overlay& overlay,
                                                     const NodeSet* within);

}  // namespace maniple
