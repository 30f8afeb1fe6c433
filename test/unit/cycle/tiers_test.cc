// Gangs that ask for a tier of HyperNodes, with and without a Topology beside them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/cycle/topology/topology.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TiersTest : public ::testing::Test {
 protected:
  using Type = HyperNodeMember::Type;

  // Nodes PREFIX1, PREFIX2, … in a HyperNode of that name and tier.
  void Leaf(absl::string_view name, int32_t tier, absl::string_view prefix, int nodes) {
    HyperNode leaf{.tier = tier, .tier_name = "", .members = {}};
    for (int i = 1; i <= nodes; ++i) {
      const std::string node = absl::StrCat(prefix, i);
      cluster_.Add(MakeNode(node).Gpu(8).Label("example.com/zone", "z"));
      leaf.members.push_back({.name = node});
    }
    Put(name, std::move(leaf));
  }
  void Over(absl::string_view name, int32_t tier, const std::vector<std::string>& members,
            std::string tier_name = "") {
    HyperNode over{.tier = tier, .tier_name = std::move(tier_name), .members = {}};
    for (const std::string& member : members) {
      over.members.push_back({.type = Type::kHyperNode, .name = member});
    }
    Put(name, std::move(over));
  }
  void Put(absl::string_view name, HyperNode object) {
    ForeignObject foreign;
    foreign.meta.name = std::string(name);
    foreign.hyper_node = std::make_shared<const HyperNode>(std::move(object));
    cluster_.Add(ObjectUpserted{foreign});
  }
  // Zones, and nodes of their own.
  void PutTopology(std::vector<TopologyLevel> levels) {
    Topology topology;
    topology.meta.name = "default";
    topology.levels = std::move(levels);
    cluster_.Add(ObjectUpserted{topology});
  }
  void Submit(MakePodGroup group, absl::string_view name, int pods) {
    cluster_.Add(group.MinMember(pods));
    for (int i = 0; i < pods; ++i) {
      cluster_.Add(MakePod(absl::StrCat(name, "-", i)).Group(name).Index(i).Gpu(8));
    }
  }
  std::vector<std::string> Places(absl::string_view gang) {
    return cluster_.PlacesOf(cluster_.Decide(gang));
  }
  std::vector<std::string> DomainsOf(absl::string_view gang) {
    return std::get<Plan>(cluster_.Decide(gang)).domains;
  }
  Rejection RejectionOf(absl::string_view gang) {
    return std::get<Rejection>(cluster_.Decide(gang));
  }

  TestCluster cluster_;
};

TEST_F(TiersTest, ATierIsALevelWithoutAnyTopology) {
  Leaf("leaf-a", 1, "a", 1);
  Leaf("leaf-b", 1, "b", 2);
  Leaf("leaf-c", 1, "c", 2);
  Over("spine-1", 2, {"leaf-a", "leaf-b"});
  Over("spine-2", 2, {"leaf-c"});
  Submit(MakePodGroup("two").Required("tier-1"), "two", 2);
  EXPECT_THAT(Places("two"), ElementsAre("two-0=b1", "two-1=b2"));
  EXPECT_THAT(DomainsOf("two"), ElementsAre("spine-1/leaf-b"));
  Submit(MakePodGroup("three").Required("tier-2"), "three", 3);
  EXPECT_THAT(Places("three"), ElementsAre("three-0=a1", "three-1=b1", "three-2=b2"));
  Submit(MakePodGroup("lost").Required("tier-1"), "lost", 3);
  EXPECT_EQ(RejectionOf("lost").code, RejectionCode::kNeverFits);
  Submit(MakePodGroup("near").Preferred("tier-1"), "near", 4);
  EXPECT_EQ(Places("near").size(), 4u);
}

TEST_F(TiersTest, ATierMayHaveAName) {
  Leaf("leaf-a", 1, "a", 1);
  Leaf("leaf-b", 1, "b", 1);
  Over("one", 2, {"leaf-a"}, "spine");
  Over("two", 2, {"leaf-b"}, "spine");
  Submit(MakePodGroup("x").Required("spine"), "x", 2);
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kNeverFits);
  Over("two", 2, {"leaf-a", "leaf-b"}, "spine");
  Over("one", 2, {}, "spine");
  EXPECT_THAT(Places("x"), ElementsAre("x-0=a1", "x-1=b1"));
  // The number means the same.
  Submit(MakePodGroup("y").Required("tier-2").Preferred("tier-1"), "y", 1);
  EXPECT_THAT(Places("y"), ElementsAre("y-0=a1"));
}

