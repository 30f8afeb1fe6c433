// Fear: a simulation tells of another scheduler than the one that would run.
#include "scheduler/simulate/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/random/distributions.h"
#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/producers/kinds.h"
#include "plugins/builtin.h"
#include "scheduler/simulate/gpu_use.h"
#include "scheduler/simulate/simulated_cluster.h"
#include "scheduler/simulate/simulation_plot.h"
#include "scheduler/simulate/simulation_report.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LoopOptions Options() {
  LoopOptions options;
  options.profile = BuiltinProfile();
  return options;
}

SimulationResult Played(const SimulationInput& input, LoopOptions options = Options()) {
  absl::StatusOr<SimulationResult> result =
      Simulate(input, std::move(options), [](const Progress&) {});
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : SimulationResult();
}

TraceJob Job(double submitted, double runs, int64_t pods, int64_t gpus) {
  return {.name = absl::StrCat("at-", submitted),
          .submitted = absl::Seconds(submitted),
          .runs = absl::Seconds(runs),
          .pods = pods,
          .gpus = gpus};
}

double Seconds(absl::Duration time) { return absl::ToDoubleSeconds(time); }

TEST(Simulation, GangsRunOneAfterTheOtherWhereTheyFitOnlyAlone) {
  const SimulationResult result =
      Played({.cluster = NodesOf({{.count = 2}}), .jobs = {Job(0, 100, 2, 8), Job(10, 50, 2, 8)}});
  EXPECT_NEAR(Seconds(result.jobs[0].started), 0, 0.1);
  EXPECT_NEAR(Seconds(result.jobs[0].ended), 100, 0.1);
  EXPECT_NEAR(Seconds(result.jobs[1].started), 100, 0.1);
  EXPECT_NEAR(Seconds(result.jobs[1].ended), 150, 0.1);
  EXPECT_EQ(result.gpus, 16);
  const SimulationFigures figures = FiguresOf("x", {Job(0, 100, 2, 8), Job(10, 50, 2, 8)}, result);
  EXPECT_NEAR(figures.used_share, 1, 0.01);
  EXPECT_NEAR(figures.all.longest_wait, 90, 0.1);
}

TEST(Simulation, AGangWaitsForItsLastPodWhileSmallOnesRun) {
  const SimulationResult result =
      Played({.cluster = NodesOf({{.count = 2}}),
              .jobs = {Job(0, 100, 1, 4), Job(1, 20, 2, 8), Job(2, 10, 1, 8)}});
  EXPECT_NEAR(Seconds(result.jobs[1].started), 100, 0.1);
  EXPECT_NEAR(Seconds(result.jobs[2].started), 2, 0.1);
}

TEST(Simulation, WhoIsEvictedRunsFromItsBeginningAgain) {
  std::vector<TraceJob> jobs = {Job(0, 100, 2, 4), Job(30, 50, 1, 8)};
  jobs[1].priority = 10;
  const SimulationResult result = Played({.cluster = NodesOf({{.count = 1}}), .jobs = jobs});
  EXPECT_EQ(result.jobs[0].evictions, 1);
  EXPECT_NEAR(Seconds(result.jobs[0].lost), 30, 0.5);
  EXPECT_NEAR(Seconds(result.jobs[1].started), 30, 0.5);
  EXPECT_NEAR(Seconds(result.jobs[0].ended), 180, 1);
  const SimulationFigures figures = FiguresOf("x", jobs, result);
  EXPECT_NEAR(figures.all.lost_gpu_hours, 8 * 30.0 / 3600, 0.01);
}

TEST(Simulation, WhatNeverFitsIsToldAsNotStarted) {
  const SimulationResult result =
      Played({.cluster = NodesOf({{.count = 1}}), .jobs = {Job(0, 10, 2, 8), Job(5, 10, 1, 1)}});
  EXPECT_FALSE(result.jobs[0].has_started());
  EXPECT_TRUE(result.jobs[1].has_ended());
  EXPECT_EQ(result.load.back().jobs_waiting, 1);
}

Json PodOfCluster(const std::string& name, const std::string& node, int seconds) {
  absl::StatusOr<Json> pod = Json::Parse(absl::StrCat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
      R"(","namespace":"default","uid":"u-)", name,
      R"("},"spec":{"schedulerName":"maniple","activeDeadlineSeconds":)", seconds,
      R"(,"containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"8"},
      "requests":{"nvidia.com/gpu":"8"}}}]},"status":{"phase":")",
      node.empty() ? "Pending" : "Running", R"(","startTime":"1970-01-01T00:00:00Z"}})"));
  EXPECT_TRUE(pod.ok()) << pod.status();
  if (!node.empty()) pod->Mutable("spec").Set("nodeName", node);
  return *std::move(pod);
}

