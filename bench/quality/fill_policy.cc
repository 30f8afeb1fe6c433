#include "bench/quality/fill_policy.h"

namespace maniple {
namespace {

std::vector<FillRequest> TypicalRequests(const OpenbList& list) {
  std::vector<FillRequest> requests;
  for (const TypicalShape& typical : TypicalOf(list)) {
    const OpenbShape& shape = list.shapes[typical.shape];
    FillRequest request{.cpu = shape.cpu, .memory = shape.memory, .gpus = shape.gpus};
    if (shape.gpus > 0) request.milli = shape.milli;
    request.models = shape.models;
    request.frequency = typical.pods;
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

}  // namespace

FillPolicy::FillPolicy(const OpenbCluster& cluster, const OpenbList& list,
                       const FillPolicyOptions& options)
    : list_(list),
      fill_(TypicalRequests(list), options.fill),
      prices_(PricesOf(fill_.typical(), GpusByModel(cluster), options.price)) {}

Offer FillPolicy::OfferFor(const NodeState& node, uint32_t index) {
  const OpenbShape& shape = list_.shapes[index];
  Offer offer;
  if (shape.shares()) offer.device = node.TightestFor(shape);
  NodeState after = node;
  after.Take(shape, offer.device);
  const int64_t price = prices_[node.model] * shape.gpu_milli() / kWholeGpu;
  offer.score = fill_.ValueOf(RoomOf(after)) - fill_.ValueOf(RoomOf(node)) - price;
  return offer;
}

}  // namespace maniple
