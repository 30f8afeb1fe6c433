// Nodes that no filter can tell apart. Fears: two nodes are called alike though one takes a gang
// that the other does not; nodes that differ in nothing are told apart, so that a search looks at
// each; a node with room is left out, or stands in the wrong place.
#include "scheduler/cycle/search/node_likeness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "scheduler/cycle/search/bound_request.h"
#include "test/support/builders.h"
#include "test/support/storage_builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_node_likeness_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NodeLikenessTest : public ::testing::Test {
 protected:
  NodeLikenessTest() {
    cluster_.Add(MakePodGroup("g").MinMember(2));
    cluster_.Add(MakePod("g-0").Group("g").Gpu(2));
    cluster_.Add(MakePod("g-1").Group("g").Gpu(1).Cpu(4000));
  }
  void With(const std::function<void(const BoundKinds&, const Overlay&)>& look) {
    const GangRequest request = cluster_.RequestOf("g");
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const Overlay overlay(*snapshot, Overlay::View::kNow);
    const BoundRequest bound({.snapshot = *snapshot, .now = cluster_.now}, request,
                             cluster_.profile());
    look(bound.Bind(Question::kNow, overlay), overlay);
  }
  // Whether these two nodes, both with room, are alike.
  bool Alike(const std::string& a, const std::string& b,
             std::vector<const DomainLevel*> levels = {}) {
    std::vector<Likeness> like;
    With([&](const BoundKinds& kinds, const Overlay& overlay) {
      NodeLikeness likeness(kinds.kinds, overlay, std::move(levels));
      for (const std::string& name : {a, b, a}) {
        const NodeId node = cluster_.state().NodeNamed(name).value();
        std::vector<int32_t> rooms;
        for (const Kind& kind : kinds.kinds) rooms.push_back(kind.bound->RoomAt(overlay, node));
        like.push_back(likeness.Of(node, rooms));
      }
    });
    EXPECT_EQ(like[0], 0u) << "numbered in the order of first sight";
    EXPECT_LE(like[1], 1u);
    EXPECT_EQ(like[2], like[0]);
    return like[0] == like[1];
  }

  TestCluster cluster_;
};

TEST_F(NodeLikenessTest, NodesWithRoomAreTheOnesThatTakeAPodInOrderOfName) {
  Random random(1);
  using Facts = std::tuple<int64_t, int64_t, int64_t>;
  std::vector<std::pair<std::string, Facts>> nodes;
  for (int i = 0; i < 300; ++i) {
    const auto gpus = static_cast<int64_t>(random.Below(4));
    const auto cores = static_cast<int64_t>(3 + random.Below(3));
    const auto used = static_cast<int64_t>(random.Below(3));
    // Nobody asks for memory, so that it tells no nodes apart.
    const std::string name = absl::StrCat("n", 1000 - 3 * i);
    cluster_.Add(MakeNode(name).Gpu(gpus + used).Cpu(cores).Memory(1 << (20 + i % 3)));
    if (used > 0) cluster_.Add(MakePod(absl::StrCat("p", i)).Gpu(used).On(name));
    nodes.emplace_back(name, Facts(gpus, cores, used));
  }
  std::ranges::sort(nodes);
  With([&](const BoundKinds& kinds, const Overlay& overlay) {
    const RoomyNodes roomy = NodesWithRoom(kinds.kinds, overlay, nullptr);
    size_t at = 0;
    std::map<Facts, Likeness> like;
    for (const auto& [name, facts] : nodes) {
      const NodeId node = cluster_.state().NodeNamed(name).value();
      const int32_t first = kinds.kinds[0].bound->RoomAt(overlay, node);
      const int32_t second = kinds.kinds[1].bound->RoomAt(overlay, node);
      if (first + second == 0) continue;
      ASSERT_LT(at, roomy.nodes.size());
      EXPECT_EQ(roomy.nodes[at], node);
      EXPECT_THAT(roomy.RoomsOf(at), ElementsAre(first, second)) << name;
      EXPECT_EQ(like.try_emplace(facts, roomy.like[at]).first->second, roomy.like[at]) << name;
      ++at;
    }
    EXPECT_EQ(at, roomy.nodes.size());
    std::set<Likeness> distinct;
    for (const auto& [facts, number] : like) distinct.insert(number);
    EXPECT_EQ(distinct.size(), like.size()) << "of other amounts, and yet alike";
  });
}

