// How long decisions within a topology take: racks, NVLink domains, slices, and the proof that
// nothing fits. With what a scheduling loop remembers between decisions, unless the name says so.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugins/builtin.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/state/cluster_state.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

struct Room {
  int nodes = 5000;
  int racks = 50;
  int blocks = 5;
  int used_gpus = 0;  // on every third node
  int all_used_gpus = 0;
  enum class Cores { kAlike, kUnlike } cores = Cores::kAlike;  // how many are free, node by node
};

// Members of one shape.
struct Role {
  int pods = 1;
  int64_t gpus = 1;
};

class Bench final {
 public:
  explicit Bench(const Room& room) : profile_(BuiltinProfile()) {
    Topology topology;
    topology.meta.name = "default";
    for (const char* level : {"block", "rack", "host"}) {
      const std::string name = level;
      topology.levels.push_back(
          {.name = name,
           .node_label = name == "host" ? "kubernetes.io/hostname" : "example.com/" + name});
    }
    Apply(ObjectUpserted{topology});
    for (int n = 0; n < room.nodes; ++n) {
      const int rack = static_cast<int>(int64_t{n} * room.racks / room.nodes);
      const std::string name = absl::StrCat("node-", 10'000 + n);
      Apply(MakeNode(name)
                .Gpu(8)
                .Label("kubernetes.io/hostname", name)
                .Label("example.com/rack", absl::StrCat("rack-", 100 + rack))
                .Label("example.com/block", absl::StrCat("block-", rack * room.blocks / room.racks))
                .Label("nvidia.com/gpu.clique", absl::StrCat("clique-", 1000 + n / 18)));
      const int used = room.all_used_gpus > 0 ? room.all_used_gpus
                       : n % 3 == 0           ? room.used_gpus
                                              : 0;
      if (used > 0) {
        Apply(MakePod(absl::StrCat("load-", n)).Scheduler("other").Gpu(used).On(name));
      }
      if (room.cores == Room::Cores::kUnlike) {
        Apply(MakePod(absl::StrCat("daemon-", n)).Scheduler("other").Cpu(1 + n).On(name));
      }
    }
  }

  void Submit(int pods, int64_t gpus, const TopologyRequest& topology) {
    Submit({{.pods = pods, .gpus = gpus}}, topology);
  }
  void Submit(const std::vector<Role>& roles, const TopologyRequest& topology) {
    int pods = 0;
    for (const Role& role : roles) pods += role.pods;
    PodGroup group = MakePodGroup("gang").MinMember(pods);
    group.spec.topology = topology;
    Apply(ObjectUpserted{group});
    int index = 0;
    for (const Role& role : roles) {
      for (int i = 0; i < role.pods; ++i, ++index) {
        Apply(
            MakePod(absl::StrCat("gang-", 1000 + index)).Group("gang").Index(index).Gpu(role.gpus));
      }
    }
    const Gang& gang =
        *state_.FindGang(state_.GangNamed({.namespace_name = "default", .name = "gang"}).value());
    request_.name = "gang";
    request_.need.total = pods;
    request_.topology = topology;
    for (const Member& member : gang.members) {
      request_.wants.push_back(
          {.pod = member.pod, .shape = member.shape, .rank = {.index = member.rank.index}});
    }
  }

  enum class Memory { kCold, kWarm };
  void Run(benchmark::State& run, bool placed, Memory memory = Memory::kWarm) {
    const SnapshotPtr snapshot = state_.Publish();
    RoomCache cache;
    for (auto _ : run) {
      const Decision decision = Decide({.snapshot = *snapshot,
                                        .request = request_,
                                        .now = kNow,
                                        .cache = memory == Memory::kWarm ? &cache : nullptr},
                                       profile_);
      if (std::holds_alternative<Plan>(decision) != placed) run.SkipWithError("wrong answer");
      benchmark::DoNotOptimize(&decision);
    }
  }

 private:
  void Apply(const ObjectEvent& event) {
    Delta delta;
    state_.Apply(event, kNow, delta);
  }

  ClusterState state_{ClusterStateOptions{}};
  Profile profile_;
  GangRequest request_;
};

// All racks are equal, so every one of them is scored.
void BM_FourInOneRack(benchmark::State& run) {
  Bench bench({.used_gpus = 2});
  bench.Submit(4, 4, {.required = "rack"});
  bench.Run(run, true);
}
BENCHMARK(BM_FourInOneRack)->Unit(benchmark::kMicrosecond);

void BM_FourInOneRackWithoutMemory(benchmark::State& run) {
  Bench bench({.used_gpus = 2});
  bench.Submit(4, 4, {.required = "rack"});
  bench.Run(run, true, Bench::Memory::kCold);
}
BENCHMARK(BM_FourInOneRackWithoutMemory)->Unit(benchmark::kMicrosecond);

void BM_FourInOneNvlinkDomain(benchmark::State& run) {
  Bench bench({.used_gpus = 2});
  bench.Submit(4, 8, {.required = "nvlink"});
  bench.Run(run, true);
}
BENCHMARK(BM_FourInOneNvlinkDomain)->Unit(benchmark::kMicrosecond);

// 66 of a rack's 100 nodes are whole: 64 fit into one, 100 need two of a block.
void BM_WholeNodesPreferringARack(benchmark::State& run) {
  Bench bench({.used_gpus = 2});
  bench.Submit(static_cast<int>(run.range(0)), 8, {.preferred = "rack"});
  bench.Run(run, true);
}
BENCHMARK(BM_WholeNodesPreferringARack)->Arg(64)->Arg(100)->Unit(benchmark::kMicrosecond);

// Racks of 16: 64 whole nodes take several racks of a block.
void BM_WholeNodesWideningPastRacks(benchmark::State& run) {
  Bench bench({.racks = 312, .blocks = 6, .used_gpus = 2});
  bench.Submit(64, 8, {.preferred = "rack"});
  bench.Run(run, true);
}
BENCHMARK(BM_WholeNodesWideningPastRacks)->Unit(benchmark::kMicrosecond);

void BM_ThousandPodsInSlices(benchmark::State& run) {
  Bench bench({.nodes = 10'000, .racks = 625, .blocks = 4, .used_gpus = 2});
  bench.Submit(1000, 8,
               {.required = "block",
                .preferred = "rack",
                .slice_size = 8,
                .slice_level = run.range(0) == 0 ? "rack" : "nvlink"});
  bench.Run(run, true);
}
BENCHMARK(BM_ThousandPodsInSlices)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// 80 GPUs in one rack of 500 nodes, of which every one is full, or has one GPU left: with the
// reason of each node. The argument: GPUs of a member.
void BM_ProvenThatNoRackFits(benchmark::State& run) {
  const auto gpus = static_cast<int>(run.range(0));
  Bench bench({.nodes = 500, .racks = 50, .blocks = 5, .all_used_gpus = gpus == 8 ? 8 : 7});
  bench.Submit(80 / gpus, gpus, {.required = "rack"});
  bench.Run(run, false);
}
BENCHMARK(BM_ProvenThatNoRackFits)->Arg(8)->Arg(1)->Unit(benchmark::kMicrosecond);

// A launcher of five GPUs and one of four beside seven workers on whole nodes: 624 racks of eight
// nodes take each of the shapes, and the one of nine takes them all. Without it: the proof.
void BM_ThreeShapesInTheOnlyGoodRack(benchmark::State& run) {
  const bool good = run.range(0) == 1;
  Bench bench({.nodes = good ? 5001 : 5000, .racks = 625, .cores = Room::Cores::kUnlike});
  bench.Submit({{.gpus = 5}, {.gpus = 4}, {.pods = 7, .gpus = 8}}, {.required = "rack"});
  bench.Run(run, good);
}
BENCHMARK(BM_ThreeShapesInTheOnlyGoodRack)->Arg(1)->Arg(0)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace maniple