TEST(Simulation, WhatWaitsInTheClusterStartsWhenItCan) {
  std::vector<Json> cluster = NodesOf({{.count = 1}});
  cluster.push_back(PodOfCluster("old", "node-00000", 60));
  cluster.push_back(PodOfCluster("then", "", 30));
  cluster.push_back(PodOfCluster("then-later", "", 30));
  const SimulationResult result = Played({.cluster = cluster});
  ASSERT_EQ(result.found.size(), 2u);
  EXPECT_EQ(result.found[0].name, "default/then");
  EXPECT_NEAR(Seconds(result.found[0].started), 60, 0.5);
  EXPECT_NEAR(Seconds(result.found[1].started), 90, 0.5);
  EXPECT_NEAR(Seconds(result.load.back().at), 120, 1);
  EXPECT_EQ(result.load.back().gpus_used, 0);
  const std::string table = SimulationTable({FiguresOf("x", {}, result)});
  EXPECT_THAT(table, HasSubstr("x              default/then        -      1     60.0 s\n"));
}

Json Parsed(const std::string& text) {
  absl::StatusOr<Json> json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << json.status() << text;
  return json.ok() ? *std::move(json) : Json();
}

// Three nodes: one is taken for a minute, and three pods that need a node each wait.
// `marks` is of their metadata, `more` of their spec.
std::vector<Json> ClusterWithThreeOf(const std::string& marks, const std::string& more) {
  std::vector<Json> cluster = NodesOf({{.count = 3}});
  cluster.push_back(PodOfCluster("old", "node-00000", 60));
  for (int i = 0; i < 3; ++i) {
    cluster.push_back(Parsed(absl::StrCat(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p-)", i,
        R"(","namespace":"default","resourceVersion":"1","uid":"p-)", i, R"(",)", marks,
        R"(},"spec":{"schedulerName":"maniple",)", more,
        R"("containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"8"}}}]}})")));
  }
  return cluster;
}

void ExpectStartsTogetherAfterAMinute(const std::vector<Json>& cluster) {
  LoopOptions options = Options();
  options.state.producers.kinds = BuiltinForeignKinds();
  const SimulationResult result = Played({.cluster = cluster}, std::move(options));
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].pods, 3);
  EXPECT_NEAR(Seconds(result.found[0].started), 60, 0.5);
}

// Pods of others' gangs once started one by one here, as pods that belong to nothing.
TEST(Simulation, AJobOfTheClusterIsAGang) {
  std::vector<Json> cluster = ClusterWithThreeOf(
      R"("ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"job","uid":"j","controller":true}])",
      "");
  cluster.push_back(Parsed(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"job","namespace":"default",
      "resourceVersion":"1","uid":"j"},"spec":{"completionMode":"Indexed","parallelism":3,"completions":3,
      "template":{"metadata":{},"spec":{"restartPolicy":"Never","schedulerName":"maniple",
      "containers":[{"name":"c","image":"i"}]}}}})"));
  ExpectStartsTogetherAfterAMinute(cluster);
}

// A kube-apiserver serves some of these kinds by itself, so no definition is in the snapshot.
TEST(Simulation, AGroupThatNobodyHasDefinedIsAGang) {
  std::vector<Json> cluster =
      ClusterWithThreeOf(R"("labels":{})", R"("schedulingGroup":{"podGroupName":"group"},)");
  cluster.push_back(Parsed(
      R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"group",
      "namespace":"default","resourceVersion":"1","uid":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}})"));
  ExpectStartsTogetherAfterAMinute(cluster);
}

TEST(Simulation, WhatNeverStartsInTheClusterIsTold) {
  std::vector<Json> cluster = NodesOf({{.count = 1, .gpus = 4}});
  cluster.push_back(PodOfCluster("big", "", 30));
  const SimulationResult result = Played({.cluster = cluster});
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_THAT(SimulationTable({FiguresOf("x", {}, result)}), HasSubstr("not at all"));
}

