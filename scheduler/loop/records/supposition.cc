#include "scheduler/loop/records/supposition.h"

namespace maniple {

void OpenHolds::Add(GangId holder, const GangRecord& record, const QuotaBook& book) {
  holders.push_back(holder);
  for (const Reservation::Room& room : record.reservation->rooms) {
    if (room.node.valid()) rooms.push_back({room.node, room.shape, Occupant::kHold});
  }
  const QuotaNodeId queue = book.QueueNamed(record.queue);
  if (!queue.valid() || record.reservation->held.empty()) return;
  quota.emplace_back(queue, record.reservation->held);
}

absl::btree_set<NodeId> NodesIn(const std::vector<FreedRoom>& rooms) {
  absl::btree_set<NodeId> nodes;
  for (const FreedRoom& room : rooms) nodes.insert(room.node);
  return nodes;
}

Supposition::Supposition(const DecideInput& as_is, const QuotaTree& tree,
                         std::optional<QuotaAsk> limits)
    : as_is_(as_is), tree_(tree.Supposed()), limits_(std::move(limits)) {}

void Supposition::Free(const OpenHolds& open) {
  Free(open.rooms);
  for (const auto& [queue, held] : open.quota) Refund(queue, held);
  for (const auto& [queue, taken] : open.taken) Charge(queue, taken);
}

void Supposition::Free(std::span<const FreedRoom> rooms) {
  freed_.insert(freed_.end(), rooms.begin(), rooms.end());
}

void Supposition::Restrict(const absl::btree_set<NodeId>& nodes, To to) {
  if (!limits_.has_value()) {
    no_limits_.emplace(std::vector<QuotaNodeSpec>{QuotaNodeSpec{}}, std::vector<uint32_t>{});
    limits_ = QuotaAsk{.queue = QuotaNodeId(0)};
    for (const Want& want : request().wants) limits_->options[want.shape] = {QuotaOption{}};
  }
  if (nodes.empty() && to == To::kOthers) return;
  const Snapshot& snapshot = as_is_.snapshot;
  NodeSet allowed(snapshot.blocks.size());
  for (const NodeId node : snapshot.order->by_name) {
    if (nodes.contains(node) == (to == To::kThese)) allowed[BlockOf(node)].Set(RowOf(node));
  }
  for (auto& [shape, options] : limits_->options) {
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

QuotaNodeId Supposition::queue() const {
  return limits_.has_value() && !no_limits_.has_value() ? limits_->queue : QuotaNodeId();
}

DecideInput Supposition::Input() {
  if (limits_.has_value()) limits_->tree = no_limits_.has_value() ? &*no_limits_ : &tree_;
  return {.snapshot = as_is_.snapshot,
          .request = as_is_.request,
          .now = as_is_.now,
          .seed = as_is_.seed,
          .quota = limits_.has_value() ? &*limits_ : nullptr,
          .freed = freed_,
          .promised = promised_,
          .cache = as_is_.cache};
}

}  // namespace maniple
