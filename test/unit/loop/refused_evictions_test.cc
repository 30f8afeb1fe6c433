// Evictions that are refused, and plans that come to nothing: who pays for them, and for how long.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "test/unit/loop/eviction_fixture.h"

namespace maniple {
namespace {

class RefusedEvictions : public LoopEvictionTest {
 protected:
  // They fill a node each.
  void TwoRefuseToLeave(const std::string& one, const std::string& other) {
    d_.Nodes(2, 8);
    Submit(one, 1, 1);
    Submit(other, 1, 1);
    d_.Settle();
    d_.api.Break({.on = "/eviction", .times = -1, .code = 429});
  }
};

// The fear: a member that was surplus when it was asked to leave is taken from a quorum.
TEST_F(RefusedEvictions, SurplusThatTheQuorumNeedsByNowIsNotAskedAnyMore) {
  SurplusIsAskedInVain();
  d_.api.Put(MakeNode(d_.NodeOf("large-0")).Gpu(8).Cordoned());
  d_.api.Delete(ResourceKind::kPod, "large-0");
  d_.Settle(absl::Minutes(2));
  EXPECT_EQ(d_.Bound("large"), 0) << "it left whole";
  EXPECT_EQ(d_.Bound("high"), 1);
}

TEST_F(RefusedEvictions, AGangPlansAnewOnceASurplusThatIsNoneAnyMoreKeepsItsRoom) {
  SurplusIsAskedInVain();
  NeedsMembers("large", 3);
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("large"), 0) << "it left whole";
  EXPECT_EQ(d_.Bound("high"), 1);
}

// The fear: one victim is given up while the others are on their way out, all for nothing.
TEST_F(RefusedEvictions, WhoRefusesIsAskedForAsLongAsOthersTakeToLeave) {
  d_.Nodes(2, 8);
  d_.api.KeepTerminating(absl::Minutes(30));
  Submit("slow", 1, 1);
  Submit("stubborn", 1, 1);
  d_.Settle();
  d_.api.Break({.on = "stubborn-0/eviction", .times = -1, .code = 429});
  Submit("high", 2, 2);
  d_.Settle(absl::Minutes(10));
  d_.api.Mend();
  d_.Settle(absl::Minutes(1));
  d_.api.Reap();
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("high"), 2);
}

TEST_F(RefusedEvictions, WhoWasAskedInVainHasNotMadeWay) {
  d_.Nodes(1, 8);
  Submit("low", 1, 1);
  d_.Settle();
  d_.api.Break({.on = "/eviction", .times = -1, .code = 429});
  Submit("high", 1, 2);
  d_.Settle(absl::Minutes(7));
  EXPECT_GT(Evictions(), 0);
  EXPECT_EQ(d_.api.FindGroup("low")->status.preempted_by, "");
  d_.api.Mend();
  d_.Settle(absl::Minutes(2));
  EXPECT_EQ(d_.Bound("high"), 1);
  EXPECT_NE(d_.api.FindGroup("low")->status.preempted_by, "");
}

// The fear: the preemptor goes away before the first victim's pod has left, and half a gang stays.
TEST_F(RefusedEvictions, TheRestFollowsWhoLeavesAfterThePreemptorIsGone) {
  d_.Nodes(2, 8);
  Submit("low", 2, 1);
  d_.Settle();
  d_.api.Break({.on = "low-0/eviction", .act = FaultAct::kDrop});
  d_.api.Break({.on = "low-1/eviction", .code = 429});
  Submit("high", 2, 2);
  d_.Settle(absl::Milliseconds(500));
  ASSERT_EQ(Evictions(), 2);
  d_.api.Delete(ResourceKind::kPod, "high-0");
  d_.api.Delete(ResourceKind::kPod, "high-1");
  d_.Settle(absl::Seconds(5));
  ASSERT_EQ(Evictions(), 2) << "nobody needs the room any more";
  d_.api.Delete(ResourceKind::kPod, "low-0");  // the first request took effect late
  d_.Settle(absl::Seconds(30));
  EXPECT_EQ(d_.Bound("low"), 0);
}

// The fear: a node is cordoned while a victim there refuses to leave, and two gangs leave for one.
TEST_F(RefusedEvictions, NobodyLeavesAnyMoreForANodeThatIsCordoned) {
  TwoRefuseToLeave("first", "second");
  Submit("high", 1, 2);
  d_.Settle(absl::Seconds(20));
  const bool asks_first = d_.api.Count("first-0/eviction") > 0;
  ASSERT_NE(asks_first, d_.api.Count("second-0/eviction") > 0);
  const std::string asked = asks_first ? "first" : "second",
                    other = asks_first ? "second" : "first";
  d_.api.Put(MakeNode(d_.NodeOf(absl::StrCat(asked, "-0"))).Gpu(8).Cordoned());
  d_.Settle(absl::Seconds(1));
  d_.api.Mend();
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound(asked), 1);
  EXPECT_EQ(d_.Bound(other), 0);
  EXPECT_EQ(d_.Bound("high"), 1);
}

// The fear: two gangs count on the one disruption that a budget allows, and half a victim leaves.
TEST_F(RefusedEvictions, WhatABudgetAllowsIsCountedOnOnce) {
  PodDisruptionBudget budget;
  budget.meta.name = "one";
  budget.meta.namespace_name = "default";
  budget.selector = LabelSelector();
  budget.disruptions_allowed = 1;
  d_.api.Put(budget);
  TwoRefuseToLeave("low-a", "low-b");
  Submit("first", 1, 2);
  Submit("second", 1, 2);
  d_.Settle(absl::Minutes(1));
  EXPECT_NE(d_.api.Count("low-a-0/eviction") > 0, d_.api.Count("low-b-0/eviction") > 0);
  d_.api.Mend();
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("first") + d_.Bound("second"), 2);
}

// The fear: whoever may evict others, but never gets their room, waits for ever behind small ones.
TEST_F(RefusedEvictions, RoomIsHeldForWhoEvictsInVainAsForAnybodyElse) {
  d_.Nodes(1, 8);
  Submit("low", 1, 1);
  PodGroup group = *d_.api.FindGroup("low");
  group.spec.expected_runtime = absl::Hours(2);
  d_.api.Put(group);
  d_.Settle();
  d_.api.Break({.on = "/eviction", .times = -1, .code = 429});
  Submit("high", 1, 2);
  d_.Settle(absl::Minutes(17));
  EXPECT_GT(d_.loop().counters().reservations, 0);
}

}  // namespace
}  // namespace maniple
