// What pods of a hostile tenant cost the cluster state: time for terms, memory for what comes and
// goes.
//
//   maniple-tenant-cost terms 2000 1700     one pod with 1,700 terms among 2,000 pods
//   maniple-tenant-cost soak 1000000        pods that share nothing, 100 alive at a time
//
// Prints what each step took; exits with 1 when a soak has grown by more than 5 % over its last
// 90 %.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "scheduler/state/cluster_state.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

constexpr int kNodes = 20;

double ResidentMebibytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t all = 0, resident = 0;
  statm >> all >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
}

class Cluster final {
 public:
  Cluster() {
    for (int i = 0; i < kNodes; ++i) {
      Apply(MakeNode(NodeName(i)).Gpu(8).Pods(1 << 20).Label("zone", absl::StrCat(i % 3)));
    }
  }

  static std::string NodeName(int number) { return absl::StrCat("n", number % kNodes); }

  void Apply(const ObjectEvent& event) {
    Delta delta;
    state_.Apply(event, now_, delta);
    (void)state_.TakeChangedCounts();
    if (state_.WantsSweep()) state_.Sweep({});
  }
  void Publish() { last_ = state_.Publish(); }

 private:
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  ClusterState state_{ClusterStateOptions{}};
  SnapshotPtr last_;
};

void Report(absl::string_view what, const std::function<void()>& step) {
  const std::clock_t begun = std::clock();
  step();
  const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  absl::PrintF("%-44s %9.3f s CPU  %8.1f MiB resident\n", what, seconds, ResidentMebibytes());
}

// Each term selects every pod, and no two terms are alike.
MakePod PodWithTerms(int terms) {
  MakePod pod("hostile");
  pod.Scheduler("other");
  for (int i = 0; i < terms; ++i) {
    pod.RatherApart(1 + i % 100, "zone",
                    {.requirements = {
                         Requires(absl::StrCat("key-", i), SelectorOperator::kNotIn, {"nobody"})}});
  }
  return pod;
}

void Terms(int pods, int terms) {
  Cluster cluster;
  const MakePod hostile = PodWithTerms(terms);
  const auto neighbour = [](int number) {
    return MakePod(absl::StrCat("p", number))
        .Label("app", absl::StrCat(number % 50))
        .Cpu(100 + number % 10)
        .On(Cluster::NodeName(number));
  };
  Report(absl::StrCat(pods, " pods"), [&] {
    for (int i = 0; i < pods; ++i) cluster.Apply(neighbour(i));
    cluster.Publish();
  });
  Report(absl::StrCat("one pod with ", terms, " terms"), [&] {
    cluster.Apply(hostile);
    cluster.Publish();
  });
  Report("ten more events of it", [&] {
    for (int i = 0; i < 10; ++i) cluster.Apply(MakePod(hostile).Label("turn", absl::StrCat(i)));
    cluster.Publish();
  });
  Report("one event of every pod", [&] {
    for (int i = 0; i < pods; ++i) cluster.Apply(neighbour(i).Label("again", "yes"));
    cluster.Publish();
  });
  Report("its end", [&] {
    cluster.Apply(DeletionOf(ResourceKind::kPod, "hostile"));
    cluster.Publish();
  });
}

// Own image, request, resource, node label, selectors, port, volume and namespace.
MakePod Unlike(int64_t number) {
  const std::string own = absl::StrCat("own-", number);
  MakePod pod(own);
  pod.Scheduler(number % 3 == 0 ? "maniple" : "other").In(absl::StrCat("ns-", number % 1000));
  pod.Runs(absl::StrCat("registry.example/", own)).Cpu(1 + number).Wants(own + "/thing", 1);
  pod.Selector("node-label-" + own, own).Label("label-" + own, own);
  pod.Label("scheduling.maniple.dev/queue", own);
  pod.Apart("zone", Labelled("label-" + own, own));
  pod.RatherNear(7, "zone", {.requirements = {Requires(own, SelectorOperator::kDoesNotExist)}});
  pod.Port(static_cast<int32_t>(1 + number % 65535), absl::StrCat("10.0.0.", number % 250))
      .Claim(own);
  if (number % 2 == 0) pod.On(Cluster::NodeName(static_cast<int>(number % kNodes)));
  return pod;
}

int Soak(int64_t pods) {
  constexpr int64_t kAlive = 100;
  Cluster cluster;
  double at_a_tenth = 0;
  const std::clock_t begun = std::clock();
  for (int64_t i = 0; i < pods; ++i) {
    cluster.Apply(Unlike(i));
    if (i >= kAlive) {
      cluster.Apply(DeletionOf(ResourceKind::kPod, absl::StrCat("own-", i - kAlive), "",
                               absl::StrCat("ns-", (i - kAlive) % 1000)));
    }
    if (i % 50 == 0) cluster.Publish();
    if (i % std::max<int64_t>(pods / 10, 1) != 0) continue;
    if (i > 0 && at_a_tenth == 0) at_a_tenth = ResidentMebibytes();
    absl::PrintF("%9d pods  %8.1f MiB  %7.2f s CPU\n", i, ResidentMebibytes(),
                 static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
  }
  const double growth = ResidentMebibytes() / at_a_tenth - 1;
  absl::PrintF("%9d pods  %8.1f MiB: grown by %.1f %% over the last 90 %%\n", pods,
               ResidentMebibytes(), 100 * growth);
  return growth <= 0.05 ? 0 : 1;
}

int Main(int argc, char** argv) {
  const absl::string_view mode = argc > 1 ? argv[1] : "";
  int64_t first = 0, second = 0;
  if (argc > 2 && !absl::SimpleAtoi(argv[2], &first)) first = 0;
  if (argc > 3 && !absl::SimpleAtoi(argv[3], &second)) second = 0;
  if (mode == "terms" && first > 0 && second > 0) {
    Terms(static_cast<int>(first), static_cast<int>(second));
    return 0;
  }
  if (mode == "soak" && first >= 1000) return Soak(first);
  std::cerr << "usage: maniple-tenant-cost terms PODS TERMS | soak PODS (at least 1000)\n";
  return 2;
}

}  // namespace
}  // namespace maniple

int main(int argc, char** argv) { return maniple::Main(argc, argv); }
