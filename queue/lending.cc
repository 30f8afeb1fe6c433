#include "queue/lending.h"

#include <algorithm>

namespace maniple {
namespace {

// The amount that the node leaves to its siblings and does not use itself.
Amount Idle(const QuotaTree& tree, QuotaNodeId node, QuotaCellId cell) {
  const Amount kept = std::max(tree.Guaranteed(node, cell), tree.Usage(node, cell));
  return std::max(Amount(), tree.Quota(node, cell) - kept);
}

}  // namespace

Amount LentOf(const QuotaTree& tree, QuotaNodeId node, QuotaCellId cell) {
  const QuotaNodeId parent = tree.Parent(node);
  if (!parent.valid() || Idle(tree, node, cell) == Amount()) return Amount();
  // The amount that leaves the parent is taken from all of its parts alike.
  Amount taken = LentOf(tree, parent, cell);
  Amount idle;
  for (const QuotaNodeId child : tree.Children(parent)) {
    taken += std::max(Amount(), tree.Usage(child, cell) - tree.Quota(child, cell));
    idle += Idle(tree, child, cell);
  }
  taken = std::min(idle, std::max(Amount(), taken - tree.Nominal(parent, cell)));
  if (taken == Amount()) return taken;
  // Shares are whole: the total divided up to and including a child, less the total before it.
  Amount before;
  for (const QuotaNodeId child : tree.Children(parent)) {
    const Amount upto = before + Idle(tree, child, cell);
    if (child != node) {
      before = upto;
      continue;
    }
    const auto divided = [&](Amount part) {
      return static_cast<int64_t>(static_cast<__int128>(taken.units()) * part.units() /
                                  idle.units());
    };
    return Amount(divided(upto) - divided(before));
  }
  return Amount();
}

}  // namespace maniple
