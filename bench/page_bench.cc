// What the page costs on 5,000 nodes with 50,000 pods while somebody looks at it, once a second:
// the view, on the scheduling thread; its rows and what has changed of them, on that of the
// listener.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/synthetic_cluster.h"
#include "plugins/builtin.h"
#include "scheduler/loop/scheduling_loop.h"
#include "scheduler/page/page_feed.h"
#include "scheduler/page/page_rows.h"
#include "test/support/scripted_api.h"

namespace maniple {
namespace {

constexpr int kNodes = 5000;
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

SchedulingLoop& Loop() {
  static auto* const loop = [] {
    LoopOptions options;
    options.profile = BuiltinProfile();
    auto* made = new SchedulingLoop(std::move(options));
    made->SetRole(SchedulingLoop::Role::kLeader);
    for (std::vector<ObjectEvent> events : {SyntheticNodes(kNodes), SyntheticLoad(50'000, kNodes),
                                            SyntheticGang(0, 64, 8), ScriptedApi().List()}) {
      for (ObjectEvent& event : events) made->Accept(std::move(event));
    }
    while (made->Turn(kNow).more) {
    }
    return made;
  }();
  return *loop;
}

void BM_View(benchmark::State& state) {
  const SchedulingLoop& loop = Loop();
  for (auto _ : state) benchmark::DoNotOptimize(loop.View(kNow));
}
BENCHMARK(BM_View)->Unit(benchmark::kMillisecond);

// Whatever else the machine does.
absl::Duration ThreadTime() {
  timespec time{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

// What a turn is longer by: the view is made piece by piece.
void BM_LongestPieceOfAView(benchmark::State& state) {
  SchedulingLoop& loop = Loop();
  absl::Duration longest;
  size_t pieces = 0, rounds = 0;
  for (auto _ : state) {
    std::unique_ptr<ClusterView> view;
    for (++rounds; view == nullptr; ++pieces) {
      const absl::Duration before = ThreadTime();
      view = loop.MoreView(kNow);
      longest = std::max(longest, ThreadTime() - before);
    }
    state.PauseTiming();  // a reader puts it in order, and frees it
    view.reset();
    state.ResumeTiming();
  }
  state.counters["pieces"] = static_cast<double>(pieces) / static_cast<double>(rounds);
  state.counters["longest_us"] = absl::ToDoubleMicroseconds(longest);
}
BENCHMARK(BM_LongestPieceOfAView)->Unit(benchmark::kMillisecond);

void BM_Rows(benchmark::State& state) {
  const ClusterViewPtr view = Loop().View(kNow);
  size_t bytes = 0;
  for (auto _ : state) {
    const std::vector<PageRow> rows = PageRowsOf(*view, {}, {"0.1.0"});
    bytes = 0;
    for (const PageRow& row : rows) bytes += row.json.size();
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_Rows)->Unit(benchmark::kMillisecond);

// 200 nodes differ from one view to the next.
void BM_Change(benchmark::State& state) {
  const ClusterViewPtr one = Loop().View(kNow);
  auto other = std::make_shared<ClusterView>(*one);
  for (size_t i = 0; i < 200; ++i) other->nodes[i * 25].schedulable ^= true;
  PageFeed feed("bench", {}, "0.1.0");
  feed.Take(one);
  std::string last = feed.After("")->id;
  size_t bytes = 0, turn = 0;
  for (auto _ : state) {
    feed.Take(++turn % 2 == 1 ? other : one);
    const PageEventPtr event = feed.After(last);
    last = event->id;
    bytes = event->text.size();
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_Change)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace maniple