TEST_F(NodeLikenessTest, OnlyNodesWithinTheSetAreLookedAtAndARefusedKindHasNoRoom) {
  cluster_.Add(MakeNode("n1").Gpu(2));
  cluster_.Add(MakeNode("n2").Gpu(2));
  With([&](const BoundKinds& bound, const Overlay& overlay) {
    NodeSet within(overlay.block_count());
    EXPECT_THAT(NodesWithRoom(bound.kinds, overlay, &within).nodes, IsEmpty());
    const NodeId second = cluster_.state().NodeNamed("n2").value();
    within[BlockOf(second)].Set(RowOf(second));
    EXPECT_THAT(NodesWithRoom(bound.kinds, overlay, &within).nodes, ElementsAre(second));
    std::vector<Kind> kinds = bound.kinds;
    kinds[1].bound = nullptr;
    EXPECT_THAT(NodesWithRoom(kinds, overlay, &within).RoomsOf(0), ElementsAre(1, 0));
    kinds[0].bound = nullptr;
    EXPECT_THAT(NodesWithRoom(kinds, overlay, nullptr).nodes, IsEmpty());
  });
}

// Ports and volumes have numbers of their own, which may be equal.
TEST_F(NodeLikenessTest, AUsedPortIsNoUsedVolumeOfTheSameNumber) {
  for (int i = 0; i < 4; ++i) {
    cluster_.Add(MakeNode(absl::StrCat("volume", i)).Gpu(4));
    cluster_.Add(MakeNode(absl::StrCat("port", i)).Gpu(4));
    cluster_.Add(MakePod(absl::StrCat("v", i))
                     .Attached("csi", absl::StrCat("v", i))
                     .On(absl::StrCat("volume", i)));
    cluster_.Add(MakePod(absl::StrCat("p", i)).Port(9000 + i).On(absl::StrCat("port", i)));
  }
  for (int v = 0; v < 4; ++v) {
    for (int p = 0; p < 4; ++p) {
      EXPECT_FALSE(Alike(absl::StrCat("volume", v), absl::StrCat("port", p))) << v << " " << p;
    }
  }
}

TEST_F(NodeLikenessTest, WhatAFilterMayLookAtTellsNodesApart) {
  for (const char* name : {"plain", "same", "port", "attached", "three", "four", "tainted"}) {
    MakeNode node(name);
    if (absl::string_view(name) == "tainted")
      node.WithTaint("t", "", TaintEffect::kPreferNoSchedule);
    cluster_.Add(node.Gpu(4));
    MakePod pod(absl::StrCat("on-", name));
    if (absl::string_view(name) == "port") pod.Port(9000);
    if (absl::string_view(name) == "attached") pod.Attached("csi", "v");
    cluster_.Add(pod.On(name));
  }
  cluster_.Add(AttachLimit("three", "csi", 3));
  cluster_.Add(AttachLimit("four", "csi", 4));
  EXPECT_TRUE(Alike("plain", "same"));
  for (const char* other : {"port", "attached", "three", "tainted"}) {
    EXPECT_FALSE(Alike("plain", other)) << other;
  }
  EXPECT_FALSE(Alike("three", "four"));
}

TEST_F(NodeLikenessTest, NodesOfTwoDomainsAreNotAlike) {
  cluster_.Add(MakeNode("n1").Gpu(4));
  cluster_.Add(MakeNode("n2").Gpu(4));
  cluster_.Add(MakeNode("n3").Gpu(4));
  const DomainLevel racks{.name = "rack", .paths = {"r0", "r1"}, .domain_of = {0, 1, 0}};
  const DomainLevel one{.name = "block", .paths = {"b"}, .domain_of = {0, 0, 0}};
  EXPECT_TRUE(Alike("n1", "n2"));
  EXPECT_FALSE(Alike("n1", "n2", {&one, &racks}));
  EXPECT_TRUE(Alike("n1", "n3", {&one, &racks}));
}

TEST_F(NodeLikenessTest, RoomsThatDifferTellNodesApartWhateverTheReason) {
  cluster_.Add(MakeNode("n1").Gpu(4));
  With([&](const BoundKinds& kinds, const Overlay& overlay) {
    NodeLikeness likeness(kinds.kinds, overlay, {});
    const NodeId node = cluster_.state().NodeNamed("n1").value();
    const std::vector<int32_t> some = {2, 4}, fewer = {2, 3};
    EXPECT_EQ(likeness.Of(node, some), 0u);
    EXPECT_EQ(likeness.Of(node, fewer), 1u);
  });
}

}  // namespace
}  // namespace maniple::cycle_node_likeness_test
