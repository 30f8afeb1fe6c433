#include "scheduler/cycle/rejection.h"

#include <algorithm>
#include <optional>

namespace maniple {
namespace {

// Counts nodes by reason; of one reason the numbers of the best node are kept.
class ReasonTally final {
 public:
  void Add(const Reason& reason) {
    if (last_ < counts_.size() && Same(counts_[last_].reason, reason)) {
      Note(counts_[last_], reason);
      return;
    }
    for (last_ = 0; last_ < counts_.size(); ++last_) {
      if (!Same(counts_[last_].reason, reason)) continue;
      Note(counts_[last_], reason);
      return;
    }
    counts_.push_back({.reason = reason, .nodes = 1});
  }
  [[nodiscard]] std::vector<NodeReasonCount> Sorted() && {
    std::sort(counts_.begin(), counts_.end(),
              [](const NodeReasonCount& a, const NodeReasonCount& b) {
                return a.nodes != b.nodes ? a.nodes > b.nodes : a.reason < b.reason;
              });
    return std::move(counts_);
  }

 private:
  static bool Same(const Reason& a, const Reason& b) {
    return a.id == b.id && a.resource == b.resource && a.taint == b.taint;
  }
  static void Note(NodeReasonCount& count, const Reason& reason) {
    ++count.nodes;
    if (reason.have > count.reason.have) count.reason = reason;
  }

  std::vector<NodeReasonCount> counts_;
  size_t last_ = 0;  // most nodes share the reason of the one before
};

// The resource that the gang uses up first on the node; none when it is no resource (a host port).
ResourceId ScarcestFor(const PodShape& shape, const Overlay& overlay, const NodeRoom& room) {
  const NodeBlock& block = overlay.Block(BlockOf(room.node));
  for (const auto& [resource, amount] : shape.requests) {
    if (block.Free(resource)[RowOf(room.node)] / amount <= room.pods) return resource;
  }
  return ResourceId();
}

// Why the node takes no more pods of the shape than these, though it has resources for them;
// kReasonNone: that cannot be told. The search is not charged for it.
Reason ReasonAfter(BoundShape& shape, const Overlay& overlay, const NodeRoom& room) {
  Overlay then(overlay.base(), overlay.view());
  for (const PlacedMember& member : overlay.placed().placed) then.Place(member.node, member.shape);
  if (shape.WhyNotOn(then, room.node).has_value()) return {};  // `overlay` has freed room there
  for (int32_t pod = 0; pod < room.pods; ++pod) then.Place(room.node, shape.shape().id);
  return shape.WhyNotOn(then, room.node).value_or(Reason{});
}

// The nodes that take some pods of the gang.
void AddFilled(BoundShape& shape, const Overlay& overlay, const std::vector<NodeRoom>& nodes,
               ReasonTally& tally) {
  std::optional<Reason> then;  // of the first of them: the others are told with it
  for (const NodeRoom& room : nodes) {
    Reason reason{.id = kReasonFilledByGang,
                  .resource = ScarcestFor(shape.shape(), overlay, room),
                  .taint = {},
                  .have = room.pods};
    if (!reason.resource.valid()) {
      if (!then.has_value()) then = ReasonAfter(shape, overlay, room);
      reason.then = then->id;
      reason.want = then->want;
    }
    tally.Add(reason);
  }
}

}  // namespace

std::vector<NodeReasonCount> ReasonsOf(BoundShape& shape, const Overlay& overlay,
                                       const NodeSet* within) {
  ReasonTally tally;
  int64_t inside = 0;
  shape.ForEachRefusal(overlay, within, [&](NodeId, const Verdict& verdict) {
    tally.Add(verdict.reason);
    ++inside;
  });
  const ShapeRoom room = shape.RoomOn(overlay, within);
  AddFilled(shape, overlay, room.nodes, tally);
  inside += static_cast<int64_t>(room.nodes.size());
  for (int64_t outside = overlay.base().node_count() - inside; outside > 0; --outside) {
    tally.Add({.id = kReasonOutsideDomain});
  }
  return std::move(tally).Sorted();
}

}  // namespace maniple
