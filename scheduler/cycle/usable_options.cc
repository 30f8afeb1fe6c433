#include "scheduler/cycle/usable_options.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace maniple {
namespace {

using PricedOptions = std::vector<QuotaOption>;

bool HavePrices(const PricedOptions& options) {
  const auto nested = [](const QuotaOption& whole, const QuotaOption& part) {
    return IsCheaperPart(part, whole);
  };
  return std::ranges::adjacent_find(options, nested) != options.end();
}

// The nodes that may take the shape some day, once every other pod is gone.
NodeSet EverTaking(const Kind& kind, const Overlay& emptied, const GangRequest& request) {
  NodeSet nodes(emptied.block_count());
  const ShapeRoom room = kind.bound->AtMostOn(emptied, nullptr);
  for (const NodeRoom& of_node : room.nodes) nodes[BlockOf(of_node.node)].Set(RowOf(of_node.node));
  // Whoever stands there keeps the others to that flavor.
  for (const Pinned& pinned : request.pinned) {
    if (pinned.shape != kind.shape || !emptied.base().HasNode(pinned.node)) continue;
    nodes[BlockOf(pinned.node)].Set(RowOf(pinned.node));
  }
  return nodes;
}

NodeSet UsableOf(const QuotaOption& option, const NodeSet& usable) {
  NodeSet both = usable;
  if (!option.nodes.has_value()) return both;
  for (size_t b = 0; b < both.size(); ++b) {
    both[b] &= b < option.nodes->size() ? (*option.nodes)[b] : NodeMask();
  }
  return both;
}

struct Kept {
  PricedOptions options;
  bool cheaper_left_out = false;
};

// Leaves out prices at which no further node takes the shape. Their nodes stay, at another price:
// reasons still tell what keeps the shape off them.
Kept KeptOf(const PricedOptions& options, const NodeSet& usable) {
  Kept kept;
  const NodeSet none(usable.size());
  for (size_t i = 0; i < options.size(); ++i) {
    QuotaOption option = options[i];
    const NodeSet takes = UsableOf(option, usable);
    while (i + 1 < options.size() && IsCheaperPart(options[i + 1], option) &&
           UsableOf(options[i + 1], usable) == takes) {
      option.each = options[++i].each;
    }
    if (takes == none && !kept.options.empty() && IsCheaperPart(option, kept.options.back())) {
      kept.cheaper_left_out = true;
      continue;
    }
    kept.options.push_back(std::move(option));
  }
  return kept;
}

}  // namespace

std::optional<UsableOptions> UsableOptionsOf(const QuotaAsk& ask, const Snapshot& snapshot,
                                             const GangRequest& request,
                                             const BoundRequest& bound) {
  const auto has_prices = [&ask](ShapeId shape) { return HavePrices(ask.options.at(shape)); };
  if (std::ranges::none_of(bound.shapes(), has_prices)) return std::nullopt;
  Overlay emptied(snapshot, Overlay::View::kEmptied, request.work);
  for (const Pinned& pinned : request.pinned) {
    if (snapshot.HasNode(pinned.node)) emptied.Place(pinned.node, pinned.shape);
  }
  BoundKinds some_day = bound.Bind(Question::kEver, emptied);
  std::optional<UsableOptions> usable;
  for (const Kind& kind : some_day.kinds) {
    if (kind.bound == nullptr || !has_prices(kind.shape)) continue;
    const PricedOptions& all = ask.options.at(kind.shape);
    Kept kept = KeptOf(all, EverTaking(kind, emptied, request));
    if (kept.options.size() == all.size()) continue;
    if (!usable.has_value()) usable.emplace(UsableOptions{.ask = ask});
    usable->ask.options[kind.shape] = std::move(kept.options);
    usable->cheaper_left_out = usable->cheaper_left_out || kept.cheaper_left_out;
  }
  return usable;
}

}  // namespace maniple
