// Whole turns of the scheduling loop in one process: from gangs that wait in Queues to bind
// requests answered at once. No transport, no server, no clock.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "api/base/check.h"
#include "api/codec/decode.h"
#include "api/codec/json.h"
#include "bench/synthetic_cluster.h"
#include "plugins/builtin.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/support/builders.h"
#include "test/support/heap_in_use.h"

namespace maniple {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

LoopOptions Options() {
  LoopOptions options;
  options.profile = BuiltinProfile();
  options.per_pod_events = PerPodEvents::kNever;
  return options;
}

// Queues in a tree of four levels. Those of the first kind have quota for `gpus` and borrow at
// will; those of the second, named full-…, have eight and may not borrow.
struct TreeOfQueues {
  int queues = 0;
  int64_t gpus = 0;
  int full = 0;
};

std::vector<ObjectEvent> QueueTree(const TreeOfQueues& tree) {
  std::vector<ObjectEvent> events;
  const auto cohort = [&events](const std::string& name, const std::string& parent) {
    Cohort object;
    object.meta = {.name = name, .uid = name, .generation = 1};
    object.parent = parent;
    events.push_back(ObjectUpserted{std::move(object)});
  };
  const auto queue = [&events](const std::string& name, int number, QuotaAmount quota) {
    Queue object;
    object.meta = {.name = name, .uid = name, .generation = 1};
    object.cohort = absl::StrCat("group-", number % 100);
    quota.resource = "nvidia.com/gpu";
    object.quotas = {{.flavor = "", .resources = {quota}}};
    events.push_back(ObjectUpserted{std::move(object)});
  };
  cohort("root", "");
  for (int i = 0; i < 10; ++i) cohort(absl::StrCat("unit-", i), "root");
  for (int i = 0; i < 100; ++i) cohort(absl::StrCat("group-", i), absl::StrCat("unit-", i / 10));
  for (int i = 0; i < tree.queues; ++i) {
    queue(absl::StrCat("team-", i), i, {.nominal = Amount(tree.gpus)});
  }
  for (int i = 0; i < tree.full; ++i) {
    queue(absl::StrCat("full-", i), i, {.nominal = Amount(8), .borrowing_limit = Amount(0)});
  }
  return events;
}

void Feed(SchedulingLoop& loop, std::vector<ObjectEvent> events) {
  for (ObjectEvent& event : events) loop.Accept(std::move(event));
}

// `count` gangs, numbered from `first`, in the Queues of that name in turn; "": in none.
struct Gangs {
  int first = 0, count = 0;
  std::string queue;
  int queues = 0;
  int64_t gpus = 1;  // of each pod
  int pods = 1;      // of each gang
};

using Groups = std::map<std::string, PodGroup>;

Groups FeedGangs(SchedulingLoop& loop, const Gangs& gangs) {
  Groups groups;
  for (int i = gangs.first; i < gangs.first + gangs.count; ++i) {
    std::vector<ObjectEvent> gang = SyntheticGang(i, gangs.pods, gangs.gpus);
    for (ObjectEvent& event : gang) {
      auto* group = std::get_if<PodGroup>(&std::get<ObjectUpserted>(event).object);
      if (group == nullptr || gangs.queue.empty()) continue;
      group->spec.queue = absl::StrCat(gangs.queue, "-", i % gangs.queues);
      groups[group->meta.name] = *group;
    }
    Feed(loop, std::move(gang));
  }
  return groups;
}

std::unique_ptr<SchedulingLoop> LoopWith(int nodes, const TreeOfQueues& tree) {
  auto loop = std::make_unique<SchedulingLoop>(Options());
  Feed(*loop, SyntheticNodes(nodes));
  Feed(*loop, QueueTree(tree));
  for (int kind = 0; kind < kResourceKinds; ++kind) {
    loop->Accept(KindSynced{static_cast<ResourceKind>(kind)});
  }
  loop->SetRole(SchedulingLoop::Role::kLeader);
  (void)loop->Turn(kNow);
  return loop;
}

enum class Pods { kStay, kEndAtOnce };

// The PodGroup as the watch shows it once the status was written of which the request speaks.
std::optional<PodGroup> EchoOf(const WriteCommand& write, const PodGroup& before) {
  const absl::StatusOr<Json> body = Json::Parse(write.request.body);
  if (!body.ok()) return std::nullopt;
  const Json object = Json::Object(
      {{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
       {"kind", "PodGroup"},
       {"metadata", Json::Object({{"name", before.meta.name}, {"namespace", "default"}})},
       {"status", (*body)["status"]}});
  Decoder decoder;
  const auto decoded = decoder.Single(ResourceKind::kPodGroup, object.Dump());
  const auto* good = decoded.ok() ? std::get_if<Object>(&decoded->what) : nullptr;
  if (good == nullptr) return std::nullopt;
  PodGroup after = before;
  after.status = std::get<PodGroup>(*good).status;
  after.meta.resource_version = absl::StrCat("written-", write.id);
  return after;
}

// Turns until nothing is ready, every write answered 201 in the turn after, and the statuses of
// `watched` shown. Binds that were sent.
int64_t RunDry(SchedulingLoop& loop, Pods pods, const Groups& watched = {}) {
  int64_t binds = 0;
  while (true) {
    TurnOutput out = loop.Turn(kNow);
    (void)loop.TakeDecisionLog();
    for (const WriteCommand& write : out.writes) {
      loop.Accept(WriteResult{.id = write.id, .http_status = 201, .body = "{}"});
      const std::vector<std::string> path = absl::StrSplit(write.request.target, '/');
      const auto group =
          path.back() == "status" ? watched.find(path[path.size() - 2]) : watched.end();
      if (group != watched.end()) {
        loop.Accept(ObjectUpserted{EchoOf(write, group->second).value()});
      }
      if (path.back() != "binding") continue;
      ++binds;
      if (pods == Pods::kEndAtOnce) {
        loop.Accept(DeletionOf(ResourceKind::kPod, path[path.size() - 2]));
      }
    }
    if (out.writes.empty() && !out.more) return binds;
  }
}

// What the benchmarks time, by a name that a tool can count the instructions of:
// valgrind --tool=callgrind --toggle-collect='*MeasuredRun*' build/bench/bin/loop_bench …
[[gnu::noinline]] int64_t MeasuredRun(SchedulingLoop& loop, Pods pods) {
  return RunDry(loop, pods);
}

// Everything fits: gangs per second, choice, decision, reservation and bind protocol included.
void BM_DrainQueues(benchmark::State& run) {
  const auto gangs = static_cast<int>(run.range(0));
  const auto queues = static_cast<int>(run.range(1));
  int64_t bound = 0;
  for (auto _ : run) {
    run.PauseTiming();
    auto loop =
        LoopWith(gangs / 8 + 1, {.queues = queues, .gpus = queues > 0 ? gangs / queues + 1 : 0});
    FeedGangs(*loop, {.count = gangs, .queue = queues > 0 ? "team" : "", .queues = queues});
    run.ResumeTiming();
    bound += MeasuredRun(*loop, Pods::kStay);
    run.PauseTiming();
    loop.reset();
    run.ResumeTiming();
  }
  CHECK_EQ(bound, gangs * static_cast<int64_t>(run.iterations()));
  run.SetItemsProcessed(bound);
}
BENCHMARK(BM_DrainQueues)
    ->Args({5'000, 0})
    ->Args({5'000, 1'000})
    ->Args({50'000, 0})
    ->Args({50'000, 1'000})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

// 500 Queues whose quota is used up by 500 gangs, and 500 that have some left, all in one tree of
// Cohorts. In the former more gangs wait, or run without a GPU.
constexpr int kQueues = 500, kRunning = 500, kLive = 2'000, kNodes = 800;
enum class Watch { kShowsStatuses, kSilent };
struct Neighbours {
  int count = 0;
  bool blocked = true;
  int pods = 1;
};
std::unique_ptr<SchedulingLoop> LoopWith(const Neighbours& neighbours, Watch watch) {
  auto loop = LoopWith(kNodes, {.queues = kQueues, .gpus = kLive / kQueues, .full = kQueues});
  const auto watched = [watch](Groups groups) {
    return watch == Watch::kShowsStatuses ? std::move(groups) : Groups();
  };
  const Groups run =
      watched(FeedGangs(*loop, {.count = kRunning, .queue = "full", .queues = kQueues, .gpus = 8}));
  CHECK_EQ(RunDry(*loop, Pods::kStay, run), kRunning);
  const Groups more = watched(FeedGangs(*loop, {.first = kRunning,
                                                .count = neighbours.count,
                                                .queue = "full",
                                                .queues = kQueues,
                                                .gpus = neighbours.blocked ? 1 : 0,
                                                .pods = neighbours.pods}));
  CHECK_EQ(RunDry(*loop, Pods::kStay, more), neighbours.blocked ? 0 : neighbours.count);
  return loop;
}

// Live gangs beside gangs that wait for quota in the same tree of Cohorts, and beside as many that
// run. Where the live ones end, usage falls in it again and again.
void BM_LiveBeside(benchmark::State& run) {
  const Neighbours neighbours{.count = static_cast<int>(run.range(0)),
                              .blocked = run.range(1) == 1};
  const Pods pods = run.range(2) == 0 ? Pods::kStay : Pods::kEndAtOnce;
  int64_t bound = 0;
  for (auto _ : run) {
    run.PauseTiming();
    auto loop = LoopWith(neighbours, Watch::kSilent);
    // The first ones warm up: the time of later ones is not that of the first touch of memory.
    Gangs live{
        .first = kRunning + neighbours.count, .count = kLive, .queue = "team", .queues = kQueues};
    FeedGangs(*loop, live);
    CHECK_EQ(RunDry(*loop, Pods::kEndAtOnce), kLive);
    live.first += kLive;
    FeedGangs(*loop, live);
    const int64_t asked = loop->counters().decisions;
    run.ResumeTiming();
    bound += MeasuredRun(*loop, pods);
    run.PauseTiming();
    run.counters["decisions"] = static_cast<double>(loop->counters().decisions - asked);
    loop.reset();
    run.ResumeTiming();
  }
  CHECK_EQ(bound, kLive * static_cast<int64_t>(run.iterations()));
  run.SetItemsProcessed(bound);
}
BENCHMARK(BM_LiveBeside)
    ->ArgNames({"neighbours", "blocked", "end"})
    ->Args({0, 0, 0})
    ->Args({5'000, 0, 0})
    ->Args({5'000, 1, 0})
    ->Args({0, 0, 1})
    ->Args({5'000, 0, 1})
    ->Args({5'000, 1, 1})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);

// What a leader keeps and a standby does not, which knows the same pods and PodGroups.
int64_t BytesOfLeading(const Neighbours& neighbours) {
  auto loop = LoopWith(neighbours, Watch::kShowsStatuses);
  const int64_t before = HeapInUse();
  loop->SetRole(SchedulingLoop::Role::kStandby);
  return before - HeapInUse();
}

// By gangs of one pod and gangs of three: what each pod costs is told apart from what the gang
// does.
void BM_MemoryOfParked(benchmark::State& run) {
  const auto blocked = static_cast<int>(run.range(0));
  double of_one = 0, of_three = 0;
  for (auto _ : run) {
    const int64_t none = BytesOfLeading({});
    of_one = static_cast<double>(BytesOfLeading({.count = blocked}) - none) / blocked;
    of_three = static_cast<double>(BytesOfLeading({.count = blocked, .pods = 3}) - none) / blocked;
  }
  run.counters["bytes_per_pod"] = (of_three - of_one) / 2;
  run.counters["bytes_per_gang"] = of_one - (of_three - of_one) / 2;
}
BENCHMARK(BM_MemoryOfParked)->Arg(5'000)->Unit(benchmark::kMillisecond)->Iterations(1);

// What a leader publishes for /metrics every five seconds, of 1,000 Queues in a tree, from each of
// which a gang runs, and of all nodes: the whole round, and the longest piece between two turns.
void BM_Publish(benchmark::State& run) {
  constexpr int kTeams = 1'000;
  const auto nodes = static_cast<int>(run.range(0));
  auto loop = LoopWith(nodes, {.queues = kTeams, .gpus = 8});
  FeedGangs(*loop, {.count = kTeams, .queue = "team", .queues = kTeams, .gpus = 8});
  CHECK_EQ(RunDry(*loop, Pods::kStay), kTeams);
  std::vector<double> pieces;  // microseconds
  for (auto _ : run) {
    ClusterFiguresPtr figures;
    for (size_t i = 0; figures == nullptr; ++i) {
      const absl::Time began = absl::Now();
      figures = loop->MoreFigures(kNow);
      const double took = absl::ToDoubleMicroseconds(absl::Now() - began);
      if (i == pieces.size()) pieces.push_back(took);
      pieces[i] = std::min(pieces[i], took);  // of all rounds: what the machine adds is not ours
    }
  }
  run.counters["pieces"] = static_cast<double>(pieces.size());
  run.counters["longest_us"] = std::ranges::max(pieces);
}
BENCHMARK(BM_Publish)->Arg(1'000)->Arg(5'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace maniple
