// Gangs that ask for a topology domain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/cycle/topology/topology.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

class TopologyTest : public ::testing::Test {
 protected:
  TopologyTest() {
    Topology topology;
    topology.meta.name = "default";
    topology.levels = {{.name = "block", .node_label = "example.com/block"},
                       {.name = "rack", .node_label = "example.com/rack"}};
    cluster_.Add(ObjectUpserted{topology});
  }
  void Rack(absl::string_view block, absl::string_view rack, absl::string_view prefix, int nodes) {
    for (int i = 1; i <= nodes; ++i) {
      cluster_.Add(MakeNode(absl::StrCat(prefix, i))
                       .Gpu(8)
                       .Label("example.com/block", block)
                       .Label("example.com/rack", rack));
    }
  }
  void Submit(MakePodGroup group, absl::string_view name, int pods, absl::string_view part = "") {
    cluster_.Add(group);
    for (int i = 0; i < pods; ++i) cluster_.Add(Member(name, i, part));
  }
  // The first members of the gang, one on each of the nodes.
  void BindTo(absl::string_view name, const std::vector<std::string>& nodes,
              absl::string_view part = "") {
    for (size_t i = 0; i < nodes.size(); ++i) {
      cluster_.Add(Member(name, static_cast<int>(i), part).On(nodes[i]));
    }
  }
  static MakePodGroup PartThatPrefersARack(absl::string_view name, int quorum) {
    TopologyRequest rack;
    rack.preferred = "rack";
    return MakePodGroup(name).MinMember(quorum).SubGroup("part", quorum, rack);
  }
  std::vector<std::string> Places(absl::string_view gang) {
    return cluster_.PlacesOf(cluster_.Decide(gang));
  }
  Decision Surplus(absl::string_view gang) {
    GangRequest request = cluster_.RequestOf(gang);
    request.scope = DecideScope::kSurplus;
    return cluster_.Decide(request);
  }
  Rejection RejectionOf(absl::string_view gang) {
    return std::get<Rejection>(cluster_.Decide(gang));
  }

