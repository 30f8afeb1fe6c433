// What the bind protocol adds to a bind, beside the request itself, and how much it holds per pod.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/bind/gang_binding.h"
#include "test/support/heap_in_use.h"

namespace maniple {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
// Replies that a turn of the loop finds: half of what the writer keeps in flight.
constexpr size_t kRepliesPerTurn = 16;

Gang PendingGang(int64_t pods) {
  Gang gang;
  gang.group_exists = true;
  gang.spec.min_member = static_cast<int32_t>(pods);
  for (int64_t i = 0; i < pods; ++i) {
    Member member;
    member.pod = PodId(static_cast<uint32_t>(i));
    member.shape = ShapeId(0);
    member.name = absl::StrCat("worker-", i);
    gang.members.push_back(member);
  }
  return gang;
}

// A burst in which every bind succeeds and the watch shows it a turn later.
void BM_BindBurst(benchmark::State& run) {
  const int64_t pods = run.range(0);
  const Gang pending = PendingGang(pods);
  std::vector<Placement> plan;
  for (const Member& member : pending.members) {
    plan.push_back({member.pod, NodeId(member.pod.index() / 8)});
  }
  const auto still_reserved = [](PodId, NodeId) { return true; };
  const auto misplaced_on = [](PodId, NodeId) { return false; };
  double bytes = 0;
  for (auto _ : run) {
    run.PauseTiming();
    Gang gang = pending;
    Random random(7);
    std::vector<BindAction> actions;
    actions.reserve(static_cast<size_t>(pods));
    BindStep step{kNow, random, still_reserved, misplaced_on, actions};
    const int64_t before = HeapInUse();
    std::optional<GangBinding> binding(std::in_place, BackoffPolicy{}, BindPhase::kBinding, kNow);
    run.ResumeTiming();
    binding->Start(plan, gang, step);
    bytes = std::max(bytes, static_cast<double>(HeapInUse() - before));
    for (size_t next = 0; next < plan.size(); next += kRepliesPerTurn) {
      const size_t end = std::min(next + kRepliesPerTurn, plan.size());
      for (size_t i = next; i < end; ++i) {
        binding->OnBindReply(plan[i].pod, {.kind = BindReplyKind::kBound}, std::nullopt, step);
      }
      binding->Settle(gang, step);
      actions.clear();
      for (size_t i = next; i < end; ++i) {
        gang.members[i].state = MemberState::kBound;
        gang.members[i].node = plan[i].node;
      }
    }
    binding->Settle(gang, step);
    if (!binding->done()) run.SkipWithError("the burst did not end");
  }
  const double binds = static_cast<double>(run.iterations()) * static_cast<double>(pods);
  run.counters["per_bind"] =
      benchmark::Counter(binds, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  run.counters["bytes_per_pod"] = bytes / static_cast<double>(pods);
}
BENCHMARK(BM_BindBurst)->Arg(8)->Arg(64)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace maniple
