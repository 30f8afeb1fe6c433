// The replay of the published experiment, on clusters small enough to know the answer. The fear: a
// bench that flatters us, because the protocol or the baseline is not what was published.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bench/quality/fill_policy.h"
#include "bench/quality/fragmentation_gradient.h"
#include "bench/quality/openb.h"
#include "bench/quality/replay.h"
#include "scheduler/simulate/plot.h"

namespace maniple {
namespace {

OpenbCluster ClusterOf(int nodes, int32_t gpus) {
  OpenbCluster cluster{.models = {"X"}};
  cluster.nodes.assign(static_cast<size_t>(nodes),
                       {.cpu = 64'000, .memory = 512, .gpus = gpus, .model = 0});
  return cluster;
}

// A list with so many pods of each shape.
OpenbList ListOf(const std::vector<std::pair<OpenbShape, int>>& shapes) {
  OpenbList list;
  for (const auto& [shape, pods] : shapes) {
    list.pods.insert(list.pods.end(), static_cast<size_t>(pods),
                     static_cast<uint32_t>(list.shapes.size()));
    list.shapes.push_back(shape);
  }
  return list;
}

std::string Written(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "bench_quality_" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(FragmentationGradient, EqualsTheFormulaWorkedOutByHand) {
  const OpenbList list = ListOf({{{.cpu = 1000, .gpus = 1, .milli = 500}, 2},
                                 {{.cpu = 1000}, 1},
                                 {{.cpu = 1000, .gpus = 2, .milli = 1000}, 1}});
  FragmentationGradient gradient(list);
  NodeState node{.cpu = 8000, .memory = 64, .gpus = 2};
  node.free = {400, 1000};
  // Half of the pods cannot use the 400; the others, without GPUs or with two, none of the 1400.
  EXPECT_DOUBLE_EQ(gradient.FragmentOf(node), 0.5 * 400 + 0.25 * 1400 + 0.25 * 1400);
  // The pod that shares leaves 400 and 500: the fragment falls to 650, by a quarter of a GPU.
  const Offer offer = gradient.OfferFor(node, 0);
  EXPECT_EQ(offer.device, 1);
  EXPECT_EQ(offer.score, 56);
  node.cpu = 999;  // nobody runs there
  EXPECT_DOUBLE_EQ(gradient.FragmentOf(node), 1400);
}

TEST(TypicalShapes, AreTheMostFrequentUpToNineteenOfTwenty) {
  const OpenbList list = ListOf({{{.cpu = 1}, 4}, {{.cpu = 2}, 90}, {{.cpu = 3}, 6}});
  const std::vector<TypicalShape> typical = TypicalOf(list);
  ASSERT_EQ(typical.size(), 2);
  EXPECT_EQ(typical[0].shape, 1);
  EXPECT_EQ(typical[1].pods, 6);
}

TEST(Arrivals, AskForThirtyPercentMoreThanThereIsAndFollowFromTheSeed) {
  const OpenbCluster cluster = ClusterOf(20, 8);
  for (const int pods : {100, 400}) {
    const OpenbList list = ListOf({{{.cpu = 1, .gpus = 1, .milli = 1000}, pods}, {{.cpu = 1}, 9}});
    const Arrivals arrivals = ArrivalsOf(list, cluster, 42);
    EXPECT_EQ(std::count(arrivals.pods.begin(), arrivals.pods.end(), 0), 208);
    EXPECT_EQ(arrivals.pods, ArrivalsOf(list, cluster, 42).pods);
    EXPECT_NE(arrivals.pods, ArrivalsOf(list, cluster, 43).pods);
    EXPECT_EQ(arrivals.node_rank.size(), 20);
  }
}

TEST(Replay, FillsTwentyNodesWithPodsThatFitExactly) {
  const OpenbCluster cluster = ClusterOf(20, 8);
  const OpenbList list = ListOf({{{.cpu = 8000, .memory = 64, .gpus = 1, .milli = 1000}, 160}});
  const Arrivals arrivals = ArrivalsOf(list, cluster, 42);
  FragmentationGradient gradient(list);
  FillPolicy ours(cluster, list, {});
  for (const Curve& curve :
       {Replay(cluster, list, arrivals, gradient), Replay(cluster, list, arrivals, ours)}) {
    EXPECT_NEAR(curve[50], 50, 0.5);
    EXPECT_NEAR(curve[100], 100, 0.5);
    EXPECT_DOUBLE_EQ(curve[kMostArrived], 100);
  }
}

TEST(Replay, DropsWhatDoesNotFit) {
  // Cores for half of the GPUs.
  const OpenbCluster cluster = ClusterOf(20, 8);
  const OpenbList list = ListOf({{{.cpu = 16'000, .gpus = 1, .milli = 1000}, 160}});
  FillPolicy ours(cluster, list, {});
  const Curve curve = Replay(cluster, list, ArrivalsOf(list, cluster, 42), ours);
  EXPECT_DOUBLE_EQ(curve[kMostArrived], 50);
}

TEST(Replay, KeepsNodesWholeForTheLargePodsThatAreLikelyToCome) {
  const OpenbCluster cluster = ClusterOf(20, 8);
  const OpenbList list = ListOf({{{.cpu = 1000, .gpus = 1, .milli = 1000}, 40},
                                 {{.cpu = 1000, .gpus = 1, .milli = 600}, 40},
                                 {{.cpu = 8000, .gpus = 8, .milli = 1000}, 10}});
  FillPolicy ours(cluster, list, {});
  const Curve curve = Replay(cluster, list, ArrivalsOf(list, cluster, 42), ours);
  EXPECT_GT(curve[kMostArrived], 88);
}

TEST(Openb, ReadsRowsThatEndInEmptyFieldsAndFilesOfFewerColumns) {
  const auto cluster = ReadCluster(
      Written("nodes", "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,100,8,A\nn1,32000,50,2,B\n"));
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->gpu_milli(), 10'000);
  EXPECT_EQ(cluster->nodes[1].model, 1);
  const auto list = ReadList(Written("pods",
                                     "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n"
                                     "a,1000,10,1,500,B|C,LS\nb,1000,10,1,500,,\nc,2000,10,0,0\n"),
                             *cluster);
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->pods.size(), 3);
  EXPECT_EQ(list->shapes[list->pods[0]].models, 2);
  EXPECT_EQ(list->shapes[list->pods[1]].models, kAnyModel);
  EXPECT_EQ(list->shapes[list->pods[2]].gpus, 0);
}

TEST(Openb, RefusesWhatIsNoTraceAndNamesTheLine) {
  const OpenbCluster cluster = ClusterOf(1, 1);
  const std::string head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
  for (const char* row :
       {"a,1000,10,9,1000\n", "a,-1,10,1,1000\n", "a,1000,10,1,1001\n", "a\n", "a,x,10,1,1000\n"}) {
    const auto list = ReadList(Written("bad", absl::StrCat(head, row)), cluster);
    ASSERT_FALSE(list.ok()) << row;
    EXPECT_TRUE(absl::StrContains(list.status().message(), "line 2")) << list.status();
  }
  EXPECT_FALSE(ReadList(Written("empty", ""), cluster).ok());
  EXPECT_FALSE(ReadList(Written("none", head), cluster).ok());
  EXPECT_FALSE(ReadList("/nonexistent/list", cluster).ok());
  EXPECT_FALSE(ReadCluster(Written("no_gpus", "cpu_milli,memory_mib,gpu\n1,1,0\n")).ok());
  EXPECT_FALSE(ReadPublished(Written("other", "workload,policy\nx,FGD\n"), "default", "FGD").ok());
}

TEST(Plot, LeavesOutWhatIsOutsideTheAxes) {
  const PlotAxes axes{.left = 0, .right = 10, .bottom = 0, .top = 10, .step_across = 5};
  const std::string without =
      PlotOf({{.title = "t", .lines = {{.name = "n", .colour = "#000"}}}}, axes);
  PlotLine line{.name = "n", .colour = "#000", .points = {{11, 5}, {5, -1}}};
  EXPECT_EQ(PlotOf({{.title = "t", .lines = {line}}}, axes), without);
  line.points.emplace_back(5, 5);
  EXPECT_NE(PlotOf({{.title = "t", .lines = {line}}}, axes), without);
}

}  // namespace
}  // namespace maniple