  // Those of the plan, by name.
  std::vector<std::string> Nodes(const Decision& decision) {
    std::vector<std::string> nodes;
    for (const std::string& place : cluster_.PlacesOf(decision)) {
      nodes.push_back(place.substr(place.find('=') + 1));
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  TestCluster cluster_;

 private:
  static MakePod Member(absl::string_view gang, int index, absl::string_view part) {
    MakePod pod(absl::StrCat(gang, "-", index));
    pod.Group(gang).Index(index).Gpu(8);
    if (!part.empty()) pod.SubGroup(part);
    return pod;
  }
};

TEST_F(TopologyTest, RequiredKeepsTheGangInOneRack) {
  Rack("b1", "r1", "a", 2);
  Rack("b1", "r2", "b", 4);
  Submit(MakePodGroup("x").MinMember(3).Required("rack"), "x", 3);
  const Decision decision = cluster_.Decide("x");
  EXPECT_THAT(cluster_.PlacesOf(decision), ElementsAre("x-0=b1", "x-1=b2", "x-2=b3"));
  EXPECT_THAT(std::get<Plan>(decision).domains, ElementsAre("b1/r2"));
}

TEST_F(TopologyTest, ALevelMayBeNamedByItsLabel) {
  Rack("b1", "r1", "a", 1);
  Rack("b1", "r2", "b", 2);
  Submit(MakePodGroup("x").MinMember(2).Required("example.com/rack"), "x", 2);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=b1", "x-1=b2"));
}

TEST_F(TopologyTest, ATierIsALevelCountedFromTheNarrowest) {
  Topology topology;
  topology.levels = {{.name = "block", .node_label = "example.com/block"},
                     {.name = "rack", .node_label = "example.com/rack"}};
  const auto level = [&topology](absl::string_view word) { return LevelIndex(topology, word); };
  EXPECT_EQ(level("tier-1"), 1);
  EXPECT_EQ(level("tier-2"), 0);
  for (const absl::string_view none :
       {"tier-0", "tier-3", "tier-", "tier--1", "tier-x", "Tier-1"}) {
    EXPECT_EQ(level(none), std::nullopt) << none;
  }
  // Single nodes are none of them, and a level of that very name comes first.
  topology.levels.push_back({.name = "host", .node_label = "kubernetes.io/hostname"});
  EXPECT_EQ(level("tier-1"), 1);
  topology.levels[0].name = "tier-1";
  EXPECT_EQ(level("tier-1"), 0);
}

TEST_F(TopologyTest, AGangMayAskForATier) {
  Rack("b1", "r1", "a", 1);
  Rack("b1", "r2", "b", 2);
  Submit(MakePodGroup("x").MinMember(2).Required("tier-1"), "x", 2);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=b1", "x-1=b2"));
}

// It crashed.
TEST_F(TopologyTest, AQuorumThatLacksNobodyPlacesNobody) {
  Rack("b1", "r1", "a", 6);
  TopologyRequest rack;
  rack.required = "rack";
  const std::vector<std::pair<std::string, MakePodGroup>> gangs = {
      {"anywhere", MakePodGroup("anywhere")},
      {"required", MakePodGroup("required").Required("rack")},
      {"preferred", MakePodGroup("preferred").Preferred("rack")},
      {"sliced", MakePodGroup("sliced").Required("block").Slice(1, "rack")},
      {"parted", MakePodGroup("parted").SubGroup("only", 1, rack)}};
  for (auto [name, group] : gangs) {
    cluster_.Add(group.MinMember(1));
    cluster_.Add(
        MakePod(absl::StrCat(name, "-0")).Group(name).SubGroup("only").Index(0).Gpu(1).On("a1"));
    for (int i = 1; i < 4; ++i) {
      const int gpus = 1 + i % 2;  // of two shapes
      cluster_.Add(MakePod(absl::StrCat(name, "-", i)).Group(name).Index(i).Gpu(gpus));
    }
    EXPECT_THAT(Places(name), IsEmpty()) << name;
  }
  Submit(MakePodGroup("alike").MinMember(1).Required("rack"), "alike", 3);
  cluster_.Add(MakePod("alike-0").Group("alike").Index(0).Gpu(8).On("a2"));
  EXPECT_THAT(Places("alike"), IsEmpty());
}

TEST_F(TopologyTest, TheTightestRackThatFitsIsChosen) {
  Rack("b1", "r1", "a", 4);
  Rack("b1", "r2", "b", 2);
  Rack("b1", "r3", "c", 3);
  Submit(MakePodGroup("x").MinMember(2).Required("rack"), "x", 2);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=b1", "x-1=b2"));
  Submit(MakePodGroup("y").MinMember(3).Preferred("rack"), "y", 3);
  EXPECT_THAT(Places("y"), ElementsAre("y-0=c1", "y-1=c2", "y-2=c3"));
}

TEST_F(TopologyTest, ARackForAllMembersComesBeforeATighterOneForTheQuorum) {
  Rack("b1", "r1", "a", 2);
  Rack("b1", "r2", "b", 3);
  Submit(MakePodGroup("x").MinMember(2).Required("rack"), "x", 3);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=b1", "x-1=b2"));
  cluster_.Add(MakePod("y").Gpu(1).On("b3"));
  EXPECT_THAT(Places("x"), ElementsAre("x-0=a1", "x-1=a2"));
}

TEST_F(TopologyTest, NoRackNowIsNotNoRoomAndNotNever) {
  Rack("b1", "r1", "a", 3);
  Rack("b1", "r2", "b", 2);
  cluster_.Add(MakePod("y").Gpu(8).On("a2"));
  Submit(MakePodGroup("x").MinMember(3).Required("rack"), "x", 3);
  Rejection rejection = RejectionOf("x");
  EXPECT_EQ(rejection.code, RejectionCode::kTopologyNoFit);
  EXPECT_EQ(rejection.wanted, 3);
  EXPECT_EQ(rejection.placeable, 2);
  EXPECT_EQ(rejection.detail, "the best of 2 domains of level rack is b1/r1");
  EXPECT_THAT(cluster_.ReasonsOf(cluster_.Decide("x")),
              ElementsAre("2: outside the topology domain that was tried",
                          "2: nvidia.com/gpu for only 1 of this gang's pods",
                          "1: insufficient nvidia.com/gpu (want 8, have 0)"));
  cluster_.Add(MakePod("z").Gpu(8).On("b1"));
  cluster_.Add(MakePod("w").Gpu(8).On("b2"));
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kNoFit);
  cluster_.Add(DeletionOf(ResourceKind::kNode, "a3"));
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kNeverFits);
}

