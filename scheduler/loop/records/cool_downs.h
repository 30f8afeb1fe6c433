// Nodes that have rejected pods of late: such a node takes no pod for a while, and the longer the
// more often it has rejected some.
//
// Owned by the scheduling loop, whether it leads or not: the state keeps these nodes shut as long.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "api/base/due_times.h"
#include "api/model/ids.h"

namespace maniple {

class CoolDowns final {
 public:
  explicit CoolDowns(absl::Duration first) : first_(first) {}

  // The time until which the node takes no pod.
  absl::Time Rejected(NodeId node, absl::Time now) {
    CoolDown& known = nodes_[node];
    // A pod rejected now was sent before the node shut: all pods of a gang fail there at once.
    if (now >= known.until) {
      if (now >= known.until + kForgivenAfter) known.times = 0;
      known.until = now + first_ * (1 << std::min(known.times, kMostDoublings));
      ++known.times;
    }
    Shut(node, known.until);
    return known.until;
  }
  // The node is shut until then, for whatever reason; the latest end counts.
  void Shut(NodeId node, absl::Time end) {
    ends_.Set(node, std::max(end, ends_.At(node).value_or(end)));
  }
  // It is no longer shut: nobody need wait for that end.
  void Opened(NodeId node) { ends_.Erase(node); }
  void NodeGone(NodeId node) {
    nodes_.erase(node);
    Opened(node);
  }
  // The time at which the next node is back; the infinite future: none is shut.
  [[nodiscard]] absl::Time NextEnd(absl::Time now) {
    for (std::optional<NodeId> over = ends_.PopDue(now); over.has_value();) {
      over = ends_.PopDue(now);
    }
    return ends_.Next();
  }

 private:
  // A node that has rejected no pod for so long begins anew with a short cool-down.
  static constexpr absl::Duration kForgivenAfter = absl::Minutes(10);
  static constexpr int32_t kMostDoublings = 5;  // from 30 s to 16 min

  struct CoolDown {
    int32_t times = 0;
    absl::Time until = absl::InfinitePast();
  };
  absl::Duration first_;
  absl::btree_map<NodeId, CoolDown> nodes_;
  DueTimes<NodeId> ends_;
};

}  // namespace maniple
