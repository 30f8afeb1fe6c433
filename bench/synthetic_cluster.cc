#include "bench/synthetic_cluster.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

std::string NodeNameOf(int i) { return absl::StrFormat("node-%05d", i); }

// As long as real ones.
std::string UidOf(int i) { return absl::StrFormat("%08x-1c5e-4f6a-9d2b-0a1b2c3d4e5f", i); }

}  // namespace

std::vector<ObjectEvent> SyntheticNodes(int count) {
  std::vector<ObjectEvent> events;
  for (int i = 0; i < count; ++i) {
    MakeNode node(NodeNameOf(i));
    node.Gpu(8).Cpu(96).Memory(int64_t{1} << 40);
    node.Label("kubernetes.io/hostname", NodeNameOf(i));
    node.Label("topology/rack", absl::StrCat("rack-", i / 16));
    events.push_back(node);
  }
  return events;
}

std::vector<ObjectEvent> SyntheticGang(int number, int pods, int64_t gpus) {
  const std::string name = absl::StrCat("gang-", number);
  std::vector<ObjectEvent> events = {MakePodGroup(name).MinMember(pods)};
  for (int i = 0; i < pods; ++i) {
    MakePod pod(absl::StrCat(name, "-worker-", i));
    pod.Group(name).Index(i).Gpu(gpus).Cpu(8000).Memory(int64_t{32} << 30);
    pod.Uid(UidOf(1'000'000 + number * 1000 + i));
    events.push_back(pod);
  }
  return events;
}

std::vector<ObjectEvent> SyntheticLoad(int count, int nodes) {
  std::vector<ObjectEvent> events;
  for (int i = 0; i < count; ++i) {
    const std::string group = absl::StrCat("load-", i / 8);
    if (i % 8 == 0) events.push_back(MakePodGroup(group).MinMember(8));
    MakePod pod(absl::StrCat(group, "-worker-", i % 8));
    pod.Group(group).Index(i % 8).Uid(UidOf(i)).On(NodeNameOf((i / 10) % nodes));
    pod.Gpu(i % 10 < 4 ? 1 : 0).Cpu(1000 + i % 50).Memory(int64_t{4} << 30);
    pod.Phase(PodPhase::kRunning);
    events.push_back(pod);
  }
  return events;
}

}  // namespace maniple