TEST_F(TopologyTest, TheSameRackNameUnderTwoBlocksIsTwoRacks) {
  Rack("b1", "r1", "a", 2);
  Rack("b2", "r1", "c", 2);
  Submit(MakePodGroup("x").MinMember(3).Required("rack"), "x", 3);
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kNeverFits);
}

TEST_F(TopologyTest, PreferredWidensLevelByLevelAndNeverWaits) {
  Rack("b1", "r1", "a", 2);
  Rack("b1", "r2", "b", 2);
  Rack("b2", "r1", "c", 2);
  Submit(MakePodGroup("x").MinMember(4).Preferred("rack"), "x", 4);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=a1", "x-1=a2", "x-2=b1", "x-3=b2"));
  Submit(MakePodGroup("y").MinMember(6).Preferred("rack"), "y", 6);
  EXPECT_EQ(Places("y").size(), 6u);
}

TEST_F(TopologyTest, PreferredIsTriedInsideRequired) {
  Rack("b1", "r1", "a", 1);
  Rack("b1", "r2", "b", 2);
  Rack("b2", "r3", "c", 1);
  Submit(MakePodGroup("x").MinMember(2).Required("block").Preferred("rack"), "x", 2);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=b1", "x-1=b2"));
  cluster_.Add(MakePod("y").Gpu(1).On("b1"));
  EXPECT_THAT(Places("x"), ElementsAre("x-0=a1", "x-1=b2"));
  cluster_.Add(MakePod("z").Gpu(1).On("a1"));
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kTopologyNoFit);
}

TEST_F(TopologyTest, NodesWithoutTheLabelAreOutside) {
  cluster_.Add(MakeNode("bare").Gpu(8));
  Submit(MakePodGroup("x").MinMember(1).Required("rack"), "x", 1);
  const Rejection rejection = RejectionOf("x");
  EXPECT_EQ(rejection.code, RejectionCode::kNeverFits);
}

TEST_F(TopologyTest, MembersThatStandAlreadyNameTheDomain) {
  Rack("b1", "r1", "a", 4);
  Rack("b1", "r2", "b", 2);
  Submit(MakePodGroup("x").MinMember(2).Required("rack"), "x", 2);
  cluster_.Add(MakePod("x-0").Group("x").Index(0).Gpu(8).On("a1"));
  EXPECT_THAT(Places("x"), ElementsAre("x-1=a2"));
}

TEST_F(TopologyTest, MembersTornApartWaitAndAreNamed) {
  Rack("b1", "r1", "a", 2);
  Rack("b1", "r2", "b", 2);
  Submit(MakePodGroup("x").MinMember(3).Required("rack"), "x", 3);
  cluster_.Add(MakePod("x-0").Group("x").Index(0).Gpu(8).On("a1"));
  cluster_.Add(MakePod("x-1").Group("x").Index(1).Gpu(8).On("b1"));
  const Rejection rejection = RejectionOf("x");
  EXPECT_EQ(rejection.code, RejectionCode::kTopologyNoFit);
  EXPECT_EQ(rejection.detail,
            "members that stand already are not in one rack: x-0 on a1, x-1 on b1");
}

TEST_F(TopologyTest, SurplusStaysInTheDomainOfTheGang) {
  Rack("b1", "r1", "a", 2);
  Rack("b1", "r2", "b", 2);
  Submit(MakePodGroup("x").MinMember(1).Required("rack"), "x", 4);
  cluster_.Add(MakePod("x-0").Group("x").Index(0).Gpu(8).On("b1"));
  EXPECT_THAT(cluster_.PlacesOf(Surplus("x")), ElementsAre("x-1=b2"));
}