// As Volcano has it, "at most tier 2" is met by a HyperNode of tier 1 that is in none of tier 2.
TEST_F(TiersTest, AHyperNodeMaySkipTiers) {
  Leaf("deep", 1, "a", 2);
  Leaf("flat", 2, "b", 1);
  Over("top", 3, {"deep", "flat"});
  Leaf("alone", 1, "c", 3);
  Submit(MakePodGroup("x").Required("tier-2"), "x", 2);
  EXPECT_THAT(DomainsOf("x"), ElementsAre("top/deep"));
  Submit(MakePodGroup("y").Required("tier-3"), "y", 3);
  EXPECT_THAT(Places("y"), ElementsAre("y-0=c1", "y-1=c2", "y-2=c3"));
  Submit(MakePodGroup("z").Required("tier-1"), "z", 3);
  EXPECT_THAT(Places("z"), ElementsAre("z-0=c1", "z-1=c2", "z-2=c3"));
}

TEST_F(TiersTest, ATierThatNoHyperNodeHasIsTheNextLowerOne) {
  Leaf("leaf-a", 2, "a", 1);
  Leaf("leaf-b", 2, "b", 1);
  Over("top", 5, {"leaf-a", "leaf-b"});
  Submit(MakePodGroup("x").Required("tier-4"), "x", 2);
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kNeverFits);
  Submit(MakePodGroup("none").Required("tier-1"), "none", 1);
  EXPECT_EQ(RejectionOf("none").code, RejectionCode::kInvalidSpec);
  EXPECT_THAT(RejectionOf("none").detail, HasSubstr("no HyperNode has this tier"));
}

TEST_F(TiersTest, ATierBeyondTheWidestIsAnyNodes) {
  Leaf("leaf-a", 1, "a", 1);
  Leaf("leaf-b", 1, "b", 2);
  cluster_.Add(MakeNode("bare").Gpu(8));
  Submit(MakePodGroup("near").Required("tier-2"), "near", 2);
  EXPECT_THAT(Places("near"), ElementsAre("near-0=b1", "near-1=b2"));
  Submit(MakePodGroup("far").Required("tier-2"), "far", 4);
  EXPECT_EQ(Places("far").size(), 4u);
  Submit(MakePodGroup("sliced").Slice(2, "tier-9"), "sliced", 4);
  EXPECT_EQ(Places("sliced").size(), 4u);
}

TEST_F(TiersTest, ATopologyKeepsItsLevelsBesideTheTiers) {
  PutTopology({{.name = "zone", .node_label = "example.com/zone"},
               {.name = "room", .node_label = "example.com/room"}});
  Leaf("leaf-a", 1, "a", 1);
  Leaf("leaf-b", 1, "b", 2);
  cluster_.Add(MakeNode("r1").Gpu(8).Label("example.com/zone", "z").Label("example.com/room", "r"));
  Submit(MakePodGroup("tier").Required("tier-1"), "tier", 2);
  EXPECT_THAT(DomainsOf("tier"), ElementsAre("leaf-b"));
  Submit(MakePodGroup("room").Required("room"), "room", 1);
  EXPECT_THAT(DomainsOf("room"), ElementsAre("z/r"));
  // No HyperNode is of tier 2: the word counts levels.
  Submit(MakePodGroup("zone").Required("tier-2"), "zone", 4);
  EXPECT_THAT(DomainsOf("zone"), ElementsAre("z"));
  Submit(MakePodGroup("both").Required("zone").Preferred("tier-1"), "both", 2);
  EXPECT_THAT(Places("both"), ElementsAre("both-0=b1", "both-1=b2"));
}

