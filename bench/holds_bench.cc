// What gangs cost that wait beside room which is held for others: of a full cluster one gang ends,
// and everybody asks anew. No transport, no server, no clock.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "api/base/check.h"
#include "bench/synthetic_cluster.h"
#include "plugins/builtin.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

constexpr int kNodes = 1'000, kQueues = 10;
constexpr int64_t kGpus = 8;  // of a node
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

struct Gangs {
  int first = 0, count = 0;
  int pods = 1;
  int64_t gpus = kGpus;    // of each pod
  absl::Duration runtime;  // of the first; a second more for each after it
};

void Feed(SchedulingLoop& loop, const Gangs& gangs) {
  for (int i = gangs.first; i < gangs.first + gangs.count; ++i) {
    for (ObjectEvent& event : SyntheticGang(i, gangs.pods, gangs.gpus)) {
      auto* group = std::get_if<PodGroup>(&std::get<ObjectUpserted>(event).object);
      if (group != nullptr) {
        group->spec.queue = absl::StrCat("team-", i % kQueues);
        group->spec.expected_runtime = gangs.runtime + absl::Seconds(i - gangs.first);
      }
      loop.Accept(std::move(event));
    }
  }
}

// Turns until nothing is ready, every write answered 201 in the turn after; the longest turn.
absl::Duration RunDry(SchedulingLoop& loop, absl::Time now) {
  absl::Duration longest;
  while (true) {
    const absl::Time began = absl::Now();
    TurnOutput out = loop.Turn(now);
    longest = std::max(longest, absl::Now() - began);
    (void)loop.TakeDecisionLog();
    for (const WriteCommand& write : out.writes)
      loop.Accept(WriteResult{.id = write.id, .http_status = 201, .body = "{}"});
    if (out.writes.empty() && !out.more && out.next > now) return longest;
  }
}

// Each of ten Queues has as many gangs that run, a head for which room is held, and gangs that
// would outlast its start.
std::unique_ptr<SchedulingLoop> FullCluster(int pods_of_each, int waiting) {
  LoopOptions options;
  options.profile = BuiltinProfile();
  options.per_pod_events = PerPodEvents::kNever;
  auto loop = std::make_unique<SchedulingLoop>(std::move(options));
  for (ObjectEvent& event : SyntheticNodes(kNodes)) loop->Accept(std::move(event));
  for (int i = 0; i < kQueues; ++i) {
    Queue queue;
    queue.meta = {.name = absl::StrCat("team-", i), .uid = absl::StrCat(i), .generation = 1};
    queue.cohort = "all";
    queue.ordering = QueueOrdering::kBackfill;
    queue.quotas = {{.flavor = "",
                     .resources = {{.resource = "nvidia.com/gpu",
                                    .nominal = Amount(2 * kNodes * kGpus / kQueues)}}}};
    loop->Accept(ObjectUpserted{std::move(queue)});
  }
  for (int kind = 0; kind < kResourceKinds; ++kind)
    loop->Accept(KindSynced{static_cast<ResourceKind>(kind)});
  loop->SetRole(SchedulingLoop::Role::kLeader);
  Feed(*loop, {.first = 0,
               .count = kNodes,
               .pods = pods_of_each,
               .gpus = kGpus / pods_of_each,
               .runtime = absl::Hours(1)});
  RunDry(*loop, kNow);
  CHECK_EQ(loop->counters().binds_succeeded, kNodes * pods_of_each);
  Feed(*loop, {.first = kNodes, .count = kQueues, .pods = 50, .runtime = absl::Hours(1)});
  RunDry(*loop, kNow);
  Feed(*loop, {.first = kNodes + kQueues, .count = waiting, .runtime = absl::Hours(10)});
  RunDry(*loop, kNow);
  return loop;
}

void BM_OneEndsBesideHolds(benchmark::State& run) {
  const auto pods = static_cast<int>(run.range(0));
  auto loop = FullCluster(pods, static_cast<int>(run.range(1)));
  int ended = 0;
  absl::Duration longest;
  run.counters["holds"] = static_cast<double>(loop->counters().reservations);
  const int64_t asked = loop->counters().decisions;
  for (auto _ : run) {
    for (int i = 0; i < pods; ++i)
      loop->Accept(DeletionOf(ResourceKind::kPod, absl::StrCat("gang-", ended, "-worker-", i)));
    ++ended;
    longest = std::max(longest, RunDry(*loop, kNow));
  }
  run.counters["decisions"] =
      static_cast<double>(loop->counters().decisions - asked) / run.iterations();
  run.counters["longest_ms"] = absl::ToDoubleMilliseconds(longest);
}
BENCHMARK(BM_OneEndsBesideHolds)
    ->ArgNames({"pods", "waiting"})
    ->Args({1, 100})
    ->Args({8, 100})
    ->Args({1, 1000})
    ->Args({8, 1000})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(10);

}  // namespace
}  // namespace maniple
