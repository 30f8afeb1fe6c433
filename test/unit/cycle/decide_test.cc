#include "scheduler/cycle/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DecideTest : public ::testing::Test {
 protected:
  void Nodes(int count, int64_t gpus, absl::string_view prefix = "n") {
    for (int i = 1; i <= count; ++i) {
      cluster_.Add(MakeNode(absl::StrCat(prefix, i)).Gpu(gpus));
    }
  }
  // Pods "gang-0" … of 8 GPUs each unless told otherwise.
  void Submit(absl::string_view gang, int pods, int min, int64_t gpus = 8) {
    cluster_.Add(MakePodGroup(gang).MinMember(min));
    for (int i = 0; i < pods; ++i) {
      cluster_.Add(MakePod(absl::StrCat(gang, "-", i)).Group(gang).Index(i).Gpu(gpus));
    }
  }
  static RejectionCode CodeOf(const Decision& decision) {
    return std::get<Rejection>(decision).code;
  }
  static int64_t NodesNamed(const Decision& decision) {
    int64_t sum = 0;
    for (const NodeReasonCount& count : std::get<Rejection>(decision).reasons) sum += count.nodes;
    return sum;
  }
  std::vector<std::string> Places(absl::string_view gang) {
    return cluster_.PlacesOf(cluster_.Decide(gang));
  }

  TestCluster cluster_;
};

TEST_F(DecideTest, AGangThatFitsIsPlacedWholeInRankOrder) {
  Nodes(4, 8);
  Submit("a", 4, 4);
  EXPECT_THAT(Places("a"), ElementsAre("a-0=n1", "a-1=n2", "a-2=n3", "a-3=n4"));
}

TEST_F(DecideTest, OnePodTooManyPlacesNothingAndCountsEveryNode) {
  Nodes(4, 8);
  Submit("a", 5, 5);
  cluster_.Add(MakePod("x").Gpu(8).On("n1"));
  const Decision decision = cluster_.Decide("a");
  EXPECT_EQ(CodeOf(decision), RejectionCode::kNeverFits);
  const Rejection& rejection = std::get<Rejection>(decision);
  EXPECT_EQ(rejection.wanted, 5);
  EXPECT_EQ(rejection.placeable, 4);
  EXPECT_EQ(NodesNamed(decision), 4);
}

TEST_F(DecideTest, RoomPromisedToPodsOfLowerPriorityIsFree) {
  cluster_.Add(MakeNode("n1").Gpu(8));
  cluster_.Add(MakePod("theirs").Scheduler("other").Gpu(8).Nominated("n1").Priority(5));
  cluster_.Add(MakePod("p").Gpu(8));
  GangRequest request = cluster_.RequestOf("p");
  request.outranked = cluster_.state().PromisedBelow(5);
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide(request)), ElementsAre("rejected"));
  request.outranked = cluster_.state().PromisedBelow(6);
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide(request)), ElementsAre("p=n1"));
}

TEST_F(DecideTest, WhatWouldFitOnTheEmptyClusterDoesNotFitNow) {
  Nodes(4, 8);
  Submit("a", 4, 4);
  cluster_.Add(MakePod("x").Gpu(6).On("n1"));
  const Decision decision = cluster_.Decide("a");
  EXPECT_EQ(CodeOf(decision), RejectionCode::kNoFit);
  EXPECT_THAT(cluster_.ReasonsOf(decision),
              ElementsAre("3: nvidia.com/gpu for only 1 of this gang's pods",
                          "1: insufficient nvidia.com/gpu (want 8, have 2)"));
}

