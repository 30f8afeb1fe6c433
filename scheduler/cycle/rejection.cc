#include "scheduler/cycle/rejection.h"

#include <algorithm>

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

}  // namespace

std::vector<NodeReasonCount> ReasonsOf(BoundShape& shape, const Overlay& overlay,
                                       const NodeSet* within) {
  ReasonTally tally;
  int64_t inside = 0;
  shape.ForEachRefusal(overlay, within, [&](NodeId, const Verdict& verdict) {
    tally.Add(verdict.reason);
    ++inside;
  });
  for (const NodeRoom& room : shape.RoomOn(overlay, within).nodes) {
    tally.Add({.id = kReasonFilledByGang,
               .resource = ScarcestFor(shape.shape(), overlay, room),
               .taint = {},
               .have = room.pods});
    ++inside;
  }
  for (int64_t outside = overlay.base().node_count() - inside; outside > 0; --outside) {
    tally.Add({.id = kReasonOutsideDomain});
  }
  return std::move(tally).Sorted();
}

}  // namespace maniple
