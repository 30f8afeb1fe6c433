// Gangs whose slices and sub-groups are bound to domains of their own, and NVLink domains, which
// need not nest in racks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SlicesTest : public ::testing::Test {
 protected:
  SlicesTest() { Levels({"rack"}); }

  void Levels(const std::vector<std::string>& names) {
    Topology topology;
    topology.meta.name = "default";
    for (const std::string& name : names) {
      topology.levels.push_back({.name = name, .node_label = absl::StrCat("example.com/", name)});
    }
    cluster_.Add(ObjectUpserted{topology});
  }
  // "a1" …, of a rack and an NVLink domain; "" = without the label.
  void Nodes(absl::string_view prefix, int nodes, absl::string_view rack,
             absl::string_view clique) {
    for (int i = 1; i <= nodes; ++i) {
      MakeNode node(absl::StrCat(prefix, i));
      node.Gpu(4);
      if (!rack.empty()) node.Label("example.com/rack", rack);
      if (!clique.empty()) node.Label("nvidia.com/gpu.clique", clique);
      cluster_.Add(node);
    }
  }
  void Member(absl::string_view gang, int index, absl::string_view node = "") {
    MakePod pod(absl::StrCat(gang, "-", index));
    pod.Group(gang).Index(index).Gpu(4);
    if (!node.empty()) pod.On(node);
    cluster_.Add(pod);
  }
  void Submit(MakePodGroup group, absl::string_view name, int pods) {
    cluster_.Add(group);
    for (int i = 0; i < pods; ++i) Member(name, i);
  }
  std::vector<std::string> Places(absl::string_view gang) {
    return cluster_.PlacesOf(cluster_.Decide(gang));
  }
  Rejection RejectionOf(absl::string_view gang) {
    return std::get<Rejection>(cluster_.Decide(gang));
  }

  TestCluster cluster_;
};

TEST_F(SlicesTest, ConsecutiveRanksShareADomain) {
  Nodes("a", 3, "r1", "c1");
  Nodes("b", 3, "r1", "c2");
  Submit(MakePodGroup("x").MinMember(4).Required("rack").Slice(2, "nvlink"), "x", 4);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=a1", "x-1=a2", "x-2=b1", "x-3=b2"));
}

TEST_F(SlicesTest, ASliceThatFitsNowhereWholeIsTopologyNoFit) {
  Nodes("a", 2, "r1", "c1");
  Nodes("b", 2, "r1", "c2");
  Submit(MakePodGroup("x").MinMember(3).Slice(3, "nvlink"), "x", 3);
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kNeverFits);
  EXPECT_THAT(RejectionOf("x").detail, HasSubstr("slices of 3 need one nvlink each"));
  Nodes("c", 3, "r1", "c3");
  cluster_.Add(MakePod("y").Gpu(1).On("c2"));
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kTopologyNoFit);
  EXPECT_EQ(RejectionOf("x").placeable, 2);
}

TEST_F(SlicesTest, TheLastSliceMayBeShort) {
  Nodes("a", 2, "r1", "c1");
  Nodes("b", 3, "r1", "c2");
  Submit(MakePodGroup("x").MinMember(5).Slice(3, "nvlink"), "x", 5);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=b1", "x-1=b2", "x-2=b3", "x-3=a1", "x-4=a2"));
}

TEST_F(SlicesTest, SlicesAreCountedByRankAlsoWhereRanksAreMissing) {
  Nodes("a", 1, "r1", "c1");
  Nodes("b", 3, "r1", "c2");
  cluster_.Add(MakePodGroup("x").MinMember(4).Slice(2, "nvlink"));
  for (const int rank : {0, 1, 3, 4}) Member("x", rank);  // {0, 1}, {3}, {4}
  const std::vector<std::string> places = Places("x");
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[0][4], 'b');
  EXPECT_EQ(places[1][4], 'b');
}

TEST_F(SlicesTest, AReplacementReturnsToTheDomainOfItsSlice) {
  Nodes("a", 3, "r1", "c1");
  Nodes("b", 3, "r1", "c2");
  cluster_.Add(MakePodGroup("x").MinMember(4).Slice(2, "nvlink"));
  Member("x", 0, "a1");
  Member("x", 1);
  Member("x", 2);
  Member("x", 3, "b1");
  EXPECT_THAT(Places("x"), ElementsAre("x-1=a2", "x-2=b2"));
  cluster_.Add(MakePod("y").Gpu(4).On("b2"));
  cluster_.Add(MakePod("z").Gpu(4).On("b3"));
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kTopologyNoFit);
}