TEST_F(DecideTest, EveryNodeIsCountedUnderTheFirstReasonThatRulesItOut) {
  cluster_.Add(MakeNode("cordoned").Gpu(8).Cordoned());
  cluster_.Add(MakeNode("tainted").Gpu(8).WithTaint("dedicated", "team"));
  cluster_.Add(MakeNode("other").Gpu(8).Label("pool", "b"));
  cluster_.Add(MakeNode("small").Gpu(4).Label("pool", "a"));
  cluster_.Add(MakePod("p").Gpu(8).Selector("pool", "a"));
  const Decision decision = cluster_.Decide("p");
  EXPECT_EQ(CodeOf(decision), RejectionCode::kNeverFits);
  EXPECT_THAT(cluster_.ReasonsOf(decision),
              ElementsAre("1: cordoned", "1: untolerated taint dedicated",
                          "1: does not match the pod's node selector or affinity",
                          "1: insufficient nvidia.com/gpu (want 8, have 4)"));
}

TEST_F(DecideTest, CordonsAndConditionsPassSoTheyProveNoNever) {
  cluster_.Add(MakeNode("cordoned").Gpu(8).Cordoned());
  cluster_.Add(MakeNode("lost").Gpu(8).WithTaint("node.kubernetes.io/unreachable", ""));
  Submit("a", 2, 2);
  EXPECT_EQ(CodeOf(cluster_.Decide("a")), RejectionCode::kNoFit);
  Submit("b", 3, 3);
  const Decision never = cluster_.Decide("b");
  EXPECT_EQ(CodeOf(never), RejectionCode::kNeverFits);
  EXPECT_EQ(std::get<Rejection>(never).placeable, 2);
  EXPECT_THAT(cluster_.ReasonsOf(never),
              ElementsAre("1: cordoned", "1: untolerated taint node.kubernetes.io/unreachable"));
}

TEST_F(DecideTest, ATaintOfTheOwnerProvesNever) {
  cluster_.Add(MakeNode("n1").Gpu(8).WithTaint("dedicated", "team"));
  Submit("a", 1, 1);
  EXPECT_EQ(CodeOf(cluster_.Decide("a")), RejectionCode::kNeverFits);
}

TEST_F(DecideTest, OnlyTheQuorumIsPlacedAndSurplusComesByItsOwnScope) {
  Nodes(3, 8);
  Submit("a", 4, 2);
  EXPECT_THAT(Places("a"), ElementsAre("a-0=n1", "a-1=n2"));
  GangRequest surplus = cluster_.RequestOf("a");
  surplus.scope = DecideScope::kSurplus;
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide(surplus)), SizeIs(3));
}

TEST_F(DecideTest, SurplusWithoutRoomIsRejected) {
  Nodes(1, 8);
  Submit("a", 2, 1);
  cluster_.Add(MakePod("x").Gpu(1).On("n1"));
  GangRequest surplus = cluster_.RequestOf("a");
  surplus.scope = DecideScope::kSurplus;
  EXPECT_EQ(CodeOf(cluster_.Decide(surplus)), RejectionCode::kNoFit);
}

TEST_F(DecideTest, EverySubGroupGetsItsOwnMinimum) {
  cluster_.Add(MakeNode("g1").Gpu(8));
  cluster_.Add(MakeNode("g2").Gpu(8));
  cluster_.Add(MakeNode("c1").Cpu(8));
  cluster_.Add(MakePodGroup("a").MinMember(3).SubGroup("worker", 2).SubGroup("leader", 1));
  for (int i = 0; i < 3; ++i) {
    cluster_.Add(MakePod(absl::StrCat("w", i)).Group("a").SubGroup("worker").Index(i).Gpu(8));
  }
  cluster_.Add(MakePod("l").Group("a").SubGroup("leader").Cpu(1000));
  EXPECT_THAT(Places("a"), ElementsAre("w0=g1", "w1=g2", "l=c1"));
}

TEST_F(DecideTest, AMemberThatCannotBePlacedIsPassedOver) {
  Nodes(2, 8);
  cluster_.Add(MakePodGroup("a").MinMember(2));
  cluster_.Add(MakePod("a-0").Group("a").Index(0).Gpu(64));
  cluster_.Add(MakePod("a-1").Group("a").Index(1).Gpu(8));
  cluster_.Add(MakePod("a-2").Group("a").Index(2).Gpu(8));
  EXPECT_THAT(Places("a"), ElementsAre("a-1=n1", "a-2=n2"));
}

