// The figures of a cluster for metrics: sums, and no gang by its name. Immutable once built; any
// thread may read them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/report/queue_view.h"

namespace maniple {

// What a GPU, or slice of one, is: the first of these that holds.
enum class GpuState : uint8_t {
  kUsed,         // a pod has it
  kUnreachable,  // its node does not answer, or is not ready
  kCordoned,     // its node takes no new pods
  kHeld,         // kept for a gang that starts later, or has lost a member
  kFree,
};
inline constexpr std::array<const char*, 5> kGpuStates = {"used", "unreachable", "cordoned", "held",
                                                          "free"};
// All of one resource on nodes of one flavor.
struct GpuTotalView {
  std::string flavor, resource;  // flavor "" = nodes that no ResourceFlavor names
  std::array<int64_t, kGpuStates.size()> amounts = {};  // by GpuState
  friend bool operator==(const GpuTotalView&, const GpuTotalView&) = default;
};

// What one domain of a level could still give to a gang, in whole GPUs of nodes that take new pods.
struct LevelRoomView {
  std::string level;              // "rack"; "cluster" = all nodes, "node" = each alone
  int64_t largest_gang_gpus = 0;  // free in the best domain
  // Size in nodes (1, 2, 4 … up to the largest domain) → how many slices of so many idle nodes
  // there are, each in one domain.
  std::vector<std::pair<int64_t, int64_t>> free_slices;
  friend bool operator==(const LevelRoomView&, const LevelRoomView&) = default;
};

struct ClusterFigures {
  // By name; `uncharged` is not told. The nameless one, of gangs without a Queue, comes last.
  std::vector<QueueView> queues;
  std::vector<CohortView> cohorts;  // as in a ClusterView; which Queues name them is not told
  std::vector<GpuTotalView> gpus;
  std::vector<LevelRoomView> levels;  // with GPUs; from the widest to the narrowest
};

using ClusterFiguresPtr = std::shared_ptr<const ClusterFigures>;

}  // namespace maniple