TEST_F(SlicesTest, MembersWithoutRanksFillTheSlicesOfThoseThatStand) {
  Nodes("a", 2, "r1", "c1");
  Nodes("b", 4, "r1", "c2");
  cluster_.Add(MakePodGroup("x").MinMember(4).Slice(2, "nvlink"));
  cluster_.Add(MakePod("x-k").Group("x").Gpu(4).On("a1"));
  for (const char* name : {"x-l", "x-m", "x-n"}) {
    cluster_.Add(MakePod(name).Group("x").Gpu(4));
  }
  EXPECT_THAT(Places("x"), ElementsAre("x-l=a2", "x-m=b1", "x-n=b2"));
}

TEST_F(SlicesTest, ASliceThatIsTornApartWaitsAndIsNamed) {
  Nodes("a", 2, "r1", "c1");
  Nodes("b", 2, "r1", "c2");
  cluster_.Add(MakePodGroup("x").MinMember(3).Slice(3, "nvlink"));
  Member("x", 0, "a1");
  Member("x", 1, "b1");
  Member("x", 2);
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kTopologyNoFit);
  EXPECT_EQ(RejectionOf("x").detail,
            "members that stand already are not in one nvlink: x-0 on a1, x-1 on b1");
}

TEST_F(SlicesTest, ATornSliceIsPassedOverWhereOthersMakeTheQuorum) {
  Nodes("a", 4, "r1", "c1");
  Nodes("b", 2, "r1", "c2");
  cluster_.Add(MakePodGroup("x").MinMember(3).Slice(3, "nvlink"));
  Member("x", 0, "a1");
  Member("x", 1, "b1");
  Member("x", 2);
  Member("x", 3);
  EXPECT_THAT(Places("x"), ElementsAre("x-3=a2"));
}

TEST_F(SlicesTest, AQuorumMayLeaveSlicesCutShort) {
  Nodes("a", 3, "r1", "c1");
  Nodes("b", 1, "r1", "c2");
  Submit(MakePodGroup("x").MinMember(4).Slice(3, "nvlink"), "x", 6);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=a1", "x-1=a2", "x-2=a3", "x-3=b1"));
}

TEST_F(SlicesTest, SlicesOfOneAndSlicesLargerThanTheGangAreNothingSpecial) {
  Nodes("a", 2, "r1", "c1");
  Nodes("bare", 2, "", "");
  Submit(MakePodGroup("x").MinMember(2).Slice(1, "nvlink"), "x", 2);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=a1", "x-1=a2"));
  Submit(MakePodGroup("y").MinMember(2).Slice(100, "rack"), "y", 2);
  EXPECT_THAT(Places("y"), ElementsAre("y-0=a1", "y-1=a2"));
  Submit(MakePodGroup("z").MinMember(3).Slice(1, "nvlink"), "z", 3);
  EXPECT_EQ(RejectionOf("z").code, RejectionCode::kNeverFits);
}

TEST_F(SlicesTest, SurplusJoinsTheDomainOfItsSlice) {
  Nodes("a", 4, "r1", "c1");
  Nodes("b", 3, "r1", "c2");
  cluster_.Add(MakePodGroup("x").MinMember(1).Slice(2, "nvlink"));
  Member("x", 0, "b1");
  Member("x", 1);
  Member("x", 2);
  Member("x", 3);
  GangRequest request = cluster_.RequestOf("x");
  request.scope = DecideScope::kSurplus;
  const std::vector<std::string> places = cluster_.PlacesOf(cluster_.Decide(request));
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[0], "x-1=b2");
  EXPECT_EQ(places[1][4], places[2][4]);
}

TEST_F(SlicesTest, SlicesOfMixedShapesStayTogether) {
  Nodes("a", 2, "r1", "c1");
  Nodes("b", 2, "r1", "c2");
  cluster_.Add(MakePodGroup("x").MinMember(4).Slice(2, "nvlink"));
  for (int i = 0; i < 4; ++i) {
    cluster_.Add(MakePod(absl::StrCat("x-", i)).Group("x").Index(i).Gpu(i % 2 == 0 ? 4 : 2));
  }
  const std::vector<std::string> places = Places("x");
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[0][4], places[1][4]);
  EXPECT_EQ(places[2][4], places[3][4]);
}

