#include "bench/quality/replay.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "api/base/check.h"
#include "api/base/random.h"

namespace maniple {
namespace {

template <typename T>
void Shuffle(std::vector<T>& values, Random& random) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.Below(i)]);
}

}  // namespace

bool NodeState::Fits(const OpenbShape& shape) const {
  if (cpu < shape.cpu || memory < shape.memory) return false;
  if (shape.gpus == 0) return true;
  if (((shape.models >> model) & 1) == 0) return false;
  int32_t devices = 0;
  for (int32_t i = 0; i < gpus; ++i) devices += free[i] >= shape.milli ? 1 : 0;
  return devices >= shape.gpus;
}

int32_t NodeState::idle() const {
  return static_cast<int32_t>(std::count(free.begin(), free.begin() + gpus, kWholeGpu));
}

int64_t NodeState::free_milli() const {
  return std::accumulate(free.begin(), free.begin() + gpus, int64_t{0});
}

int32_t NodeState::TightestFor(const OpenbShape& shape) const {
  int32_t tightest = -1;
  for (int32_t i = 0; i < gpus; ++i) {
    if (free[i] >= shape.milli && (tightest < 0 || free[i] < free[tightest])) tightest = i;
  }
  return tightest;
}

void NodeState::Take(const OpenbShape& shape, int32_t device) {
  CHECK(Fits(shape)) << "taking what does not fit";
  cpu -= shape.cpu;
  memory -= shape.memory;
  if (shape.shares()) {
    free[device] -= shape.milli;
    return;
  }
  int32_t left = shape.gpus;
  for (int32_t i = 0; i < gpus && left > 0; ++i) {
    if (free[i] < shape.milli) continue;
    free[i] -= shape.milli;
    --left;
  }
}

Arrivals ArrivalsOf(const OpenbList& list, const OpenbCluster& cluster, uint64_t seed) {
  Random random(seed);
  Arrivals arrivals;
  arrivals.pods = list.pods;
  Shuffle(arrivals.pods, random);
  const int64_t most = cluster.gpu_milli() * kMostArrived / 100;
  int64_t asked = 0;
  for (const uint32_t pod : arrivals.pods) asked += list.shapes[pod].gpu_milli();
  while (asked > most) {
    const size_t at = random.Below(arrivals.pods.size());
    asked -= list.shapes[arrivals.pods[at]].gpu_milli();
    arrivals.pods.erase(arrivals.pods.begin() + static_cast<int64_t>(at));
  }
  const size_t originals = arrivals.pods.size();
  for (;;) {
    const uint32_t pod = arrivals.pods[random.Below(originals)];
    // As published: the next one's milli of one GPU decide whether it is the last.
    if (asked + list.shapes[pod].milli > most) break;
    asked += list.shapes[pod].gpu_milli();
    arrivals.pods.push_back(pod);
  }
  arrivals.node_rank.resize(cluster.nodes.size());
  std::iota(arrivals.node_rank.begin(), arrivals.node_rank.end(), 0);
  Shuffle(arrivals.node_rank, random);
  return arrivals;
}

std::vector<TypicalShape> TypicalOf(const OpenbList& list) {
  // Memory does not tell shapes apart: the first of equal ones stands for them.
  std::map<std::tuple<int64_t, int32_t, int32_t, uint64_t>, TypicalShape> counts;
  for (const uint32_t pod : list.pods) {
    const OpenbShape& shape = list.shapes[pod];
    auto& counted = counts[{shape.cpu, shape.gpus, shape.milli, shape.models}];
    if (counted.pods++ == 0) counted.shape = pod;
  }
  std::vector<TypicalShape> typical;
  for (const auto& [key, counted] : counts) typical.push_back(counted);
  std::ranges::stable_sort(typical, std::greater<>(), &TypicalShape::pods);
  int64_t covered = 0;
  size_t kept = 0;
  while (kept < typical.size() && covered * 100 < static_cast<int64_t>(list.pods.size()) * 95) {
    covered += typical[kept++].pods;
  }
  typical.resize(kept);
  return typical;
}

// ---- the replay

namespace {

// The nodes while they fill, and what the policy offered for each (shape, node) as it is now.
class Filling final {
 public:
  Filling(const OpenbCluster& cluster, const OpenbList& list, QualityPolicy& policy)
      : list_(list), policy_(policy), offers_(list.shapes.size()) {
    for (const OpenbNode& node : cluster.nodes) {
      NodeState state{.all_cpu = node.cpu, .all_memory = node.memory};
      state.cpu = node.cpu;
      state.memory = node.memory;
      state.model = node.model;
      state.gpus = node.gpus;
      std::fill_n(state.free.begin(), node.gpus, kWholeGpu);
      nodes_.push_back(state);
    }
    changed_.assign(nodes_.size(), 1);
  }

  // False: it fits nowhere.
  bool Place(uint32_t shape, const std::vector<uint32_t>& node_rank) {
    if (policy_.Announce(shape)) std::fill(changed_.begin(), changed_.end(), ++turn_);
    ++turn_;
    std::vector<Known>& known = offers_[shape];
    known.resize(nodes_.size());
    size_t best = nodes_.size();
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (known[n].asked < changed_[n]) known[n] = Ask(nodes_[n], shape);
      if (!known[n].fits) continue;
      if (best == nodes_.size() || known[n].offer.score > known[best].offer.score ||
          (known[n].offer.score == known[best].offer.score && node_rank[n] < node_rank[best])) {
        best = n;
      }
    }
    if (best == nodes_.size()) return false;
    nodes_[best].Take(list_.shapes[shape], known[best].offer.device);
    changed_[best] = ++turn_;
    return true;
  }

 private:
  struct Known {
    uint64_t asked = 0;
    bool fits = false;
    Offer offer;
  };
  Known Ask(const NodeState& node, uint32_t shape) {
    Known known{.asked = turn_, .fits = node.Fits(list_.shapes[shape])};
    if (known.fits) known.offer = policy_.OfferFor(node, shape);
    return known;
  }

  const OpenbList& list_;
  QualityPolicy& policy_;
  std::vector<NodeState> nodes_;
  std::vector<uint64_t> changed_;           // by node: the turn of its last change
  std::vector<std::vector<Known>> offers_;  // by shape, by node
  uint64_t turn_ = 1;
};

}  // namespace

Curve Replay(const OpenbCluster& cluster, const OpenbList& list, const Arrivals& arrivals,
             QualityPolicy& policy) {
  Filling filling(cluster, list, policy);
  const auto total = static_cast<double>(cluster.gpu_milli());
  int64_t arrived = 0, allocated = 0;
  std::array<int64_t, kMostArrived + 2> samples{};
  Curve sums{};
  for (const uint32_t pod : arrivals.pods) {
    const int64_t milli = list.shapes[pod].gpu_milli();
    arrived += milli;
    if (filling.Place(pod, arrivals.node_rank)) allocated += milli;
    const int64_t percent = std::lround(100.0 * static_cast<double>(arrived) / total);
    const auto at = static_cast<size_t>(std::min<int64_t>(percent, kMostArrived));
    ++samples[at];
    sums[at] += 100.0 * static_cast<double>(allocated) / total;
  }
  for (size_t at = 0; at < sums.size(); ++at) {
    if (samples[at] > 0) {
      sums[at] /= static_cast<double>(samples[at]);
    } else if (at > 0) {
      sums[at] = sums[at - 1];
    }
  }
  return sums;
}

}  // namespace maniple
