#include "scheduler/simulate/gpu_use.h"

#include "absl/strings/numbers.h"
#include "scheduler/replay/known_ends.h"
#include "scheduler/simulate/trace.h"

namespace maniple {
namespace {

int64_t CountIn(const Json& amounts) {
  int64_t gpus = amounts[kTracedGpu].AsInt();
  if (amounts[kTracedGpu].is_string() && !absl::SimpleAtoi(amounts[kTracedGpu].AsString(), &gpus))
    return 0;
  return gpus;
}

int64_t GpusOfPod(const Json& pod) {
  int64_t gpus = 0;
  for (const Json& container : pod["spec"]["containers"].items()) {
    gpus += CountIn(container["resources"]["limits"]);
  }
  return gpus;
}

}  // namespace

int64_t GpusOfNode(const Json& node) { return CountIn(node["status"]["allocatable"]); }

GpuUse::GpuUse(const std::vector<Json>& cluster) {
  for (const Json& object : cluster) {
    if (object["kind"].AsString() != "Node") continue;
    NodeGpus& node = nodes_[object["metadata"]["name"].AsString()];
    node.gpus = GpusOfNode(object);
    all_ += node.gpus;
  }
  for (const Json& object : cluster) {
    const bool pod = object["kind"].AsString() == "Pod";
    if (pod && object["spec"]["nodeName"].AsString().empty()) {
      wait_.emplace(KeyOf(object), GpusOfPod(object));
    }
    if (!StandsSomewhere(object)) continue;
    const Stands stands{.node = object["spec"]["nodeName"].AsString(), .gpus = GpusOfPod(object)};
    Take(stands.node, stands.gpus);
    stand_.emplace(KeyOf(object), stands);
  }
}

void GpuUse::Arrive(const std::string& pod, const std::string& node) {
  const auto it = wait_.find(pod);
  if (it == wait_.end()) return;
  Take(node, it->second);
  stand_[pod] = {.node = node, .gpus = it->second};
  wait_.erase(it);
}

void GpuUse::Leave(const std::string& pod) {
  const auto it = stand_.find(pod);
  if (it == stand_.end()) return;
  Take(it->second.node, -it->second.gpus);
  stand_.erase(it);
}

void GpuUse::Take(const std::string& node, int64_t gpus) {
  const auto it = nodes_.find(node);
  if (it == nodes_.end()) return;
  split_ -= it->second.split();
  it->second.used += gpus;
  used_ += gpus;
  split_ += it->second.split();
}

}  // namespace maniple
