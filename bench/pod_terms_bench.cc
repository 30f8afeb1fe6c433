// What affinity between pods and topology spread cost: one pod's filter pass over 5,000 nodes with
// 50,000 pods that its terms count, and a pod's arrival among 10,000 queries.
#include <benchmark/benchmark.h>

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/synthetic_cluster.h"
#include "plugins/builtin.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/room/bound_shape.h"
#include "scheduler/state/cluster_state.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

constexpr int kNodes = 5000;
constexpr int kPods = 50'000;
constexpr char kRack[] = "topology/rack";
constexpr char kHost[] = "kubernetes.io/hostname";
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

// Every pod is labelled app=load; every tenth wants to be apart from app=web by host and would
// rather be near app=web by rack.
class Bench final {
 public:
  Bench() : profile_(BuiltinProfile()) {
    for (const ObjectEvent& event : SyntheticNodes(kNodes)) Apply(event);
    int i = 0;
    for (const ObjectEvent& event : SyntheticLoad(kPods, kNodes)) {
      const auto* upserted = std::get_if<ObjectUpserted>(&event);
      const auto* known = upserted == nullptr ? nullptr : std::get_if<Pod>(&upserted->object);
      if (known == nullptr) {
        Apply(event);
        continue;
      }
      Pod pod = *known;
      pod.meta.labels.Set("app", "load");
      if (i++ % 10 == 0) {
        const Pod terms = MakePod("t")
                              .Apart(kHost, Labelled("app", "web"))
                              .RatherNear(5, kRack, Labelled("app", "web"));
        pod.constraints.pod_terms = terms.constraints.pod_terms;
      }
      Apply(ObjectUpserted{pod});
    }
  }

  void Apply(const ObjectEvent& event) { state_.Apply(event, kNow, delta_); }

  // Binding of all filters and scores included.
  void RunPass(benchmark::State& run, const MakePod& pod) {
    Apply(pod);
    const Pod model = pod;
    const SnapshotPtr snapshot = state_.Publish();
    const PodFacts& facts = *state_.FindPod(*state_.PodWithUid(model.meta.uid));
    const PodShape& shape = snapshot->tables->ShapeOf(facts.shape);
    const Overlay overlay(*snapshot, Overlay::View::kNow);
    for (auto _ : run) {
      auto bound = BoundShape::Bind({.snapshot = *snapshot, .now = kNow}, shape, profile_);
      const ShapeRoom room = bound->RoomOn(overlay, nullptr);
      benchmark::DoNotOptimize(room.total);
      run.counters["nodes"] = static_cast<double>(room.nodes.size());
    }
  }

  // A whole decision for a gang of 64 such pods.
  void RunGang(benchmark::State& run, const MakePod& like) {
    constexpr int kMembers = 64;
    Apply(MakePodGroup("g").MinMember(kMembers));
    const Pod model = like;
    for (int i = 0; i < kMembers; ++i) {
      Pod pod = MakePod(absl::StrCat("g-", i)).Group("g").Label("app", "g");
      pod.constraints = model.constraints;
      Apply(ObjectUpserted{pod});
    }
    const SnapshotPtr snapshot = state_.Publish();
    GangRequest request{.name = "g"};
    const GangId gang = *state_.GangNamed({.namespace_name = "default", .name = "g"});
    for (const Member& member : state_.FindGang(gang)->members) {
      request.wants.push_back({.pod = member.pod, .shape = member.shape});
    }
    request.need.total = kMembers;
    for (auto _ : run) {
      const std::optional<Plan> plan =
          FindPlan({.snapshot = *snapshot, .request = request, .now = kNow}, profile_);
      if (!plan.has_value()) run.SkipWithError("no plan");
    }
  }

  ClusterState& state() { return state_; }

 private:
  ClusterState state_{ClusterStateOptions{}};
  Delta delta_;
  Profile profile_;
};

MakePod Asking() { return MakePod("p").Cpu(100); }

void BM_PassWithoutTerms(benchmark::State& run) { Bench().RunPass(run, Asking()); }
BENCHMARK(BM_PassWithoutTerms)->Unit(benchmark::kMicrosecond);

