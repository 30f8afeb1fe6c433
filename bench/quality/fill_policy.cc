#include "bench/quality/fill_policy.h"

#include <algorithm>
#include <utility>

namespace maniple {
namespace {

// Every shape of the list, if there are not too many; those that matter most by their number or by
// the GPU work they ask for.
std::vector<FillRequest> TypicalRequests(const OpenbList& list) {
  std::vector<int64_t> pods(list.shapes.size());
  int64_t work = 0;
  for (const uint32_t pod : list.pods) {
    ++pods[pod];
    work += list.shapes[pod].gpu_milli();
  }
  std::vector<std::pair<double, uint32_t>> by_weight;
  for (uint32_t i = 0; i < pods.size(); ++i) {
    const auto number = static_cast<double>(pods[i]);
    const double by_number = number / static_cast<double>(list.pods.size());
    const double by_work =
        number * static_cast<double>(list.shapes[i].gpu_milli()) / static_cast<double>(work);
    by_weight.emplace_back(-std::max(by_number, by_work), i);
  }
  std::ranges::sort(by_weight);
  if (by_weight.size() > kMostTypical) by_weight.resize(kMostTypical);
  std::vector<FillRequest> requests;
  for (const auto& [weight, index] : by_weight) {
    const OpenbShape& shape = list.shapes[index];
    FillRequest request{.cpu = shape.cpu, .memory = shape.memory, .gpus = shape.gpus};
    if (shape.gpus > 0) request.milli = shape.milli;
    request.models = shape.models;
    request.frequency = pods[index];
    requests.push_back(request);
  }
  return requests;
}

std::vector<int64_t> GpusByModel(const OpenbCluster& cluster) {
  std::vector<int64_t> gpus(cluster.models.size());
  for (const OpenbNode& node : cluster.nodes) gpus[node.model] += node.gpus;
  return gpus;
}

FillRoom RoomOf(const NodeState& node) {
  FillRoom room{.cpu = node.cpu, .memory = node.memory, .model = node.model};
  for (int32_t i = 0; i < node.gpus; ++i) {
    if (node.free[i] == kGpuMilli) {
      ++room.whole;
    } else if (node.free[i] > 0) {
      room.AddPart(node.free[i]);
    }
  }
  return room;
}

int64_t PercentUsed(int64_t all, int64_t free) { return all <= 0 ? 100 : (all - free) * 100 / all; }

// As plugins/packing.cc does, on the node with the pod.
int64_t PackingOf(const NodeState& after, const OpenbShape& shape) {
  const int64_t rest =
      PercentUsed(after.all_cpu, after.cpu) + PercentUsed(after.all_memory, after.memory);
  if (shape.gpus == 0) return rest / 2;
  return (rest + 8 * PercentUsed(int64_t{after.gpus} * kWholeGpu, after.free_milli())) / 10;
}

}  // namespace

FillPolicy::FillPolicy(const OpenbCluster& cluster, const OpenbList& list,
                       const FillPolicyOptions& options)
    : list_(list),
      options_(options),
      fill_(TypicalRequests(list), options.fill),
      prices_(PricesOf(fill_, GpusByModel(cluster), options.price)) {}

Offer FillPolicy::OfferFor(const NodeState& node, uint32_t index) {
  const OpenbShape& shape = list_.shapes[index];
  Offer offer;
  if (shape.shares()) offer.device = node.TightestFor(shape);
  NodeState after = node;
  after.Take(shape, offer.device);
  const int64_t price = prices_[node.model] * shape.gpu_milli() / kWholeGpu;
  const int64_t loss = fill_.ValueOf(RoomOf(node)) - fill_.ValueOf(RoomOf(after)) + price;
  switch (options_.rounding) {
    case FillPolicyOptions::Rounding::kNone:
      offer.score = -loss;
      break;
    case FillPolicyOptions::Rounding::kPoints:
      offer.score = options_.weight * ScoreOfLoss(loss, shape.gpu_milli()) +
                    options_.packing_weight * PackingOf(after, shape);
      break;
  }
  return offer;
}

}  // namespace maniple