TEST_F(TiersTest, ATopologyMayNameTheTiers) {
  PutTopology({{.name = "pod", .node_label = "topology.volcano.sh/tier-2"},
               {.name = "rack", .node_label = "topology.volcano.sh/tier-1"}});
  Leaf("leaf-a", 1, "a", 2);
  Over("spine", 2, {"leaf-a"});
  Submit(MakePodGroup("x").Required("rack"), "x", 2);
  EXPECT_THAT(DomainsOf("x"), ElementsAre("spine/leaf-a"));
  Submit(MakePodGroup("y").Required("tier-2"), "y", 2);
  EXPECT_THAT(DomainsOf("y"), ElementsAre("spine"));
}

// Its node would not let it in: to the kubelet it has no such label.
TEST_F(TiersTest, ANodeSelectorSeesNoHyperNodes) {
  Leaf("leaf-a", 1, "a", 1);
  cluster_.Add(MakePodGroup("x").MinMember(1));
  cluster_.Add(MakePod("x-0").Group("x").Gpu(1).Selector("topology.volcano.sh/tier-1", "leaf-a"));
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kNeverFits);
  cluster_.Add(MakeNode("b1").Gpu(8).Label("topology.volcano.sh/tier-1", "leaf-a"));
  EXPECT_THAT(Places("x"), ElementsAre("x-0=b1"));
}

TEST_F(TiersTest, ANodesOwnLabelWins) {
  Leaf("leaf-a", 1, "a", 2);
  cluster_.Add(MakeNode("a1").Gpu(8).Label("topology.volcano.sh/tier-1", "own"));
  cluster_.Add(MakeNode("b1").Gpu(8).Label("topology.volcano.sh/tier-1", "own"));
  Submit(MakePodGroup("x").Required("tier-1"), "x", 2);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=a1", "x-1=b1"));
  EXPECT_THAT(DomainsOf("x"), ElementsAre("own"));
}

TEST_F(TiersTest, SlicesStandInHyperNodes) {
  Leaf("leaf-a", 1, "a", 3);
  Leaf("leaf-b", 1, "b", 1);
  Leaf("leaf-c", 1, "c", 2);
  Over("spine", 2, {"leaf-a", "leaf-b", "leaf-c"});
  Submit(MakePodGroup("x").Required("tier-2").Slice(2, "tier-1"), "x", 4);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=a1", "x-1=a2", "x-2=c1", "x-3=c2"));
}

TEST_F(TiersTest, WordsLeadToLevels) {
  Tables tables;
  const auto where = [&tables](absl::string_view word, absl::string_view name = "") {
    const std::optional<LevelPlace> place = FindLevel(tables, name, word);
    if (!place.has_value()) return std::string("nowhere");
    return absl::StrCat(place->topology->meta.name, "#", place->index,
                        place->beyond ? " and beyond" : "");
  };
  EXPECT_EQ(where("tier-1"), "nowhere");
  tables.topologies.emplace_back().levels = {
      {.name = "spine", .node_label = "topology.volcano.sh/tier-4"},
      {.name = "tier-4", .node_label = "topology.volcano.sh/tier-2"}};
  EXPECT_EQ(where("tier-2"), "#1");
  EXPECT_EQ(where("tier-3"), "#1");
  EXPECT_EQ(where("tier-4"), "#0");
  EXPECT_EQ(where("tier-5"), "#0 and beyond");
  EXPECT_EQ(where("tier-1"), "nowhere");
  EXPECT_EQ(where("tier-0"), "nowhere");
  EXPECT_EQ(where("spine"), "#0");
  EXPECT_EQ(FindTopology(tables, "")->levels.size(), 2u);
  Topology& ours = tables.topologies.emplace_back();
  ours.meta.name = "ours";
  ours.levels = {{.name = "spine", .node_label = "a"}, {.name = "rack", .node_label = "b"}};
  EXPECT_EQ(where("spine"), "ours#0");
  EXPECT_EQ(where("tier-2"), "#1");
  EXPECT_EQ(where("tier-1"), "ours#1");
  EXPECT_EQ(where("tier-2", "ours"), "ours#0");
  EXPECT_EQ(where("tier-4", "ours"), "nowhere");
  EXPECT_EQ(FindTopology(tables, "")->meta.name, "ours");
  tables.topologies.push_back(ours);
  tables.topologies.back().meta.name = "zebra";
  EXPECT_EQ(FindTopology(tables, ""), nullptr);
  EXPECT_EQ(where("tier-2"), "#1");
}

}  // namespace
}  // namespace maniple
