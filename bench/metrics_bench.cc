// What one scrape of /metrics costs with 1,000 Queues, each with two quotas, gangs that wait for
// three reasons and full histograms. The thread that answers pays for it, not the scheduling
// thread.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/app/metrics/metrics.h"

namespace maniple {
namespace {

std::vector<QueueView> SomeQueues(int count) {
  std::vector<QueueView> queues;
  for (int i = 0; i < count; ++i) {
    QueueView queue{.name = absl::StrCat("team-", i), .cohort = "all", .pending = 6};
    queue.pending_by_reason = {{"NoFit", 2}, {"QuotaExceeded", 3}, {"WaitingForMembers", 1}};
    for (const char* resource : {"cpu", "nvidia.com/gpu"}) {
      queue.usage.push_back(
          {.flavor = "", .resource = resource, .nominal = Amount(64), .used = Amount(48)});
    }
    for (const int seconds : {1, 40, 700, 90'000})
      queue.history.waited.Note(absl::Seconds(seconds));
    for (const int millis : {2, 7, 400}) queue.history.bound.Note(absl::Milliseconds(millis));
    queues.push_back(std::move(queue));
  }
  return queues;
}

void BM_Scrape(benchmark::State& state) {
  ProcessFacts facts{.leading = true, .synced = true, .version = "0.1.0"};
  facts.figures = std::make_shared<const ClusterFigures>(
      ClusterFigures{.queues = SomeQueues(static_cast<int>(state.range(0)))});
  facts.now = absl::FromUnixSeconds(1'700'000'000);
  size_t bytes = 0;
  for (auto _ : state) {
    const std::string text = RenderMetrics({}, facts);
    bytes = text.size();
    benchmark::DoNotOptimize(text.data());
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_Scrape)->Arg(0)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace maniple
