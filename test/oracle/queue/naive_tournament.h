// The tournament by its definition: nothing is kept, every match is played from the root each time.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "queue/tournament.h"

namespace maniple {

using QueueHeads = std::map<QuotaNodeId, QueueHead>;

inline auto HeadKey(const QueueHeads& heads, QuotaNodeId queue) {
  const QueueHead& head = heads.at(queue);
  return std::make_tuple(-int64_t{head.priority}, head.queued, head.namespace_name, head.name,
                         queue);
}

inline std::optional<QuotaNodeId> NaiveFairWinner(const QuotaTree& tree, const QueueHeads& heads,
                                                  QuotaNodeId node) {
  if (tree.Children(node).empty()) {
    return heads.contains(node) ? std::optional(node) : std::nullopt;
  }
  std::optional<QuotaNodeId> best, best_child;
  for (const QuotaNodeId child : tree.Children(node)) {
    const std::optional<QuotaNodeId> queue = NaiveFairWinner(tree, heads, child);
    if (!queue.has_value()) continue;
    const auto key = [&](QuotaNodeId c, QuotaNodeId q) {
      const Demand& demand = heads.at(q).demand;
      return std::make_tuple(tree.BorrowsWith(c, q, demand), tree.ShareWith(c, q, demand),
                             HeadKey(heads, q));
    };
    if (!best.has_value() || key(child, *queue) < key(*best_child, *best)) {
      best = queue;
      best_child = child;
    }
  }
  return best;
}

inline std::optional<QuotaNodeId> NaiveLowestWinner(const QuotaTree& tree, const QueueHeads& heads,
                                                    QuotaNodeId root) {
  std::optional<QuotaNodeId> best;
  const auto key = [&](QuotaNodeId q) {
    return std::make_tuple(tree.HeightOf(q, heads.at(q).demand).height, HeadKey(heads, q));
  };
  for (const auto& [queue, head] : heads) {
    if (tree.Root(queue) != root) continue;
    if (!best.has_value() || key(queue) < key(*best)) best = queue;
  }
  return best;
}

inline std::optional<QuotaNodeId> NaiveWinner(const QuotaTree& tree, FairSharing fair_sharing,
                                              const QueueHeads& heads) {
  std::optional<QuotaNodeId> best;
  for (uint32_t i = 0; i < tree.node_count(); ++i) {
    const QuotaNodeId node(i);
    if (tree.Parent(node).valid()) continue;
    const std::optional<QuotaNodeId> winner = fair_sharing == FairSharing::kOn
                                                  ? NaiveFairWinner(tree, heads, node)
                                                  : NaiveLowestWinner(tree, heads, node);
    if (!winner.has_value()) continue;
    if (!best.has_value() || HeadKey(heads, *winner) < HeadKey(heads, *best)) best = winner;
  }
  return best;
}

}  // namespace maniple
