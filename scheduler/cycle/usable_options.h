// The prices that a gang's pods can have: those of nodes that can ever take them.
//
// Where nodes of one flavor differ in their GPUs' worth, the options of a shape are nested by price
// (IsCheaperPart). Nodes that never take the shape make a plan neither dearer nor cheaper.
//
// Part of one decision.
#pragma once

#include <optional>

#include "plugins/framework/snapshot.h"
#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/question/quota_ask.h"
#include "scheduler/cycle/search/bound_request.h"

namespace maniple {

struct UsableOptions {
  // Of the same flavors and nodes. A node that can never take the shape stands at another price.
  QuotaAsk ask;
  // Some price is left out below those that stay: if its nodes could take the shape, it would cost
  // less.
  bool cheaper_left_out = false;
};
// None: nothing is to be left out of `ask`, or the work of the request is spent. `bound` is of the
// request and the snapshot.
[[nodiscard]] std::optional<UsableOptions> UsableOptionsOf(const QuotaAsk& ask,
                                                           const Snapshot& snapshot,
                                                           const GangRequest& request,
                                                           const BoundRequest& bound);

}  // namespace maniple
