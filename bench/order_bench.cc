// What it costs to find out who is next: 1,000 queues, 50,000 pending gangs, each of which is
// started and charged before the next is asked for.
#include <benchmark/benchmark.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/base/random.h"
#include "queue/gang_queue.h"

namespace maniple {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
constexpr uint32_t kQueues = 1'000;
constexpr uint32_t kGangs = 50'000;
constexpr uint32_t kFlavors = 3;
constexpr uint32_t kResources = 3;
// How many children a Cohort has: 10 make four levels with the queues, 1,000 two.
constexpr uint32_t kFourLevels = 10;
constexpr uint32_t kTwoLevels = kQueues;

QuotaNodeSpec Node(QuotaNodeId parent, int64_t nominal) {
  QuotaNodeSpec node{.parent = parent};
  for (uint32_t cell = 0; cell < kFlavors * kResources; ++cell) {
    node.limits.push_back({.cell = QuotaCellId(cell), .nominal = Amount(nominal)});
  }
  return node;
}

struct Company {
  std::vector<QuotaNodeSpec> nodes = {Node({}, 1'000)};
  std::vector<QuotaNodeId> queues;
  std::vector<std::pair<QueueItem, OrderKey>> gangs;

  explicit Company(uint32_t fan_out) {
    std::vector<QuotaNodeId> parents = {QuotaNodeId(0)};
    while (parents.size() * fan_out < kQueues) parents = Below(parents, fan_out, 50);
    queues = Below(parents, fan_out, 40);
    Random random(1);
    for (uint32_t i = 0; i < kGangs; ++i) {
      OrderKey order{.priority = static_cast<int32_t>(random.Below(3)),
                     .queued = kNow - absl::Seconds(random.Below(100'000)),
                     .namespace_name = "team",
                     .name = absl::StrCat("gang-", i),
                     .queue = queues[random.Below(kQueues)]};
      const auto flavor = static_cast<uint32_t>(random.Below(kFlavors)) * kResources;
      for (uint32_t resource = 0; resource < kResources; ++resource) {
        order.demand.push_back(
            {QuotaCellId(flavor + resource), Amount(1 + static_cast<int64_t>(random.Below(8)))});
      }
      gangs.push_back({{GangId(i), ItemKind::kQuorum}, std::move(order)});
    }
  }
  [[nodiscard]] QuotaTree Tree() const {
    std::vector<uint32_t> resources;
    for (uint32_t cell = 0; cell < kFlavors * kResources; ++cell) {
      resources.push_back(cell % kResources);
    }
    return {nodes, resources};
  }

 private:
  std::vector<QuotaNodeId> Below(const std::vector<QuotaNodeId>& parents, uint32_t count,
                                 int64_t nominal) {
    std::vector<QuotaNodeId> children;
    for (const QuotaNodeId parent : parents) {
      for (uint32_t i = 0; i < count; ++i) {
        children.emplace_back(static_cast<uint32_t>(nodes.size()));
        nodes.push_back(Node(parent, nominal));
      }
    }
    return children;
  }
};

FairSharing FairSharingOf(const benchmark::State& run) {
  return run.range(1) != 0 ? FairSharing::kOn : FairSharing::kOff;
}

void OfferAll(const Company& company, GangQueue& queue) {
  for (const auto& [item, order] : company.gangs) queue.Offer(item, order);
}

void PerGang(benchmark::State& run, double gangs) {
  gangs *= static_cast<double>(run.iterations());
  run.counters["per_gang"] =
      benchmark::Counter(gangs, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  run.counters["gangs"] = benchmark::Counter(gangs, benchmark::Counter::kIsRate);
}

// Everything starts, from nothing used to all queues borrowing.
void BM_Drain(benchmark::State& run) {
  const Company company(static_cast<uint32_t>(run.range(0)));
  for (auto _ : run) {
    run.PauseTiming();
    QuotaTree tree = company.Tree();
    GangQueue queue;
    queue.SetTree(&tree, {}, FairSharingOf(run));
    OfferAll(company, queue);
    run.ResumeTiming();
    while (const auto item = queue.Pop(kNow)) {
      const OrderKey& order = company.gangs[item->gang.index()].second;
      queue.Started(*item);
      tree.Add(order.queue, order.demand);
      queue.UsageChanged(order.queue);
    }
    CHECK_EQ(queue.ready(), 0u);
  }
  PerGang(run, kGangs);
}

// Of 30,000 running gangs the oldest ends whenever one starts: usage falls and rises in turn.
void BM_Replace(benchmark::State& run) {
  constexpr size_t kRunning = 30'000;
  constexpr size_t kTurns = 10'000;
  const Company company(static_cast<uint32_t>(run.range(0)));
  for (auto _ : run) {
    run.PauseTiming();
    QuotaTree tree = company.Tree();
    GangQueue queue;
    queue.SetTree(&tree, {}, FairSharingOf(run));
    OfferAll(company, queue);
    std::vector<const OrderKey*> running;
    const auto start = [&] {
      const QueueItem item = *queue.Pop(kNow);
      const OrderKey& order = company.gangs[item.gang.index()].second;
      queue.Started(item);
      tree.Add(order.queue, order.demand);
      queue.UsageChanged(order.queue);
      running.push_back(&order);
    };
    for (size_t i = 0; i < kRunning; ++i) start();
    run.ResumeTiming();
    for (size_t i = 0; i < kTurns; ++i) {
      tree.Remove(running[i]->queue, running[i]->demand);
      queue.UsageChanged(running[i]->queue);
      start();
    }
  }
  PerGang(run, kTurns);
}

// Limits changed while all 50,000 wait: a new tree, and the first answer from it.
void BM_SetTree(benchmark::State& run) {
  const Company company(static_cast<uint32_t>(run.range(0)));
  const QuotaTree tree = company.Tree();
  GangQueue queue;
  queue.SetTree(&tree, {}, FairSharingOf(run));
  OfferAll(company, queue);
  for (auto _ : run) {
    queue.SetTree(&tree, {}, FairSharingOf(run));
    const QueueItem first = *queue.Pop(kNow);
    queue.Offer(first, company.gangs[first.gang.index()].second);
  }
}

void Shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"fan_out", "fair"});
  for (const uint32_t fan_out : {kFourLevels, kTwoLevels}) {
    for (const int64_t fair : {1, 0}) benchmark->Args({fan_out, fair});
  }
  benchmark->Unit(benchmark::kMillisecond);
}
BENCHMARK(BM_Drain)->Apply(Shapes);
BENCHMARK(BM_Replace)->Apply(Shapes);
BENCHMARK(BM_SetTree)->Apply(Shapes);

}  // namespace
}  // namespace maniple
