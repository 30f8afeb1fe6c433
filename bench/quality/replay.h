// The published experiment on the openb trace: pods arrive one by one, none ever leaves, and one
// that fits nowhere is dropped. How much of the GPUs is allocated in the end?
//
// Per seed: the list is shuffled, clones drawn with replacement follow until 130 % of the GPUs have
// been asked for (a longer list loses pods at random instead), and ties go to the node that is
// first in a permutation drawn once. A pod needs cores, memory, a model it allows, and enough GPUs
// with enough left. Pure: the same arguments give the same result.
//
//   FragmentationGradient fgd(TypicalOf(list));
//   const Curve curve = Replay(cluster, list, ArrivalsOf(list, cluster, 42), fgd);
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/quality/openb.h"

namespace maniple {

inline constexpr int32_t kMostArrived = 130;  // percent of the cluster's GPUs

// A node while pods arrive.
struct NodeState {
  int64_t all_cpu = 0, all_memory = 0;
  int64_t cpu = 0, memory = 0;  // free
  uint32_t model = 0;
  int32_t gpus = 0;
  std::array<int32_t, kMostDevices> free{};  // milli by device

  [[nodiscard]] bool Fits(const OpenbShape& shape) const;
  // Devices that no pod uses.
  [[nodiscard]] int32_t idle() const;
  [[nodiscard]] int64_t free_milli() const;
  // The fitting device with least room for a pod that shares; -1: none.
  [[nodiscard]] int32_t TightestFor(const OpenbShape& shape) const;
  // REQUIRES: it fits, and on `device` if it shares. Others take idle devices in their order.
  void Take(const OpenbShape& shape, int32_t device);
};

// How good it is to put one pod of a shape on a node that it fits.
struct Offer {
  int64_t score = 0;    // more is better
  int32_t device = -1;  // for a pod that shares
};
class QualityPolicy {
 public:
  virtual ~QualityPolicy() = default;
  // Follows from the arguments and from what was announced alone.
  [[nodiscard]] virtual Offer OfferFor(const NodeState& node, uint32_t shape) = 0;
  // A pod has arrived. True: what was offered so far may not hold any more.
  [[nodiscard]] virtual bool Announce(uint32_t) { return false; }
};

struct Arrivals {
  std::vector<uint32_t> pods;       // indices of shapes
  std::vector<uint32_t> node_rank;  // by node; ties go to the lowest
};
[[nodiscard]] Arrivals ArrivalsOf(const OpenbList& list, const OpenbCluster& cluster,
                                  uint64_t seed);

// Allocated GPUs in percent of all by arrived percent: the mean over the samples that round to it.
using Curve = std::array<double, kMostArrived + 1>;
[[nodiscard]] Curve Replay(const OpenbCluster& cluster, const OpenbList& list,
                           const Arrivals& arrivals, QualityPolicy& policy);

// The most frequent shapes of the list, until they cover 95 % of its pods.
struct TypicalShape {
  uint32_t shape = 0;
  int64_t pods = 0;
};
[[nodiscard]] std::vector<TypicalShape> TypicalOf(const OpenbList& list);

}  // namespace maniple