TEST_F(SlicesTest, NvlinkMayBeRequiredWithoutATopologyAndCrossesRacks) {
  cluster_.Add(DeletionOf(ResourceKind::kTopology, "default", "", ""));
  Nodes("a", 2, "r1", "c1");
  Nodes("b", 1, "r2", "c1");
  Nodes("c", 2, "r2", "");
  for (const char* word : {"nvlink", "nvidia.com/gpu.clique"}) {
    Submit(MakePodGroup(word).MinMember(3).Required(word), word, 3);
    EXPECT_THAT(Places(word), ElementsAre(absl::StrCat(word, "-0=a1"), absl::StrCat(word, "-1=a2"),
                                          absl::StrCat(word, "-2=b1")));
  }
  Submit(MakePodGroup("y").MinMember(4).Required("nvlink"), "y", 4);
  EXPECT_EQ(RejectionOf("y").code, RejectionCode::kNeverFits);
}

TEST_F(SlicesTest, PreferredNvlinkWidensToTheFewestDomainsThenToAnyNode) {
  Nodes("a", 2, "r1", "c1");
  Nodes("b", 2, "r2", "c2");
  Nodes("c", 3, "r3", "c3");
  Nodes("d", 2, "r4", "");
  Submit(MakePodGroup("x").MinMember(5).Preferred("nvlink"), "x", 5);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=a1", "x-1=a2", "x-2=c1", "x-3=c2", "x-4=c3"));
  Submit(MakePodGroup("y").MinMember(9).Preferred("nvlink"), "y", 9);
  EXPECT_EQ(Places("y").size(), 9u);
}

TEST_F(SlicesTest, RequiredNvlinkAndPreferredRackMeet) {
  Nodes("a", 1, "r1", "c1");
  Nodes("b", 2, "r2", "c1");
  Nodes("c", 2, "r3", "");
  Submit(MakePodGroup("x").MinMember(2).Required("nvlink").Preferred("rack"), "x", 2);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=b1", "x-1=b2"));
}

TEST_F(SlicesTest, ALevelOfTheTopologyWinsOverTheNvlinkLabelOfTheSameKey) {
  Topology topology;
  topology.meta.name = "default";
  topology.levels = {{.name = "rack", .node_label = "example.com/rack"},
                     {.name = "clique", .node_label = "nvidia.com/gpu.clique"}};
  cluster_.Add(ObjectUpserted{topology});
  Nodes("a", 2, "r1", "c1");
  Nodes("b", 2, "r2", "c1");
  // As a level, a clique is one within its rack.
  Submit(MakePodGroup("x").MinMember(3).Required("nvidia.com/gpu.clique"), "x", 3);
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kNeverFits);
  Submit(MakePodGroup("y").MinMember(3).Required("nvlink"), "y", 3);
  EXPECT_EQ(Places("y").size(), 3u);
}

TEST_F(SlicesTest, ASliceLevelBroaderThanTheRequiredOneIsInvalid) {
  Levels({"block", "rack"});
  Nodes("a", 2, "r1", "c1");
  Submit(MakePodGroup("x").Required("rack").Slice(2, "block"), "x", 2);
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kInvalidSpec);
  EXPECT_EQ(RejectionOf("x").detail,
            "spec.topology.slice.level: \"block\" is broader than the required level \"rack\"");
  Submit(MakePodGroup("y").Slice(2, "cage"), "y", 2);
  EXPECT_EQ(RejectionOf("y").code, RejectionCode::kInvalidSpec);
}

TEST_F(SlicesTest, SubGroupsHaveDomainsOfTheirOwnInsideTheGangs) {
  Nodes("a", 2, "r1", "c1");
  Nodes("b", 2, "r2", "c2");
  cluster_.Add(MakePodGroup("x")
                   .MinMember(4)
                   .SubGroup("s", 2, {.required = "rack"})
                   .SubGroup("t", 2, {.required = "nvlink"}));
  for (int i = 0; i < 4; ++i) {
    cluster_.Add(MakePod(absl::StrCat("x-", i))
                     .Group("x")
                     .SubGroup(i % 2 == 0 ? "s" : "t")
                     .Index(i / 2)
                     .Gpu(4));
  }
  // In rank order: x-0 and x-2 are sub-group s.
  const std::vector<std::string> places = Places("x");
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[0][4], places[1][4]);
  EXPECT_EQ(places[2][4], places[3][4]);
  cluster_.Add(MakePod("y").Gpu(1).On("b1"));
  Nodes("c", 1, "r3", "c3");
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kTopologyNoFit);
  EXPECT_THAT(RejectionOf("x").detail, HasSubstr("sub-group s needs one rack"));
}

