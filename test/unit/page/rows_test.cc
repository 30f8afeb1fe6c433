// What the page tells: nobody's names to others, sums that are true, and JSON whatever names hold.
#include "scheduler/page/page_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "api/codec/json.h"
#include "scheduler/page/page_tables.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kGpu[] = "nvidia.com/gpu";

std::map<std::string, Json> RowsByKey(const ClusterView& view, const PageReader& reader = {}) {
  std::map<std::string, Json> rows;
  for (const PageRow& row : PageRowsOf(view, reader, {"1.2.3"})) {
    absl::StatusOr<Json> json = Json::Parse(row.json);
    EXPECT_TRUE(json.ok()) << row.json;
    EXPECT_EQ((*json)["k"].AsString(), row.key);
    rows.emplace(row.key, *std::move(json));
  }
  return rows;
}

GangView GangOf(const std::string& namespace_name, const std::string& name) {
  return {.namespace_name = namespace_name, .name = name, .queue = "q-" + namespace_name};
}

// One node of 8 GPUs: 4 used by a/train, of which one is leaving, 2 by b/train, 1 by a pod of no
// gang; room for 3 is held for b/next, of which one is free of others.
ClusterView Shared() {
  ClusterView view;
  view.levels = {"rack"};
  view.gangs = {GangOf("a", "train"), GangOf("b", "next"), GangOf("b", "train")};
  view.nodes = {{.name = "n1",
                 .path = {"r1"},
                 .resources = {{"cpu", Amount(8000), Amount(8000), false},
                               {kGpu, Amount(8), Amount(-2), true}},
                 .uses = {{.gang = "a/train", .resource = kGpu, .amount = 4, .leaving = 1},
                          {.gang = "b/train", .resource = kGpu, .amount = 2}},
                 .held = {{.gang = "b/next", .resource = kGpu, .amount = 3}}}};
  return view;
}

int64_t SumOfUses(const Json& gpu) {
  int64_t sum = 0;
  for (const Json& use : gpu["uses"].items()) sum += use["n"].AsInt();
  return sum;
}

TEST(PageRows, UsesAddUpToWhatIsNotFree) {
  const Json gpu = RowsByKey(Shared()).at("node/n1")["gpus"].items().at(0);
  EXPECT_EQ(gpu["name"].AsString(), kGpu);
  EXPECT_EQ(gpu["all"].AsInt(), 8);
  EXPECT_EQ(gpu["free"].AsInt(), 0);
  EXPECT_EQ(SumOfUses(gpu), 8);
  EXPECT_EQ(gpu["uses"].Dump(),
            "[{\"n\":3,\"gang\":\"a/train\",\"queue\":\"q-a\"},"
            "{\"n\":1,\"gang\":\"a/train\",\"queue\":\"q-a\",\"leaving\":true},"
            "{\"n\":2,\"gang\":\"b/train\",\"queue\":\"q-b\"},"
            "{\"n\":2,\"gang\":\"b/next\",\"queue\":\"q-b\",\"held\":true}]");
}

TEST(PageRows, PodsOfNoGangHaveNoName) {
  ClusterView view = Shared();
  view.nodes[0].held.clear();
  const Json gpu = RowsByKey(view).at("node/n1")["gpus"].items().at(0);
  EXPECT_EQ(SumOfUses(gpu), 8);
  EXPECT_EQ(gpu["uses"].items().back().Dump(), "{\"n\":2}");
}

// A device that failed under its pod.
TEST(PageRows, MoreUsedThanThereIsIsTold) {
  ClusterView view = Shared();
  view.nodes[0].resources[1].allocatable = Amount(0);
  const Json gpu = RowsByKey(view).at("node/n1")["gpus"].items().at(0);
  EXPECT_EQ(SumOfUses(gpu), 6);
}

TEST(PageRows, AReaderOfOneNamespaceLearnsNoNamesOfOthers) {
  const PageReader reader{.namespace_name = "a"};
  std::string all;
  for (const PageRow& row : PageRowsOf(Shared(), reader, {""})) all += row.json + "\n";
  EXPECT_THAT(all, HasSubstr("a/train"));
  EXPECT_THAT(all, Not(HasSubstr("b/")));
  EXPECT_THAT(all, Not(HasSubstr("q-b")));
  EXPECT_EQ(SumOfUses(RowsByKey(Shared(), reader).at("node/n1")["gpus"].items().at(0)), 8);
}

TEST(PageRows, WhoMayNotSeeQueuesOrNodesHasNoneOfThem) {
  ClusterView view = Shared();
  view.queues = {{.name = "q-a"}};
  view.cohorts = {{.name = "c"}};
  std::vector<std::string> keys;
  for (const auto& [key, row] : RowsByKey(view, {.sees_queues = false, .sees_nodes = false})) {
    keys.push_back(key);
  }
  EXPECT_THAT(keys, ElementsAre("cluster", "gang/a/train", "gang/b/next", "gang/b/train"));
  EXPECT_EQ(RowsByKey(view, {.sees_nodes = false}).at("cluster")["sees"].Dump(),
            "{\"queues\":true}");
}

TEST(PageRows, ProblemsWithTheApiServerAreForWhoSeesNodes) {
  const PageProcess process{.problems = {"Pod: GET https://10.0.0.1/api/v1/pods: refused"}};
  const std::vector<PageRow> all = PageRowsOf({}, {}, process);
  EXPECT_THAT(all.front().json, HasSubstr("\"problems\":[\"Pod: GET https://10.0.0.1"));
  const std::vector<PageRow> few = PageRowsOf({}, {.sees_nodes = false}, process);
  EXPECT_THAT(few.front().json, Not(HasSubstr("10.0.0.1")));
}