void BM_PassSpreadByRack(benchmark::State& run) {
  Bench().RunPass(run, Asking().Label("app", "load").Spread(kRack, Labelled("app", "load")));
}
BENCHMARK(BM_PassSpreadByRack)->Unit(benchmark::kMicrosecond);

void BM_PassSpreadByRackAndHost(benchmark::State& run) {
  Bench().RunPass(run, Asking()
                           .Label("app", "load")
                           .Spread(kRack, Labelled("app", "load"), {.max_skew = 200})
                           .Spread(kHost, Labelled("app", "load"), {.max_skew = 20}));
}
BENCHMARK(BM_PassSpreadByRackAndHost)->Unit(benchmark::kMicrosecond);

void BM_PassNearByRack(benchmark::State& run) {
  Bench().RunPass(run, Asking().Near(kRack, Labelled("app", "load")));
}
BENCHMARK(BM_PassNearByRack)->Unit(benchmark::kMicrosecond);

void BM_PassApartByRackAndKeptAwayByHost(benchmark::State& run) {
  Bench().RunPass(run, Asking().Label("app", "web").Apart(kRack, Labelled("app", "web")));
}
BENCHMARK(BM_PassApartByRackAndKeptAwayByHost)->Unit(benchmark::kMicrosecond);

void BM_PassAsManyTermsAsAPodMayHave(benchmark::State& run) {
  MakePod pod = Asking();
  for (int i = 0; i < 128; ++i) {  // as many as a pod may have
    pod.Apart(i % 2 == 0 ? kRack : kHost, Labelled("app", absl::StrCat("x", i)));
  }
  Bench().RunPass(run, pod);
}
BENCHMARK(BM_PassAsManyTermsAsAPodMayHave)->Unit(benchmark::kMicrosecond);

void BM_GangOf64ApartByHost(benchmark::State& run) {
  Bench().RunGang(run, Asking().Apart(kHost, Labelled("app", "g")));
}
BENCHMARK(BM_GangOf64ApartByHost)->Unit(benchmark::kMicrosecond);

void BM_GangOf64NearByRack(benchmark::State& run) {
  Bench().RunGang(run, Asking().Near(kRack, Labelled("app", "g")));
}
BENCHMARK(BM_GangOf64NearByRack)->Unit(benchmark::kMicrosecond);

// Each member changes where the next may go.
void BM_GangOf64SpreadByRack(benchmark::State& run) {
  Bench().RunGang(run, Asking().Spread(kRack, Labelled("app", "g")));
}
BENCHMARK(BM_GangOf64SpreadByRack)->Unit(benchmark::kMicrosecond);

// A pod comes and goes; ten thousand gangs have asked about pods of their own.
void BM_PodComesAmongTenThousandQueries(benchmark::State& run) {
  Bench bench;
  for (int i = 0; i < 10'000; ++i) {
    const std::string job = absl::StrCat("job-", i);
    bench.Apply(
        MakePod(job).Label("job", job).Label("app", "train").Apart(kHost, Labelled("job", job)));
  }
  (void)bench.state().Publish();
  int i = 0;
  for (auto _ : run) {
    const std::string job = absl::StrCat("job-", i++ % 10'000);
    bench.Apply(MakePod("new")
                    .Uid(absl::StrCat("u", i))
                    .Label("job", job)
                    .Label("app", "train")
                    .On(absl::StrCat("node-0", 1000 + i % 3000)));
    bench.Apply(DeletionOf(ResourceKind::kPod, "new"));
    (void)bench.state().TakeChangedCounts();
  }
}
BENCHMARK(BM_PodComesAmongTenThousandQueries)->Unit(benchmark::kMicrosecond);

// A gang's first member brings a query that nobody has asked before.
void BM_PodBringsANewQuery(benchmark::State& run) {
  Bench bench;
  int i = 0;
  for (auto _ : run) {
    const std::string job = absl::StrCat("job-", i++);
    bench.Apply(MakePod(job)
                    .Uid(job)
                    .Label("job", job)
                    .Label("app", "load")
                    .Apart(kHost, Labelled("job", job)));
  }
}
BENCHMARK(BM_PodBringsANewQuery)->Unit(benchmark::kMicrosecond)->Iterations(2000);

}  // namespace
}  // namespace maniple
