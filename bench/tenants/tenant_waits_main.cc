// How long the pods of a quiet team wait while a loud team submits what is hard to place.
//
//   maniple-tenant-waits SECONDS [KIND…]
//
// SECONDS of simulated time; kinds: spread, shapes, rare; without one, all.
//
// Both teams have Queues with quota enough. The quiet one submits a pod of one CPU about every
// 300 ms, which always fits; the loud one has gangs that never start; somebody else's pods end and
// come all the time, so that the loud gangs are looked at again. Time passes as the loop uses the
// processor, and the server answers after 10 ms: so a wait is what a user would see.
// Prints the waits alone first, then with each kind of loud team.
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugins/builtin.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/support/builders.h"
#include "test/support/scripted_api.h"

namespace maniple {
namespace {

constexpr int kNodes = 300;
constexpr int64_t kGpusOfNode = 8;
constexpr absl::Duration kServerTime = absl::Milliseconds(10);
constexpr absl::Duration kWatchTime = absl::Milliseconds(5);

enum class Loud { kNobody, kSpread, kShapes, kRare };
struct LoudKind {
  absl::string_view name;
  Loud kind;
};
constexpr LoudKind kLoudKinds[] = {
    {"nobody", Loud::kNobody},  // the quiet team alone
    {"spread", Loud::kSpread},  // 30 gangs of 500 pods, all unlike, with three constraints each
    {"shapes", Loud::kShapes},  // the same without constraints
    {"rare", Loud::kRare},      // 300 gangs of four unlike pods that share a rack nowhere
};

absl::Time Start() { return absl::FromUnixSeconds(1'700'000'000); }

Queue QueueOf(absl::string_view name) {
  Queue queue;
  queue.meta = {.name = std::string(name), .uid = std::string(name), .generation = 1};
  QuotaAmount gpus;
  gpus.resource = kGpuResource;
  gpus.nominal = Amount(1'000'000);
  QuotaAmount processors;
  processors.resource = "cpu";
  processors.nominal = Amount(1'000'000'000);
  queue.quotas = {{.flavor = "", .resources = {gpus, processors}}};
  return queue;
}

// The scheduler, a server that takes its time, and a clock that the loop's own work moves on.
class Cluster final {
 public:
  Cluster() {
    LoopOptions options;
    options.profile = BuiltinProfile();
    options.per_pod_events = PerPodEvents::kNever;
    loop_ = std::make_unique<SchedulingLoop>(std::move(options));
    loop_->SetRole(SchedulingLoop::Role::kLeader);
    for (int i = 0; i < kNodes; ++i) {
      api_.Put(MakeNode(absl::StrCat("n", i))
                   .Gpu(kGpusOfNode)
                   .Label("kubernetes.io/hostname", absl::StrCat("n", i))
                   .Label("rack", absl::StrCat("r", i / 10))
                   .Label("zone", absl::StrCat("z", i % 3)));
    }
    for (const absl::string_view team : {"quiet", "loud", "others"}) api_.Put(QueueOf(team));
    // Of each node two GPUs are somebody else's, so that one pod of four fits and no two do.
    for (int i = 0; i < kNodes; ++i) AddOther();
  }

  [[nodiscard]] absl::Time now() const { return now_; }
  [[nodiscard]] const std::map<std::string, absl::Time>& bound() const { return bound_; }
  [[nodiscard]] absl::Duration longest_turn() const { return longest_turn_; }
  [[nodiscard]] absl::Duration busy() const { return busy_; }
  [[nodiscard]] const LoopCounters& counters() const { return loop_->counters(); }

  void AddLoud(Loud kind) {
    switch (kind) {
      case Loud::kNobody:
        return;
      case Loud::kSpread:
      case Loud::kShapes:
        for (int gang = 0; gang < 30; ++gang) AddUnlike(gang, 500, kind == Loud::kSpread);
        return;
      case Loud::kRare:
        for (int gang = 0; gang < 300; ++gang) AddRare(gang);
        return;
    }
  }

  void AddQuiet(absl::string_view name) {
    MakePod pod(name);
    pod.Cpu(1000).Label("scheduling.maniple.dev/queue", "quiet");
    Submit(pod);
  }

  // One of somebody else's pods ends, and another one comes in its place.
  void TurnOver() {
    api_.Delete(ResourceKind::kPod, absl::StrCat("other-", oldest_));
    ++oldest_;
    AddOther();
  }
  void End(absl::string_view pod) {
    if (api_.FindPod(pod) != nullptr) api_.Delete(ResourceKind::kPod, pod);
  }

  // On to `until`, and further where a turn takes longer.
  void RunUntil(absl::Time until) {
    while (now_ < until) {
      Hear();
      const std::clock_t begun = std::clock();
      TurnOutput out = loop_->Turn(now_);
      const absl::Duration took =
          absl::Seconds(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
      now_ += took;
      busy_ += took;
      longest_turn_ = std::max(longest_turn_, took);
      for (WriteCommand& write : out.writes) {
        const std::vector<std::string> path = absl::StrSplit(write.request.target, '/');
        if (path.back() == "binding") bound_[path[path.size() - 2]] = now_ + kServerTime;
      }
      api_.Carry(std::move(out.writes));
      Note(kServerTime);
      (void)loop_->TakeDecisionLog();
      if (out.more) continue;
      absl::Time next = std::min(until, out.next);
      if (!coming_.empty()) next = std::min(next, coming_.begin()->first);
      now_ = std::max(now_, next);
    }
  }

 private:
  struct Coming {
    std::vector<ObjectEvent> events;
    std::vector<WriteResult> results;
  };

  void Submit(Pod pod) {
    pod.meta.created = now_;
    pod.meta.uid.clear();
    api_.Put(std::move(pod));
    Note(kWatchTime);
  }

  void AddOther() {
    const int number = others_++;
    MakePod pod(absl::StrCat("other-", number));
    pod.Gpu(2).Scheduler("default-scheduler").On(absl::StrCat("n", number % kNodes));
    Submit(pod);
  }

  void AddGroup(const std::string& name, int pods, absl::string_view rack) {
    PodGroup group = MakePodGroup(name).MinMember(pods).Queue("loud");
    if (!rack.empty()) group.spec.topology.required = std::string(rack);
    group.meta.created = now_;
    api_.Put(std::move(group));
  }

  void AddUnlike(int gang, int pods, bool spread) {
    const std::string name = absl::StrCat("loud-", gang);
    AddGroup(name, pods, "");
    for (int i = 0; i < pods; ++i) {
      MakePod pod(absl::StrCat(name, "-", i));
      pod.Group(name).Gpu(4).Cpu(1000 + i).Label("app", name);
      for (const absl::string_view key : {"zone", "rack", "kubernetes.io/hostname"}) {
        if (spread) pod.Spread(key, Labelled("app", name), {.max_skew = 5});
      }
      Submit(pod);
    }
  }

  void AddRare(int gang) {
    const std::string name = absl::StrCat("loud-", gang);
    AddGroup(name, 24, "rack");
    for (int i = 0; i < 24; ++i) {
      MakePod pod(absl::StrCat(name, "-", i));
      pod.Group(name).Gpu(1 + i % 6).Cpu(1000 + 10 * gang + i % 6).Label("app", name);
      Submit(pod);
    }
  }

  void Note(absl::Duration later) {
    Coming coming{.events = api_.TakeEvents(), .results = api_.TakeResults()};
    if (coming.events.empty() && coming.results.empty()) return;
    coming_.emplace(now_ + later, std::move(coming));
  }

  void Hear() {
    while (!coming_.empty() && coming_.begin()->first <= now_) {
      Coming coming = std::move(coming_.begin()->second);
      coming_.erase(coming_.begin());
      for (ObjectEvent& event : coming.events) loop_->Accept(std::move(event));
      for (WriteResult& result : coming.results) loop_->Accept(std::move(result));
    }
  }

  absl::Time now_ = Start();
  ScriptedApi api_;
  std::unique_ptr<SchedulingLoop> loop_;
  std::multimap<absl::Time, Coming> coming_;
  std::map<std::string, absl::Time> bound_;
  absl::Duration longest_turn_, busy_;
  int others_ = 0, oldest_ = 0;
};

absl::Duration Quantile(const std::vector<absl::Duration>& sorted, double part) {
  return sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
}

void Measure(const LoudKind& loud, absl::Duration length, absl::Duration& mean_alone) {
  Cluster cluster;
  cluster.AddLoud(loud.kind);
  cluster.RunUntil(cluster.now() + absl::Seconds(5));  // everybody has been looked at once, or not
  std::mt19937_64 random(7);
  std::exponential_distribution<double> gap(1 / 0.3);
  std::map<std::string, absl::Time> asked;
  const absl::Time end = cluster.now() + length;
  absl::Time next_quiet = cluster.now(), next_change = cluster.now();
  for (int i = 0; cluster.now() < end;) {
    cluster.RunUntil(std::min(next_quiet, next_change));
    if (next_change <= cluster.now()) {
      cluster.TurnOver();
      next_change += absl::Milliseconds(100);
    }
    if (next_quiet <= cluster.now()) {
      const std::string name = absl::StrCat("quiet-", i++);
      asked[name] = next_quiet;
      cluster.AddQuiet(name);
      if (i > 20) cluster.End(absl::StrCat("quiet-", i - 20));
      next_quiet += absl::Seconds(gap(random));
    }
  }
  cluster.RunUntil(cluster.now() + absl::Seconds(2));
  std::vector<absl::Duration> waits;
  int64_t never = 0;
  for (const auto& [name, since] : asked) {
    const auto bound = cluster.bound().find(name);
    if (bound == cluster.bound().end()) {
      ++never;
    } else {
      waits.push_back(bound->second - since);
    }
  }
  std::sort(waits.begin(), waits.end());
  if (waits.empty()) {
    absl::PrintF("%-8s no pod was bound; longest turn %.3f s\n", loud.name,
                 absl::ToDoubleSeconds(cluster.longest_turn()));
    return;
  }
  const absl::Duration mean = std::accumulate(waits.begin(), waits.end(), absl::ZeroDuration()) /
                              static_cast<int64_t>(waits.size());
  if (loud.kind == Loud::kNobody) mean_alone = mean;
  absl::PrintF(
      "%-8s %5d pods, %d never; wait mean %.1f ms (%+.1f %%), p50 %.1f, p99 %.1f, most "
      "%.1f; longest turn %.1f ms, busy %.0f %%; %d decisions, %d given up\n",
      loud.name, waits.size(), never, absl::ToDoubleMilliseconds(mean),
      100 * (absl::FDivDuration(mean, mean_alone) - 1),
      absl::ToDoubleMilliseconds(Quantile(waits, 0.5)),
      absl::ToDoubleMilliseconds(Quantile(waits, 0.99)), absl::ToDoubleMilliseconds(waits.back()),
      absl::ToDoubleMilliseconds(cluster.longest_turn()),
      100 * absl::FDivDuration(cluster.busy(), cluster.now() - Start()),
      cluster.counters().decisions, cluster.counters().searches_given_up);
}

int Main(int argc, char** argv) {
  int seconds = 0;
  if (argc < 2 || !absl::SimpleAtoi(argv[1], &seconds) || seconds < 1) {
    std::cerr << "usage: maniple-tenant-waits SECONDS [spread] [shapes] [rare]\n";
    return 2;
  }
  absl::Duration alone = absl::InfiniteDuration();
  for (const LoudKind& loud : kLoudKinds) {
    const bool asked =
        argc == 2 || loud.kind == Loud::kNobody ||
        std::any_of(argv + 2, argv + argc, [&loud](const char* name) { return loud.name == name; });
    if (asked) Measure(loud, absl::Seconds(seconds), alone);
  }
  return 0;
}

}  // namespace
}  // namespace maniple

int main(int argc, char** argv) { return maniple::Main(argc, argv); }
