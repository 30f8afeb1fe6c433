#include "scheduler/loop/views/level_room.h"

#include <algorithm>
#include <optional>

#include "api/gpu/gpu_resource.h"
#include "scheduler/cycle/topology/topology.h"
#include "scheduler/loop/views/gpu_totals.h"

namespace maniple {
namespace {

constexpr char kWholeCluster[] = "cluster";
constexpr char kNvlink[] = "nvlink";
constexpr char kSingleNode[] = "node";

std::vector<ResourceId> WholeGpus(const Tables& tables) {
  std::vector<ResourceId> whole;
  for (uint32_t r = 0; r < tables.resources.size(); ++r) {
    const std::optional<GpuResource> gpu = GpuResourceOf(tables.resources[r].name);
    if (gpu.has_value() && gpu->kind == GpuKind::kWhole) whole.emplace_back(r);
  }
  return whole;
}

struct NodeGpus {
  int64_t all = 0, free = 0;
  [[nodiscard]] bool idle() const { return all > 0 && free == all; }
};

NodeGpus GpusOf(const Snapshot& snapshot, NodeId node, const std::vector<ResourceId>& whole) {
  const NodeBlock& block = *snapshot.blocks[BlockOf(node)];
  const uint32_t row = RowOf(node);
  NodeGpus gpus;
  for (const ResourceId resource : whole) {
    gpus.all += block.Allocatable(resource)[row];
    gpus.free += std::max<int64_t>(0, block.Free(resource)[row]);
  }
  const NodeClassId node_class = block.rows().classes[row];
  const bool open =
      StateOfRest(snapshot.tables->classes[node_class.index()].get()) == GpuState::kFree;
  return open ? gpus : NodeGpus{.all = gpus.all, .free = 0};
}

struct DomainRoom {
  int64_t nodes = 0, idle = 0;  // nodes with GPUs, and those of them that nobody uses
  int64_t free = 0;             // GPUs
};

LevelRoomView Told(const LevelKey& level, const std::vector<DomainRoom>& domains) {
  LevelRoomView view{.level = level.name, .largest_gang_gpus = 0, .free_slices = {}};
  int64_t largest = 0;
  for (const DomainRoom& domain : domains) {
    view.largest_gang_gpus = std::max(view.largest_gang_gpus, domain.free);
    largest = std::max(largest, domain.nodes);
  }
  for (int64_t size = 1; size <= largest; size *= 2) {
    int64_t slices = 0;
    for (const DomainRoom& domain : domains) slices += domain.idle / size;
    view.free_slices.emplace_back(size, slices);
  }
  return view;
}

}  // namespace

std::vector<LevelKey> LevelsToTell(const Tables& tables) {
  std::vector<LevelKey> own;
  if (const Topology* topology = FindTopology(tables, ""); topology != nullptr) {
    for (size_t i = 0; i < topology->levels.size(); ++i) {
      own.push_back(PathTo(LevelPlace{topology, i}));
    }
  }
  // One name is one series: a level of the Topology goes before ours of that name.
  const auto is_free = [&own](absl::string_view name) {
    return std::ranges::find(own, name, &LevelKey::name) == own.end();
  };
  std::vector<LevelKey> levels;
  if (is_free(kWholeCluster)) levels.push_back({.name = kWholeCluster, .steps = {}});
  levels.insert(levels.end(), own.begin(), own.end());
  if (!tables.nvlink_labels.empty() && is_free(kNvlink)) {
    levels.push_back({.name = kNvlink, .steps = {tables.nvlink_labels}});
  }
  if (is_free(kSingleNode)) levels.push_back({.name = kSingleNode, .steps = {}});
  return levels;
}

LevelRoomView RoomOf(const Snapshot& snapshot, const LevelKey& level, LevelStore& store) {
  const std::vector<ResourceId> whole = WholeGpus(*snapshot.tables);
  const DomainLevelPtr paths = level.steps.empty() ? nullptr : store.Level(snapshot, level);
  const bool each_alone = level.name == kSingleNode && paths == nullptr;
  std::vector<DomainRoom> domains(paths == nullptr ? 1 : paths->paths.size());
  for (const NodeId node : snapshot.order->by_name) {
    const uint32_t at = paths == nullptr ? 0 : paths->DomainOf(node);
    if (at == DomainLevel::kOutside) continue;
    const NodeGpus gpus = GpusOf(snapshot, node, whole);
    if (gpus.all == 0) continue;
    DomainRoom& domain = domains[at];
    domain.nodes += each_alone && domain.nodes > 0 ? 0 : 1;
    domain.idle += gpus.idle() ? 1 : 0;
    domain.free = each_alone ? std::max(domain.free, gpus.free) : domain.free + gpus.free;
  }
  return Told(level, domains);
}

}  // namespace maniple