// A cluster may hold pods of an earlier play.
TEST(Simulation, APodOfTheClusterThatIsNamedLikeAJobsIsNoJobs) {
  for (const char* name : {"trace-100-0-0", "trace-0-0-7"}) {
    SimulationInput input{.cluster = NodesOf({{.count = 1}}), .jobs = {Job(0, 100, 1, 1)}};
    const absl::StatusOr<Json> pod = Json::Parse(absl::StrCat(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
        R"(","namespace":"default"},"spec":{"schedulerName":"maniple","containers":[{"name":"c",)",
        R"("image":"i","resources":{"limits":{"nvidia.com/gpu":"8"}}}]}})"));
    ASSERT_TRUE(pod.ok()) << pod.status();
    input.cluster.push_back(*pod);
    const SimulationResult result = Played(input);
    ASSERT_EQ(result.found.size(), 1u) << name;
    EXPECT_EQ(result.found[0].started, absl::ZeroDuration()) << name;
    EXPECT_FALSE(result.jobs[0].has_started()) << name << " has all GPUs";
  }
}

TEST(Simulation, WhatRunsInTheClusterLeavesWhenItSays) {
  std::vector<Json> cluster = NodesOf({{.count = 1}});
  absl::StatusOr<Json> pod = Json::Parse(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"old","namespace":"default","uid":"u"},
      "spec":{"nodeName":"node-00000","activeDeadlineSeconds":60,"containers":[{"name":"c","image":"i",
      "resources":{"limits":{"nvidia.com/gpu":"8"},"requests":{"nvidia.com/gpu":"8"}}}]},
      "status":{"phase":"Running","startTime":"1970-01-01T00:00:00Z"}})");
  ASSERT_TRUE(pod.ok()) << pod.status();
  cluster.push_back(*pod);
  const SimulationResult result = Played({.cluster = cluster, .jobs = {Job(0, 10, 1, 8)}});
  EXPECT_EQ(result.load.front().gpus_used, 8);
  EXPECT_NEAR(Seconds(result.jobs[0].started), 60, 0.1);
  EXPECT_EQ(result.load.back().gpus_used, 0);
}

TEST(Simulation, ABrokenClusterIsRefusedByName) {
  std::vector<Json> cluster = NodesOf({{.count = 1}});
  cluster[0].Mutable("metadata").Set("labels", "none");
  const auto result = Simulate({.cluster = cluster}, Options(), [](const Progress&) {});
  EXPECT_THAT(result.status().message(), HasSubstr("node-00000"));
}

// One node, so that who fits is plain arithmetic: whenever something ends or comes, those that wait
// are tried in the order in which they came.
std::vector<double> NaiveStarts(const std::vector<TraceJob>& jobs, int64_t gpus) {
  std::vector<double> starts(jobs.size(), -1);
  double now = 0;
  while (true) {
    int64_t used = 0;
    for (size_t i = 0; i < jobs.size(); ++i) {
      const bool runs = starts[i] >= 0 && starts[i] + Seconds(jobs[i].runs) > now + 1e-9;
      if (runs) used += jobs[i].all_gpus();
    }
    for (size_t i = 0; i < jobs.size(); ++i) {
      const bool waits = starts[i] < 0 && Seconds(jobs[i].submitted) <= now + 1e-9;
      if (!waits || used + jobs[i].all_gpus() > gpus) continue;
      starts[i] = now;
      used += jobs[i].all_gpus();
    }
    double next = 1e18;
    for (size_t i = 0; i < jobs.size(); ++i) {
      const double event =
          starts[i] < 0 ? Seconds(jobs[i].submitted) : starts[i] + Seconds(jobs[i].runs);
      if (event > now + 1e-9) next = std::min(next, event);
    }
    if (next == 1e18) return starts;
    now = next;
  }
}

TEST(Simulation, StartsWhenANaiveModelOfOneNodeDoes) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    std::vector<TraceJob> jobs;
    double at = 0;
    for (int i = 0; i < 40; ++i) {
      jobs.push_back(Job(at, 7 + static_cast<double>(random.Below(9000)) / 10,
                         1 + static_cast<int64_t>(random.Below(3)),
                         1 + static_cast<int64_t>(random.Below(2))));
      at += 1.37 + static_cast<double>(random.Below(900)) / 10;
    }
    LoopOptions options = Options();
    options.reservation_after = absl::InfiniteDuration();
    const SimulationResult result =
        Played({.cluster = NodesOf({{.count = 1}}), .jobs = jobs}, std::move(options));
    const std::vector<double> expected = NaiveStarts(jobs, 8);
    for (size_t i = 0; i < jobs.size(); ++i) {
      ASSERT_NEAR(Seconds(result.jobs[i].started), expected[i], 0.05)
          << "seed " << seed << ", " << i;
    }
  }
}

TEST(Simulation, IsTheSameEachTimeAndNobodyHoldsMoreThanThereIs) {
  Random random(7);
  std::vector<TraceJob> jobs;
  for (int i = 0; i < 120; ++i) {
    jobs.push_back(Job(i * 10, 50 + static_cast<double>(random.Below(2000)),
                       1 + static_cast<int64_t>(random.Below(4)), 1 << random.Below(4)));
    jobs.back().queue = absl::StrCat("team-", random.Below(3));
  }
  SimulationInput input{.cluster = NodesOf({{.count = 6}}), .jobs = jobs, .tells_run_times = true};
  for (Json& queue : QueuesFor(jobs, input.cluster, QuotaBy::kEqual)) {
    input.cluster.push_back(std::move(queue));
  }
  const SimulationResult once = Played(input);
  EXPECT_EQ(SimulationCsv(jobs, once), SimulationCsv(jobs, Played(input)));
  for (const LoadPoint& point : once.load) {
    ASSERT_LE(point.gpus_used, once.gpus);
    ASSERT_GE(point.gpus_used, 0);
    ASSERT_GE(point.gpus_wanted, 0);
  }
  EXPECT_TRUE(std::ranges::all_of(once.jobs, &JobOutcome::has_ended));
  EXPECT_EQ(once.load.back().gpus_used, 0);
  EXPECT_EQ(once.load.back().jobs_waiting, 0);
}

