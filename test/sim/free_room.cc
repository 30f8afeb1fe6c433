#include "test/sim/free_room.h"

#include "test/sim/names.h"

namespace maniple::sim {

int64_t MostFree(const Truth& truth, const std::string& node, const std::set<std::string>& without,
                 absl::Time now) {
  int64_t free = truth.node_truth().MostOffered(node, kGpu, now);
  for (const auto& [key, pod] : truth.pods()) {
    if (pod.node != node || pod.ended() || without.contains(key)) continue;
    if (pod.ours || pod.bound_at < now - kBlind) free -= pod.gpus;
  }
  return free;
}

std::map<std::string, int64_t> FreeGpus(const Truth& truth, const GangNames& without) {
  std::map<std::string, int64_t> free;
  for (const auto& [name, node] : truth.nodes()) {
    if (!node.cordoned && !node.tainted) free[name] = node.gpus;
  }
  for (const auto& [key, pod] : truth.pods()) {
    if (pod.ended() || pod.node.empty() || without.contains(pod.gang)) continue;
    if (const auto it = free.find(pod.node); it != free.end()) it->second -= pod.gpus;
  }
  return free;
}

}  // namespace maniple::sim