// In these tests the names of the nodes speak for the other racks.
TEST_F(TopologyTest, SurplusGoesToTheRacksThatTheGangUsesBeforeAnotherOne) {
  Rack("b1", "r1", "c", 2);
  Rack("b1", "r2", "d", 2);
  Rack("b1", "r3", "a", 2);
  Submit(MakePodGroup("x").MinMember(3).Preferred("rack"), "x", 5);
  BindTo("x", {"c1", "c2", "d1"});
  EXPECT_THAT(cluster_.PlacesOf(Surplus("x")), ElementsAre("x-3=d2"));
}

TEST_F(TopologyTest, SurplusOfAGangThatIsTornOverItsRequiredDomainsWaits) {
  Rack("b1", "r1", "a", 2);
  Rack("b2", "r2", "c", 2);
  Submit(MakePodGroup("x").MinMember(2).Required("block").Preferred("rack"), "x", 3);
  BindTo("x", {"a1", "c1"});
  EXPECT_THAT(cluster_.PlacesOf(Surplus("x")), ElementsAre("rejected"));
}

TEST_F(TopologyTest, ASubGroupPrefersTheRackWhereItsMembersStand) {
  Rack("b1", "r1", "c", 3);
  Rack("b1", "r2", "a", 1);
  Submit(PartThatPrefersARack("x", 2), "x", 2, "part");
  BindTo("x", {"c1"}, "part");
  EXPECT_THAT(Places("x"), ElementsAre("x-1=c2"));
}

TEST_F(TopologyTest, ASubGroupThatStandsInSeveralRacksStaysInThem) {
  Rack("b1", "r1", "c", 2);
  Rack("b1", "r2", "d", 2);
  Rack("b1", "r3", "a", 2);
  Submit(PartThatPrefersARack("x", 4), "x", 4, "part");
  BindTo("x", {"c1", "d1"}, "part");
  EXPECT_THAT(Places("x"), ElementsAre("x-2=c2", "x-3=d2"));
}

TEST_F(TopologyTest, SurplusOfASubGroupGoesToTheRackWhereItStandsAndThenToOthers) {
  Rack("b1", "r1", "c", 2);
  Rack("b1", "r2", "a", 2);
  Submit(PartThatPrefersARack("x", 1), "x", 3, "part");
  BindTo("x", {"c1"}, "part");
  EXPECT_THAT(Nodes(Surplus("x")), ElementsAre("a1", "c2"));
}

TEST_F(TopologyTest, ASubGroupForWhichNoRackDoesTakesTheFewest) {
  Rack("b1", "r1", "c", 2);
  Rack("b1", "r2", "a", 1);
  Rack("b1", "r3", "b", 1);
  Submit(PartThatPrefersARack("x", 3), "x", 3, "part");
  EXPECT_THAT(Nodes(cluster_.Decide("x")), IsSupersetOf({"c1", "c2"}));
}

TEST_F(TopologyTest, UnknownLevelsAndTopologiesAreInvalidUnderPreferredToo) {
  Rack("b1", "r1", "a", 2);
  Submit(MakePodGroup("x").Required("cage"), "x", 1);
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kInvalidSpec);
  EXPECT_THAT(RejectionOf("x").detail, HasSubstr("has no level \"cage\""));
  Submit(MakePodGroup("y").Preferred("cage"), "y", 1);
  EXPECT_EQ(RejectionOf("y").code, RejectionCode::kInvalidSpec);
  GangRequest request = cluster_.RequestOf("x");
  request.topology = {.required = "rack", .topology_name = "other"};
  EXPECT_EQ(std::get<Rejection>(cluster_.Decide(request)).code, RejectionCode::kInvalidSpec);
}

TEST_F(TopologyTest, AGangOfSeveralShapesStaysTogether) {
  Rack("b1", "r1", "a", 2);
  Rack("b1", "r2", "b", 2);
  cluster_.Add(MakePod("y").Gpu(1).On("a1"));
  cluster_.Add(MakePodGroup("x").MinMember(3).Required("rack"));
  cluster_.Add(MakePod("x-0").Group("x").Index(0).Gpu(2));
  cluster_.Add(MakePod("x-1").Group("x").Index(1).Gpu(8));
  cluster_.Add(MakePod("x-2").Group("x").Index(2).Gpu(6));
  EXPECT_THAT(Places("x"), ElementsAre("x-0=b2", "x-1=b1", "x-2=b2"));
}

}  // namespace
}  // namespace maniple