TEST(PageRows, HostileTextsStayTexts) {
  ClusterView view;
  const std::string hostile = "</script>\"\\\n\x01<img src=x onerror=alert(1)>&";
  view.gangs = {GangOf("a", "g")};
  view.gangs[0].message = hostile;
  view.gangs[0].position = 1;
  EXPECT_EQ(RowsByKey(view).at("gang/a/g")["message"].AsString(), hostile);
  const std::string html = PageTables(view, {});
  EXPECT_THAT(html, HasSubstr("&lt;img src=x onerror=alert(1)&gt;&amp;"));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("</script>")));
}

TEST(PageRows, AGangTellsWhatItAsksForAndWhenItStartsAndEnds) {
  ClusterView view;
  GangView gang = GangOf("a", "g");
  gang.phase = "Waiting";
  gang.asks = {{.members = 12, .resource = kGpu, .amount = 8}};
  gang.created = absl::FromUnixSeconds(100);
  gang.planned_start = {.at = absl::FromUnixSeconds(500), .first_at = absl::FromUnixSeconds(400)};
  gang.expected_end = {.at = absl::FromUnixSeconds(3661), .estimated = true};
  view.gangs = {gang};
  const Json row = RowsByKey(view).at("gang/a/g");
  EXPECT_EQ(row["asks"].Dump(), "[{\"members\":12,\"name\":\"nvidia.com/gpu\",\"amount\":8}]");
  EXPECT_EQ(row["created"].AsInt(), 100);
  EXPECT_EQ(row["start"].Dump(), "{\"at\":500,\"first\":400}");
  EXPECT_EQ(row["ends"].Dump(), "{\"at\":3720,\"estimated\":true}");
}

TEST(PageRows, UsageIsInWholeUnits) {
  ClusterView view;
  view.queues = {{.name = "q",
                  .usage = {{.flavor = "h100",
                             .resource = kGpu,
                             .nominal = Amount(16),
                             .used = Amount(20),
                             .borrowed = Amount(4)},
                            {.flavor = "", .resource = "cpu", .nominal = Amount(1500)}}}};
  EXPECT_EQ(RowsByKey(view).at("queue/q")["usage"].Dump(),
            "[{\"flavor\":\"h100\",\"name\":\"nvidia.com/gpu\",\"nominal\":16,\"used\":20,"
            "\"borrowed\":4},{\"name\":\"cpu\",\"nominal\":1.5}]");
}

TEST(PageRows, ANodeTellsItsNvlinkDomain) {
  ClusterView view;
  view.nodes = {{.name = "in", .nvlink = "uuid.3"}, {.name = "out"}};
  EXPECT_EQ(RowsByKey(view).at("node/in")["nvlink"].AsString(), "uuid.3");
  EXPECT_EQ(RowsByKey(view).at("node/out").Dump(), "{\"k\":\"node/out\",\"name\":\"out\"}");
}

// The fear: free GPUs are shown on a node that takes no more pods, and nothing says why nobody
// starts.
TEST(PageRows, ANodeTellsWhyItIsClosed) {
  ClusterView view;
  view.nodes = {{.name = "full", .closed = "no room for another pod"}, {.name = "open"}};
  EXPECT_EQ(RowsByKey(view).at("node/full")["closed"].AsString(), "no room for another pod");
  EXPECT_TRUE(RowsByKey(view).at("node/open")["closed"].is_null());
}

// The fear: every node is a rack of its own, and a map of thousands of racks shows no GPU.
TEST(PageRows, TheLevelOfSingleNodesIsNoLevel) {
  ClusterView view;
  view.levels = {"rack", "kubernetes.io/hostname"};
  view.nodes = {{.name = "n1", .path = {"r1", "n1"}}};
  EXPECT_EQ(RowsByKey(view).at("cluster")["levels"].Dump(), "[\"rack\"]");
  EXPECT_EQ(RowsByKey(view).at("node/n1")["path"].Dump(), "[\"r1\"]");
}

TEST(PageRows, GpuHoursOfAQueueAreWholeOnesOfAllItsNamespaces) {
  ClusterView view;
  view.queues = {
      {.name = "q", .used = {{"a", "h100", kGpu, 7'000, 3'000}, {"b", "a100", kGpu, 4'000, 600}}}};
  EXPECT_EQ(RowsByKey(view).at("queue/q")["hours"].Dump(),
            "[{\"name\":\"nvidia.com/gpu\",\"total\":3,\"recent\":1}]");
}

TEST(PageRows, WhatHasEndedHasNoRow) {
  ClusterView view;
  view.gangs = {GangOf("a", "done"), GangOf("a", "broken")};
  view.gangs[0].phase = "Completed";
  view.gangs[1].phase = "Failed";
  EXPECT_EQ(PageRowsOf(view, {}, {""}).size(), 1);
}

// The fear: a browser is told that the one is gone, and drops the other.
TEST(PageRows, APodNamedLikeAPodGroupTakesItsKeyFromNobody) {
  ClusterView view;
  view.gangs = {GangOf("a", "train"), GangOf("a", "train")};
  view.gangs[0].singleton = true;
  Arrange(view);
  std::vector<PageRow> gangs = PageRowsOf(view, {}, {"v"});
  std::erase_if(gangs, [](const PageRow& row) { return row.key != "gang/a/train"; });
  ASSERT_EQ(gangs.size(), 1u);
  EXPECT_FALSE(view.gangs[0].singleton);
}

}  // namespace
}  // namespace maniple
