// The view for operators while it is made piece by piece. A value of the scheduling loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "api/model/ids.h"
#include "plugins/framework/snapshot.h"
#include "scheduler/loop/views/node_uses.h"
#include "scheduler/report/view.h"

namespace maniple {

struct ViewRound {
  enum class Next : uint8_t { kBegin, kNodes, kGangs, kQueues, kNothing };
  Next next = Next::kBegin;
  size_t at = 0;  // which of the nodes or gangs comes next
  std::unique_ptr<ClusterView> view;
  Snapshot nodes;
  std::optional<NodeUses> uses;  // of the rows of `view`
  std::vector<GangId> gangs;
  // By priority and waiting time: among all gangs, and among those of the same queue.
  absl::flat_hash_map<GangId, std::pair<int64_t, int64_t>> positions;
};

}  // namespace maniple
