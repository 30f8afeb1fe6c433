#include "scheduler/cycle/domains/domain_room.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace maniple {
namespace {

// The one resource of GPUs that its kinds want; none: several, or no GPU.
std::optional<ResourceId> GpusOf(const DomainSearch& ask, const Tables& tables) {
  std::optional<ResourceId> gpus;
  for (const Kind& kind : ask.kinds) {
    if (kind.bound == nullptr) continue;
    for (const auto& [resource, amount] : kind.bound->shape().requests) {
      if (!tables.FactsOf(resource).gpu) continue;
      if (gpus.has_value() && *gpus != resource) return std::nullopt;
      gpus = resource;
    }
  }
  return gpus;
}

// Adds up the free GPUs of nodes, each node once.
class FreeGpus final {
 public:
  FreeGpus(const Overlay& overlay, ResourceId resource)
      : overlay_(overlay), resource_(resource), seen_(overlay.block_count()) {}

  int64_t TakeOf(NodeId node) {
    NodeMask& seen = seen_[BlockOf(node)];
    if (seen.Test(RowOf(node))) return 0;
    seen.Set(RowOf(node));
    const NodeView view = overlay_.At(node);
    return std::max<int64_t>(0, view.block.Free(resource_)[view.row]);
  }

 private:
  const Overlay& overlay_;
  ResourceId resource_;
  NodeSet seen_;
};

// The units of a domain that members of one kind take.
int64_t UnitsOf(const Kind& kind, std::optional<ResourceId> gpus) {
  if (!gpus.has_value()) return 1;
  if (kind.bound == nullptr) return 0;
  for (const auto& [resource, amount] : kind.bound->shape().requests) {
    if (resource == *gpus) return amount;
  }
  return 0;
}

}  // namespace

std::vector<DomainRoom> RoomByDomain(const DomainSearch& ask, const DomainLevel& level,
                                     const Overlay& overlay, const NodeSet* within) {
  std::vector<DomainRoom> rooms(level.paths.size());
  for (uint32_t d = 0; d < rooms.size(); ++d) {
    rooms[d].domain = d;
    rooms[d].limits.assign(ask.kinds.size(), 0);
  }
  std::optional<FreeGpus> gpus;
  if (const auto resource = GpusOf(ask, *overlay.base().tables)) gpus.emplace(overlay, *resource);
  for (size_t k = 0; k < ask.kinds.size(); ++k) {
    if (ask.kinds[k].bound == nullptr) continue;
    const bool counts_gpus = gpus.has_value() && ask.kinds[k].bound->shape().wants_gpu;
    const auto add = [&](const NodeRoom& room) {
      const uint32_t domain = level.domain_of[room.node.index()];
      if (domain == DomainLevel::kOutside || room.pods <= 0) return;
      rooms[domain].limits[k] += room.pods;
      if (!gpus.has_value()) rooms[domain].units += room.pods;
      if (counts_gpus) rooms[domain].units += gpus->TakeOf(room.node);
    };
    BoundShape& bound = *ask.kinds[k].bound;
    if (bound.bounds_prove()) {
      bound.ByBlockOn(overlay, within).ForEach(add);
    } else {
      for (const NodeRoom& room : bound.AtMostOn(overlay, within).nodes) add(room);
    }
  }
  for (uint32_t k = 0; k < ask.kinds.size(); ++k) {
    const int64_t count = ask.problem.CountOf(k);
    for (DomainRoom& room : rooms) {
      room.takes_all = room.takes_all && room.limits[k] >= count;
    }
  }
  return rooms;
}

int64_t LeastUnits(const DomainSearch& ask, const Tables& tables) {
  const std::optional<ResourceId> gpus = GpusOf(ask, tables);
  std::vector<int64_t> units;
  for (const uint32_t kind : ask.problem.kinds) units.push_back(UnitsOf(ask.kinds[kind], gpus));
  std::ranges::sort(units);
  units.resize(
      std::min(units.size(), static_cast<size_t>(std::max<int64_t>(0, ask.problem.total))));
  return std::accumulate(units.begin(), units.end(), int64_t{0});
}

}  // namespace maniple
