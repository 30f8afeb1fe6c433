#include "scheduler/page/node_uses.h"

#include <algorithm>

namespace maniple {

int64_t FreeOf(const NodeResourceView& resource) {
  const int64_t all = std::max<int64_t>(resource.allocatable.units(), 0);
  return std::clamp<int64_t>(resource.free.units(), 0, all);
}

std::vector<NodeUse> UsesOf(const NodeRow& node, const NodeResourceView& resource) {
  std::vector<NodeUse> uses;
  // Taken, and not told yet.
  int64_t left = std::max<int64_t>(resource.allocatable.units() - FreeOf(resource), 0);
  const auto add = [&](absl::string_view gang, int64_t amount, absl::string_view state) {
    if (amount <= 0) return;
    left -= std::min(left, amount);
    uses.push_back({.gang = gang, .amount = amount, .state = state});
  };
  for (const NodeUseView& use : node.uses) {
    if (use.resource != resource.resource) continue;
    add(use.gang, use.amount - use.leaving, "");
    add(use.gang, use.leaving, "leaving");
  }
  for (const NodeUseView& use : node.held) {
    // Held room may still be in use: then it counts for its user.
    if (use.resource == resource.resource) add(use.gang, std::min(use.amount, left), "held");
  }
  add("", left, "");
  return uses;
}

}  // namespace maniple