TEST_F(DecideTest, AMemberThatOnlyFitsWithoutTheOthersIsPassedOver) {
  // n1 holds either the big one or two small ones; the quorum is two.
  Nodes(1, 8);
  cluster_.Add(MakePodGroup("a").MinMember(2));
  cluster_.Add(MakePod("a-0").Group("a").Index(0).Gpu(8));
  cluster_.Add(MakePod("a-1").Group("a").Index(1).Gpu(4));
  cluster_.Add(MakePod("a-2").Group("a").Index(2).Gpu(4));
  EXPECT_THAT(Places("a"), ElementsAre("a-1=n1", "a-2=n1"));
}

TEST_F(DecideTest, ScarceShapesAreNotRobbedByModestOnes) {
  cluster_.Add(MakeNode("big").Gpu(8));
  cluster_.Add(MakeNode("small").Gpu(2));
  cluster_.Add(MakePodGroup("a").MinMember(2));
  cluster_.Add(MakePod("a-0").Group("a").Index(0).Gpu(1));
  cluster_.Add(MakePod("a-1").Group("a").Index(1).Gpu(8));
  EXPECT_THAT(Places("a"), ElementsAre("a-0=small", "a-1=big"));
}

TEST_F(DecideTest, ManyPodsOfOneShapeFillANodeBeforeTheNext) {
  Nodes(3, 8);
  Submit("a", 12, 12, 1);
  const std::vector<std::string> places = Places("a");
  EXPECT_EQ(places[0], "a-0=n1");
  EXPECT_EQ(places[7], "a-7=n1");
  EXPECT_EQ(places[8], "a-8=n2");
  EXPECT_EQ(places[11], "a-11=n2");
}

TEST_F(DecideTest, SmallRequestsGoToBrokenNodes) {
  Nodes(3, 8);
  cluster_.Add(MakePod("x").Gpu(3).On("n3"));
  cluster_.Add(MakePod("p").Gpu(2));
  EXPECT_THAT(Places("p"), ElementsAre("p=n3"));
}

TEST_F(DecideTest, PodsWithoutGpusStayOffGpuNodesWhileTheyCan) {
  cluster_.Add(MakeNode("a-gpu").Gpu(8));
  cluster_.Add(MakeNode("b-cpu").Cpu(4));
  cluster_.Add(MakePod("x").Cpu(60000).On("a-gpu"));
  cluster_.Add(MakePod("p").Cpu(2000));
  EXPECT_THAT(Places("p"), ElementsAre("p=b-cpu"));
  cluster_.Add(MakePod("y").Cpu(4000).On("b-cpu"));
  EXPECT_THAT(Places("p"), ElementsAre("p=a-gpu"));
}

TEST_F(DecideTest, PodSlotsRunOut) {
  cluster_.Add(MakeNode("n1").Pods(2));
  Submit("a", 3, 3, 0);
  const Decision decision = cluster_.Decide("a");
  EXPECT_EQ(CodeOf(decision), RejectionCode::kNeverFits);
  EXPECT_EQ(std::get<Rejection>(decision).placeable, 2);
}

TEST_F(DecideTest, AZeroRequestFitsOnAnOvercommittedNode) {
  cluster_.Add(MakeNode("n1").Gpu(4));
  cluster_.Add(MakePod("x").Gpu(8).On("n1"));
  cluster_.Add(MakePod("p").Cpu(1000));
  EXPECT_THAT(Places("p"), ElementsAre("p=n1"));
}

