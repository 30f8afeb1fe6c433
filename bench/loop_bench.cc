// Whole turns of the scheduling loop in one process: from gangs that wait in Queues to bind
// requests answered at once. No transport, no server, no clock.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "bench/synthetic_cluster.h"
#include "plugins/builtin.h"
#include "scheduler/loop/scheduling_loop.h"

namespace maniple {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

LoopOptions Options() {
  LoopOptions options;
  options.profile = BuiltinProfile();
  options.per_pod_events = PerPodEvents::kNever;
  return options;
}

// 1,000 Queues in a tree of four levels, each with quota for `gpus`, one GPU of it lent.
std::vector<ObjectEvent> QueueTree(int queues, int64_t gpus) {
  std::vector<ObjectEvent> events;
  const auto cohort = [&events](const std::string& name, const std::string& parent) {
    Cohort object;
    object.meta = {.name = name, .uid = name, .generation = 1};
    object.parent = parent;
    events.push_back(ObjectUpserted{std::move(object)});
  };
  cohort("root", "");
  for (int i = 0; i < 10; ++i) cohort(absl::StrCat("unit-", i), "root");
  for (int i = 0; i < 100; ++i) cohort(absl::StrCat("group-", i), absl::StrCat("unit-", i / 10));
  for (int i = 0; i < queues; ++i) {
    Queue queue;
    queue.meta = {
        .name = absl::StrCat("team-", i), .uid = absl::StrCat("team-", i), .generation = 1};
    queue.cohort = absl::StrCat("group-", i % 100);
    queue.quotas = {
        {.flavor = "", .resources = {{.resource = "nvidia.com/gpu", .nominal = Amount(gpus)}}}};
    events.push_back(ObjectUpserted{std::move(queue)});
  }
  return events;
}

void Feed(SchedulingLoop& loop, std::vector<ObjectEvent> events) {
  for (ObjectEvent& event : events) loop.Accept(std::move(event));
}

// Gangs of one pod and one GPU, `first` and on, in the Queues in turn.
void FeedGangs(SchedulingLoop& loop, int first, int count, int queues, int64_t gpus) {
  for (int i = first; i < first + count; ++i) {
    std::vector<ObjectEvent> gang = SyntheticGang(i, 1, gpus);
    if (queues > 0) {
      for (ObjectEvent& event : gang) {
        auto* upserted = std::get_if<ObjectUpserted>(&event);
        if (auto* group = std::get_if<PodGroup>(&upserted->object)) {
          group->spec.queue = absl::StrCat("team-", i % queues);
        }
      }
    }
    Feed(loop, std::move(gang));
  }
}

std::unique_ptr<SchedulingLoop> LoopWith(int nodes, int queues, int64_t gpus) {
  auto loop = std::make_unique<SchedulingLoop>(Options());
  Feed(*loop, SyntheticNodes(nodes));
  if (queues > 0) Feed(*loop, QueueTree(queues, gpus));
  for (int kind = 0; kind < kResourceKinds; ++kind) {
    loop->Accept(KindSynced{static_cast<ResourceKind>(kind)});
  }
  loop->SetRole(SchedulingLoop::Role::kLeader, kNow);
  return loop;
}

// Turns until nothing is ready, every write answered 201 in the turn after. Binds that were sent.
int64_t RunDry(SchedulingLoop& loop, absl::Time now) {
  int64_t binds = 0;
  while (true) {
    TurnOutput out = loop.Turn(now);
    for (const WriteCommand& write : out.writes) {
      binds += absl::EndsWith(write.request.target, "/binding") ? 1 : 0;
      loop.Accept(WriteResult{.id = write.id, .http_status = 201, .body = "{}"});
    }
    if (out.writes.empty() && !out.more) return binds;
  }
}

// Everything fits: gangs per second, choice, decision, reservation and bind protocol included.
void BM_DrainQueues(benchmark::State& run) {
  const auto gangs = static_cast<int>(run.range(0));
  const auto queues = static_cast<int>(run.range(1));
  int64_t bound = 0;
  for (auto _ : run) {
    run.PauseTiming();
    auto loop = LoopWith(gangs / 8 + 1, queues, queues > 0 ? gangs / queues + 1 : 0);
    (void)loop->Turn(kNow);
    FeedGangs(*loop, 0, gangs, queues, 1);
    run.ResumeTiming();
    bound += RunDry(*loop, kNow);
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

// Live gangs in Queues of their own beside gangs that no quota covers.
void BM_LiveBesideBlocked(benchmark::State& run) {
  const auto blocked = static_cast<int>(run.range(0));
  constexpr int kQueues = 1'000, kLive = 2'000, kNodes = 500;
  int64_t bound = 0;
  double bytes = 0;
  for (auto _ : run) {
    run.PauseTiming();
    auto loop = LoopWith(kNodes, kQueues, 2);
    (void)loop->Turn(kNow);
    const struct mallinfo2 before = mallinfo2();
    FeedGangs(*loop, 0, blocked, kQueues, 8);  // eight where a Queue of the tree has two, all lent
    (void)RunDry(*loop, kNow);
    bytes = static_cast<double>(mallinfo2().uordblks - before.uordblks);
    FeedGangs(*loop, blocked, kLive, 0, 1);
    run.ResumeTiming();
    bound += RunDry(*loop, kNow);
    run.PauseTiming();
    loop.reset();
    run.ResumeTiming();
  }
  run.SetItemsProcessed(bound);
  if (blocked > 0) run.counters["bytes_per_blocked"] = bytes / blocked;
}
BENCHMARK(BM_LiveBesideBlocked)->Arg(0)->Arg(5'000)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace maniple
