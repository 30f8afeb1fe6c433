#include "bench/quality/fragmentation_gradient.h"

#include <cmath>

namespace maniple {
namespace {

// As published: typical pods are told apart without their memory.
bool Runs(const NodeState& node, const OpenbShape& shape) {
  OpenbShape without_memory = shape;
  without_memory.memory = 0;
  return node.Fits(without_memory);
}

int64_t ScoreOf(double shrinkage_milli) {
  return static_cast<int64_t>(std::floor(100.0 / (1.0 + std::exp(-shrinkage_milli / 1000.0))));
}

}  // namespace

FragmentationGradient::FragmentationGradient(const OpenbList& list) : list_(list) {
  const std::vector<TypicalShape> typical = TypicalOf(list);
  int64_t pods = 0;
  for (const TypicalShape& each : typical) pods += each.pods;
  for (const TypicalShape& each : typical) {
    typical_.push_back({.shape = list.shapes[each.shape],
                        .probability = static_cast<double>(each.pods) / static_cast<double>(pods)});
  }
}

double FragmentationGradient::FragmentOf(const NodeState& node) const {
  const int64_t all = node.free_milli();
  double fragment = 0;
  for (const Typical& typical : typical_) {
    int64_t lost = all;
    if (typical.shape.gpus > 0 && Runs(node, typical.shape)) {
      for (int32_t i = 0; i < node.gpus; ++i) {
        if (node.free[i] >= typical.shape.milli) lost -= node.free[i];
      }
    }
    fragment += typical.probability * static_cast<double>(lost);
  }
  return fragment;
}

Offer FragmentationGradient::OfferFor(const NodeState& node, uint32_t shape_index) {
  const OpenbShape& shape = list_.shapes[shape_index];
  const double before = FragmentOf(node);
  const auto score_on = [&](int32_t device) {
    NodeState after = node;
    after.Take(shape, device);
    return ScoreOf(before - FragmentOf(after));
  };
  if (!shape.shares()) return {.score = score_on(-1)};
  Offer best{.score = -1};
  for (int32_t i = 0; i < node.gpus; ++i) {
    if (node.free[i] < shape.milli) continue;
    if (const int64_t score = score_on(i); score > best.score) best = {.score = score, .device = i};
  }
  return best;
}

}  // namespace maniple