TEST_F(DecideTest, OneHostPortPerNode) {
  Nodes(2, 8);
  cluster_.Add(MakePodGroup("a").MinMember(3));
  for (int i = 0; i < 3; ++i) {
    cluster_.Add(MakePod(absl::StrCat("a-", i)).Group("a").Index(i).Port(9000));
  }
  EXPECT_EQ(CodeOf(cluster_.Decide("a")), RejectionCode::kNeverFits);
  cluster_.Add(MakeNode("n3").Gpu(8));
  EXPECT_THAT(Places("a"), SizeIs(3));
  cluster_.Add(MakePod("x").Port(9000, "10.0.0.1").On("n2"));
  EXPECT_EQ(CodeOf(cluster_.Decide("a")), RejectionCode::kNoFit);
}

TEST_F(DecideTest, ACoolingNodeIsLeftAloneUntilItsTime) {
  Nodes(1, 8);
  cluster_.Add(MakePod("p").Gpu(1));
  cluster_.state().CoolDown(cluster_.state().NodeNamed("n1").value(),
                            cluster_.now + absl::Seconds(10));
  const Decision decision = cluster_.Decide("p");
  EXPECT_EQ(CodeOf(decision), RejectionCode::kNoFit);
  EXPECT_THAT(cluster_.ReasonsOf(decision), ElementsAre("1: cooling down after it rejected a pod"));
  cluster_.now += absl::Seconds(10);
  EXPECT_THAT(Places("p"), ElementsAre("p=n1"));
}

TEST_F(DecideTest, WhatIsNotSupportedIsRefusedWithItsPath) {
  Nodes(1, 8);
  cluster_.Add(MakePod("p").Unsupported("spec.resourceClaims"));
  const Decision decision = cluster_.Decide("p");
  EXPECT_EQ(CodeOf(decision), RejectionCode::kUnsupported);
  EXPECT_EQ(std::get<Rejection>(decision).detail,
            "spec.resourceClaims is not supported by this version");
  EXPECT_EQ(NodesNamed(decision), 1);
}

TEST_F(DecideTest, RoomHeldForTheGangIsFreeToItAlone) {
  Nodes(1, 8);
  Submit("a", 1, 1);
  Submit("b", 1, 1);
  const GangRequest a = cluster_.RequestOf("a");
  const HoldId hold =
      cluster_.state().Hold(cluster_.state().NodeNamed("n1").value(), a.wants[0].shape);
  EXPECT_EQ(CodeOf(cluster_.Decide("b")), RejectionCode::kNoFit);
  GangRequest holder = a;
  holder.own_holds = {hold};
  EXPECT_THAT(cluster_.PlacesOf(cluster_.Decide(holder)), ElementsAre("a-0=n1"));
}

TEST_F(DecideTest, PinnedMembersTakePartInTheProofOfNever) {
  Nodes(2, 8);
  Submit("a", 3, 3);
  cluster_.Add(MakePod("a-0").Group("a").Index(0).Gpu(8).On("n1"));
  const Decision decision = cluster_.Decide("a");
  EXPECT_EQ(CodeOf(decision), RejectionCode::kNeverFits);
  EXPECT_EQ(std::get<Rejection>(decision).wanted, 2);
}

TEST_F(DecideTest, AnEmptyClusterRejectsWithoutReasons) {
  Submit("a", 1, 1);
  const Decision decision = cluster_.Decide("a");
  EXPECT_EQ(CodeOf(decision), RejectionCode::kNeverFits);
  EXPECT_THAT(std::get<Rejection>(decision).reasons, IsEmpty());
}

TEST_F(DecideTest, AQuorumBeyondItsMembersIsNoValidRequest) {
  Nodes(4, 8);
  Submit("a", 2, 2);
  GangRequest request = cluster_.RequestOf("a");
  request.need.total = 3;
  EXPECT_EQ(CodeOf(cluster_.Decide(request)), RejectionCode::kInvalidSpec);
}

TEST_F(DecideTest, TheSameInputGivesTheSameAnswer) {
  Nodes(20, 8);
  Submit("a", 9, 9, 3);
  const std::vector<std::string> places = Places("a");
  EXPECT_EQ(places.size(), 9u);
  EXPECT_EQ(Places("a"), places);
}

}  // namespace
}  // namespace maniple
