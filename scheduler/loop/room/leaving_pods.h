// Pods that leave without any eviction for the gang that asks: on their way out already, or of a
// gang that others have asked to leave. A plain value.
#pragma once

#include <algorithm>
#include <vector>

#include "absl/time/time.h"
#include "api/model/ids.h"
#include "queue/quota_tree.h"
#include "scheduler/loop/records/supposition.h"

namespace maniple {

// Nobody waits longer for a pod that is on its way out: users may give theirs any time to end.
inline constexpr absl::Duration kLongestGrace = absl::Hours(1);

struct LeavingPods {
  struct Pod {
    PodId pod;
    NodeId node;
    QuotaNodeId queue;     // that it is charged to; invalid: none
    absl::Duration grace;  // that it has been given
  };
  std::vector<Pod> pods;
  OpenHolds open;            // their room and quota
  bool others_wait = false;  // a gang waits for them that needs no victims: not to be taken from it

  // Pods still there so long after may never leave.
  [[nodiscard]] absl::Duration Patience() const {
    absl::Duration longest;
    for (const Pod& pod : pods) longest = std::max(longest, pod.grace);
    return longest + absl::Minutes(5);
  }
};

}  // namespace maniple
