// The map of GPUs by domain, as `maniple nodes --map` draws it from the admin surface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/codec/json.h"
#include "scheduler/app/answers/admin_view.h"
#include "scheduler/cli/node_map.h"

namespace maniple {
namespace {

NodeRow GpuNode(std::string name, std::vector<std::string> path, int64_t gpus, int64_t free) {
  NodeRow row{.name = std::move(name), .path = std::move(path)};
  row.resources.push_back({"cpu", Amount(64), Amount(64)});
  row.resources.push_back({"nvidia.com/gpu", Amount(gpus), Amount(free), true});
  return row;
}

std::string MapOf(std::vector<NodeRow> nodes) {
  ClusterView view;
  view.nodes = std::move(nodes);
  const absl::StatusOr<std::string> page = AdminJson(view, {.path = "/nodes"});
  return page.ok() ? NodeMap(*Json::Parse(*page)) : std::string(page.status().message());
}

TEST(NodeMap, DrawsALetterForEachGangByDomain) {
  NodeRow full = GpuNode("n1", {"b1", "r1"}, 4, 0);
  full.uses = {{"default/big", "nvidia.com/gpu", 3}, {"default/small", "nvidia.com/gpu", 1}};
  NodeRow half = GpuNode("n2", {"b1", "r1"}, 4, 2);
  half.uses = {{"default/big", "nvidia.com/gpu", 1}};
  EXPECT_EQ(MapOf({full, half, GpuNode("other", {"b1", "r2"}, 4, 4)}),
            "b1/r1: 6 of 8 taken\n"
            "  n1     AAAB\n"
            "  n2     A#..\n"
            "b1/r2: 0 of 4 taken\n"
            "  other  ....\n"
            "A default/big  B default/small\n");
}

TEST(NodeMap, ANodeThatTakesNoPodsSaysWhy) {
  NodeRow upgraded = GpuNode("n1", {}, 2, 2);
  upgraded.closed = "its GPU driver is being upgraded";
  EXPECT_EQ(MapOf({upgraded}),
            "all nodes: 0 of 2 taken\n"
            "  n1  ..  (its GPU driver is being upgraded)\n");
}

TEST(NodeMap, SlicesStandByProfile) {
  NodeRow node = GpuNode("m1", {}, 1, 1);
  node.resources.push_back({"nvidia.com/mig-1g.10gb", Amount(7), Amount(5), true});
  node.uses = {{"default/s", "nvidia.com/mig-1g.10gb", 2}};
  EXPECT_EQ(MapOf({node}),
            "all nodes: 2 of 8 taken\n"
            "  m1  .  1g.10gb AA.....\n"
            "A default/s\n");
}

TEST(NodeMap, DevicesThatAreHeldButGoneStandBehindAMark) {
  NodeRow node = GpuNode("n1", {}, 2, -1);
  node.uses = {{"default/s", "nvidia.com/gpu", 3}};
  EXPECT_EQ(MapOf({node}),
            "all nodes: 3 of 2 taken\n"
            "  n1  AA!A\n"
            "A default/s\n");
}

TEST(NodeMap, ALevelWithoutALabelAndTheNodesOwnLevelAreTold) {
  EXPECT_EQ(MapOf({GpuNode("n1", {"", "n1"}, 1, 1)}),
            "?: 0 of 1 taken\n"
            "  n1  .\n");
}

TEST(NodeMap, ManyUnitsAreANumberAndNodesWithoutGpusAreLeftOut) {
  NodeRow plain{.name = "cpu-1"};
  plain.resources.push_back({"cpu", Amount(8), Amount(8)});
  EXPECT_EQ(MapOf({plain}), "no node has a GPU\n");
  EXPECT_EQ(MapOf({plain, GpuNode("n1", {}, 1000, 400)}),
            "all nodes: 600 of 1000 taken\n"
            "  n1  600 of 1000\n");
}

TEST(NodeMap, TotalsStopAtTheLargestNumber) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(MapOf({GpuNode("n1", {}, kMost, -1), GpuNode("n2", {}, kMost, 0)}),
              ::testing::StartsWith(absl::StrCat("all nodes: ", kMost, " of ", kMost, " taken\n")));
}

}  // namespace
}  // namespace maniple
