// GPUs in use while pods come and go. Fears: a pod gives back what it never took, or twice; a pod
// that arrives again is counted twice; GPUs of a node without use, or of one that is full, are
// counted as split; an unknown node changes the sums.
#include "scheduler/simulate/gpu_use.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "scheduler/simulate/trace.h"

namespace maniple::simulate_gpu_use_test {
namespace {

Json NodeOf(const std::string& name, const Json& gpus) {
  return Json::Object(
      {{"kind", "Node"},
       {"metadata", Json::Object({{"name", name}})},
       {"status", Json::Object({{"allocatable", Json::Object({{kTracedGpu, gpus}})}})}});
}

Json PodOf(const std::string& name, const std::string& node, int64_t gpus) {
  const Json limits = Json::Object({{kTracedGpu, absl::StrCat(gpus)}});
  Json spec = Json::Object(
      {{"containers",
        Json::Array({Json::Object({{"resources", Json::Object({{"limits", limits}})}})})}});
  if (!node.empty()) spec.Set("nodeName", node);
  return Json::Object({{"kind", "Pod"},
                       {"metadata", Json::Object({{"namespace", "d"}, {"name", name}})},
                       {"spec", spec}});
}

// The sums, from scratch each time.
struct NaiveUse {
  struct Pod {
    std::string node;  // "": it waits
    int64_t gpus = 0;
    bool gone = false;
  };
  std::map<std::string, int64_t> nodes, taken;  // taken: by no pod
  std::map<std::string, Pod> pods;

  [[nodiscard]] std::map<std::string, int64_t> Used() const {
    std::map<std::string, int64_t> used = taken;
    for (const auto& [name, pod] : pods) {
      if (!pod.gone && nodes.contains(pod.node)) used[pod.node] += pod.gpus;
    }
    return used;
  }
};

TEST(GpuUseModel, IsWhatANaiveCountSaysAfterAnyHistory) {
  Random random(5);
  for (int round = 0; round < 100; ++round) {
    NaiveUse naive{.nodes = {{"m", 8}, {"n", 4}, {"o", 0}}, .taken = {}, .pods = {}};
    std::vector<Json> cluster = {NodeOf("m", "8"), NodeOf("n", 4), NodeOf("o", "1k")};
    const std::vector<std::string> places = {"", "m", "n", "o", "unknown"};
    for (int i = 0; i < 5; ++i) {
      const NaiveUse::Pod pod{.node = places[random.Below(places.size())],
                              .gpus = static_cast<int64_t>(random.Below(4))};
      const std::string name = absl::StrCat("p", i);
      cluster.push_back(PodOf(name, pod.node, pod.gpus));
      naive.pods[absl::StrCat("d/", name)] = pod;
    }
    GpuUse use(cluster);
    for (int step = 0; step < 20; ++step) {
      const std::string name = absl::StrCat("d/p", random.Below(7));  // some are unknown
      const std::string node = places[1 + random.Below(4)];
      const auto pod = naive.pods.find(name);
      switch (random.Below(3)) {
        case 0:
          use.Arrive(name, node);
          if (pod != naive.pods.end() && pod->second.node.empty()) pod->second.node = node;
          break;
        case 1:
          use.Leave(name);
          if (pod != naive.pods.end() && !pod->second.node.empty()) pod->second.gone = true;
          break;
        default: {
          const int64_t gpus = static_cast<int64_t>(random.Below(3));
          use.Take(node, gpus);
          if (naive.nodes.contains(node)) naive.taken[node] += gpus;
        }
      }
      int64_t used = 0, split = 0;
      for (const auto& [at, gpus] : naive.Used()) {
        used += gpus;
        if (gpus > 0 && gpus < naive.nodes[at]) split += naive.nodes[at] - gpus;
      }
      ASSERT_EQ(use.used(), used) << round;
      ASSERT_EQ(use.split(), split) << round;
      ASSERT_EQ(use.all(), 12);
      ASSERT_EQ(use.nodes(), 3);
    }
  }
}

}  // namespace
}  // namespace maniple::simulate_gpu_use_test