TEST_F(SlicesTest, ASubGroupMaySliceWhereTheGangDoesNot) {
  Nodes("a", 2, "r1", "c1");
  Nodes("b", 2, "r1", "c2");
  Nodes("c", 1, "r1", "");
  cluster_.Add(
      MakePodGroup("x").MinMember(5).SubGroup("s", 4, {.slice_size = 2, .slice_level = "nvlink"}));
  for (int i = 0; i < 4; ++i) {
    cluster_.Add(MakePod(absl::StrCat("x-", i)).Group("x").SubGroup("s").Index(i).Gpu(4));
  }
  cluster_.Add(MakePod("x-lead").Group("x").Gpu(4));
  const std::vector<std::string> places = Places("x");
  ASSERT_EQ(places.size(), 5u);
  EXPECT_EQ(places[0][4], places[1][4]);
  EXPECT_EQ(places[2][4], places[3][4]);
  EXPECT_EQ(places[4], "x-lead=c1");
}

TEST_F(SlicesTest, ConsecutiveRanksStandNextToEachOtherInPathOrder) {
  Levels({"block", "rack"});
  for (const auto& [name, block, rack] :
       std::vector<std::tuple<std::string, std::string, std::string>>{{"n1", "b2", "r1"},
                                                                      {"n2", "b1", "r2"},
                                                                      {"n3", "b1", "r1"},
                                                                      {"n4", "b2", "r1"},
                                                                      {"n5", "b1", "r1"}}) {
    cluster_.Add(
        MakeNode(name).Gpu(4).Label("example.com/block", block).Label("example.com/rack", rack));
  }
  Submit(MakePodGroup("x").MinMember(5).Preferred("rack"), "x", 5);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=n3", "x-1=n5", "x-2=n2", "x-3=n1", "x-4=n4"));
}

TEST_F(SlicesTest, EmptyLabelsNameNoDomain) {
  Nodes("a", 1, "r1", "c1");
  cluster_.Add(MakeNode("b1").Gpu(4).Label("example.com/rack", ""));
  cluster_.Add(MakeNode("b2").Gpu(4).Label("example.com/rack", ""));
  Submit(MakePodGroup("x").MinMember(2).Required("rack"), "x", 2);
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kNeverFits);
}

TEST_F(SlicesTest, LabelsThatChangeUnderARunningGangAreSeen) {
  Nodes("a", 3, "r1", "c1");
  cluster_.Add(MakePodGroup("x").MinMember(3).Required("rack"));
  Member("x", 0, "a1");
  Member("x", 1, "a2");
  Member("x", 2);
  EXPECT_THAT(Places("x"), ElementsAre("x-2=a3"));
  cluster_.Add(MakeNode("a2").Gpu(4).Label("example.com/rack", "r9"));
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kTopologyNoFit);
  EXPECT_EQ(RejectionOf("x").detail,
            "members that stand already are not in one rack: x-0 on a1, x-1 on a2");
}

TEST_F(SlicesTest, ATopologyThatIsDeletedInUseIsInvalidUntilItIsBack) {
  Nodes("a", 2, "r1", "c1");
  Submit(MakePodGroup("x").MinMember(2).Required("rack"), "x", 2);
  cluster_.Add(DeletionOf(ResourceKind::kTopology, "default", "", ""));
  EXPECT_EQ(RejectionOf("x").code, RejectionCode::kInvalidSpec);
  EXPECT_THAT(RejectionOf("x").detail, HasSubstr("\"rack\" is unknown"));
  Levels({});
  EXPECT_THAT(RejectionOf("x").detail, HasSubstr("Topology \"default\" has no level \"rack\""));
  Levels({"rack"});
  EXPECT_EQ(Places("x").size(), 2u);
}

TEST_F(SlicesTest, SixteenLevelsAreNoTrouble) {
  std::vector<std::string> names;
  for (int i = 0; i < 16; ++i) names.push_back(absl::StrCat("l", i));
  Levels(names);
  for (int n = 0; n < 8; ++n) {
    MakeNode node(absl::StrCat("n", n));
    node.Gpu(4);
    for (int i = 0; i < 16; ++i) {
      node.Label(absl::StrCat("example.com/l", i), absl::StrCat("v", i < 15 ? 0 : n / 2));
    }
    cluster_.Add(node);
  }
  cluster_.Add(MakePod("y").Gpu(1).On("n0"));
  Submit(MakePodGroup("x").MinMember(2).Preferred("l15"), "x", 2);
  EXPECT_THAT(Places("x"), ElementsAre("x-0=n2", "x-1=n3"));
  Submit(MakePodGroup("z").MinMember(5).Required("l0").Preferred("l15").Slice(2, "l15"), "z", 5);
  EXPECT_EQ(Places("z").size(), 5u);
}

}  // namespace
}  // namespace maniple