TEST(GpuUse, KnowsWhatIsFreeBesideOthers) {
  GpuUse use(NodesOf({{.count = 2}}));
  use.Take("node-00000", 3);
  EXPECT_EQ(use.split(), 5);
  use.Take("node-00000", 5);
  use.Take("node-00001", 1);
  use.Take("nobody", 1);
  EXPECT_EQ(use.split(), 7);
  EXPECT_EQ(use.used(), 9);
  EXPECT_EQ(use.all(), 16);
}

TEST(SimulationReport, TellsOfEachSizeWhereThereAreSeveral) {
  const std::vector<TraceJob> jobs = {Job(0, 10, 1, 1), Job(0, 10, 1, 2), Job(0, 10, 1, 8),
                                      Job(0, 10, 8, 8), Job(0, 10, 9, 8), Job(0, 10, 1, 0)};
  SimulationResult result{.nodes = 1, .gpus = 200, .length = absl::Seconds(20)};
  for (size_t i = 0; i < jobs.size(); ++i)
    result.jobs.push_back({.started = absl::Seconds(10 * i)});
  const SimulationFigures figures = FiguresOf("mine", jobs, result);
  std::vector<std::string> sizes;
  for (const JobFigures& size : figures.sizes) {
    sizes.push_back(absl::StrCat(size.name, ": ", size.jobs, " after ", size.mean_wait));
  }
  EXPECT_THAT(sizes, ElementsAre("0: 1 after 50", "1: 1 after 0", "2-8: 2 after 15",
                                 "9-64: 1 after 30", "65-512: 1 after 40"));
  EXPECT_THAT(SimulationTable({figures}), HasSubstr("\nCONFIGURATION  GPUS    JOBS"));
  EXPECT_EQ(SimulationJson({figures})["items"].items()[0]["sizes"].items()[4]["gpus"].AsString(),
            "65-512");
  EXPECT_THAT(FiguresOf("mine", {jobs[0]}, {.jobs = {result.jobs[0]}}).sizes, IsEmpty());
}

TEST(SimulationReport, TellsPercentilesSharesAndWhoNeverStarted) {
  std::vector<TraceJob> jobs;
  SimulationResult result{.nodes = 1, .gpus = 10, .length = absl::Seconds(200)};
  for (int i = 0; i < 100; ++i) {
    jobs.push_back(Job(i, 36, 1, 1));
    jobs.back().queue = i < 50 ? "a" : "b";
    result.jobs.push_back({.submitted = absl::Seconds(i),
                           .started = absl::Seconds(2 * i + 1),
                           .ended = absl::Seconds(2 * i + 37)});
  }
  result.jobs.back().started = result.jobs.back().ended = absl::InfiniteDuration();
  result.load = {{.at = absl::ZeroDuration(), .gpus_used = 5, .gpus_wanted = 2},
                 {.at = absl::Seconds(49.5), .gpus_used = 10, .gpus_wanted = 9}};
  const SimulationFigures figures = FiguresOf("mine", jobs, result);
  EXPECT_EQ(figures.all.started, 99);
  EXPECT_EQ(figures.all.median_wait, 50);
  EXPECT_EQ(figures.all.p90_wait, 90);
  EXPECT_EQ(figures.all.longest_wait, 99);
  EXPECT_NEAR(figures.all.gpu_hours, 0.99, 1e-9);
  EXPECT_NEAR(figures.used_share, 0.75, 1e-9);
  EXPECT_NEAR(figures.idle_while_wanted, 0.1, 1e-9);
  ASSERT_EQ(figures.queues.size(), 2);
  EXPECT_EQ(figures.queues[0].name, "a");
  EXPECT_EQ(figures.queues[1].started, 49);
  EXPECT_THAT(SimulationTable({figures}), HasSubstr("75.0 %"));
  EXPECT_EQ(SimulationJson({figures})["items"].items()[0]["queues"].size(), 2);
  EXPECT_THAT(SimulationCsv(jobs, result), HasSubstr("at-99,b,1,1,99.000,,,0,0.000\n"));
  const std::string plot = SimulationPlot({{"a<b", &result}});
  EXPECT_THAT(plot, HasSubstr("a&lt;b"));
  EXPECT_THAT(plot, HasSubstr("</svg>"));
}

}  // namespace
}  // namespace maniple
