#include "plugins/framework/cluster_filter.h"

namespace maniple {

int64_t ClusterFilter::Most(std::span<const RoomOnNode> rooms) const {
  int64_t most = 0;
  for (const RoomOnNode& room : rooms) most += room.pods;
  return most;
}

}  // namespace maniple
