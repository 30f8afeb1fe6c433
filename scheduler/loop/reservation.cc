#include "scheduler/loop/reservation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/report/message.h"

namespace maniple {

Demand Lacking(const Reservation& reservation) {
  Demand lacking;
  for (const CellAmount& part : reservation.demand) {
    const auto held = std::ranges::find(reservation.held, part.cell, &CellAmount::cell);
    const Amount left = held == reservation.held.end() ? part.amount : part.amount - held->amount;
    if (left > Amount(0)) lacking.push_back({part.cell, left});
  }
  return lacking;
}

std::string StartText(const Reservation& reservation) {
  const std::string time = TimeText(reservation.start);
  return reservation.end == EndIs::kKnown ? time : absl::StrCat(time, " or so");
}

std::string DelayText(const Reservation& reservation) {
  if (reservation.start <= reservation.first_start) return "";
  return absl::StrCat(", first planned for ", TimeText(reservation.first_start));
}

void Restrict(QuotaAsk& ask, const absl::btree_set<NodeId>& nodes, RestrictTo to,
              const Snapshot& snapshot) {
  if (nodes.empty() && to == RestrictTo::kOthers) return;
  NodeSet allowed(snapshot.blocks.size());
  for (const NodeId node : snapshot.order->by_name) {
    if (nodes.contains(node) == (to == RestrictTo::kThese)) {
      allowed[BlockOf(node)].Set(RowOf(node));
    }
  }
  for (auto& [shape, options] : ask.options) {
    for (QuotaOption& option : options) {
      if (!option.nodes.has_value()) {
        option.nodes = allowed;
        continue;
      }
      option.nodes->resize(allowed.size());
      for (size_t b = 0; b < allowed.size(); ++b) (*option.nodes)[b] &= allowed[b];
    }
  }
}

absl::btree_set<NodeId> NodesIn(const std::vector<FreedRoom>& rooms) {
  absl::btree_set<NodeId> nodes;
  for (const FreedRoom& room : rooms) nodes.insert(room.node);
  return nodes;
}

QuotaTree TreeWithoutLimits() { return QuotaTree({QuotaNodeSpec{}}, {}); }

QuotaAsk AskWithoutLimits(const QuotaTree& tree, const GangRequest& request) {
  QuotaAsk ask{.tree = &tree, .queue = QuotaNodeId(0), .options = {}};
  for (const Want& want : request.wants) ask.options[want.shape] = {QuotaOption{}};
  return ask;
}

}  // namespace maniple
