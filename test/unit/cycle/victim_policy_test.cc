// The gangs that quota policies let be evicted for another. Fears: a gang is claimed at a boundary
// where the policy leaves it alone; a Queue is reclaimed from that borrows nothing; victims that no
// order makes legal are called legal, or legal ones are refused; a question changes the tree.
#include "scheduler/cycle/victims/victim_policy.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "api/base/random.h"

namespace maniple::cycle_victim_policy_test {
namespace {

// Cohort kRoot holds kFar and Cohort kSide; that holds kOwn, the preemptor's Queue, and kNear.
constexpr QuotaNodeId kRoot(0), kSide(1), kOwn(2), kNear(3), kFar(4);
constexpr QuotaCellId kCell(0);
constexpr FairStrategy kBoth[] = {FairStrategy::kLessThanOrEqualToFinalShare,
                                  FairStrategy::kLessThanInitialShare};

Demand Of(int64_t amount) {
  if (amount == 0) return {};
  return {{kCell, Amount(amount)}};
}

class VictimPolicyTest : public ::testing::Test {
 protected:
  VictimPolicyTest() {
    input_.priority = 5;
    input_.queued = absl::FromUnixSeconds(100);
    input_.policy = {.within = WithinQueuePreemption::kLowerPriority,
                     .reclaim = ReclaimWithinCohort::kAny};
    input_.fair_sharing = FairSharing::kOff;
  }
  void SetQuota(int64_t own, int64_t near, int64_t far, int64_t weight = 1000) {
    std::vector<QuotaNodeSpec> nodes(5);
    nodes[1].parent = nodes[4].parent = kRoot;
    nodes[2].parent = nodes[3].parent = kSide;
    nodes[2].limits = {{.cell = kCell, .nominal = Amount(own)}};
    nodes[3].limits = {{.cell = kCell, .nominal = Amount(near)}};
    nodes[4].limits = {{.cell = kCell, .nominal = Amount(far)}};
    nodes[3].weight_milli = weight;
    tree_ = QuotaTree(nodes, {0});
  }
  void Use(QuotaNodeId queue, int64_t amount) { tree_.Add(queue, Of(amount)); }
  [[nodiscard]] VictimRules RulesFor(int64_t asks, QuotaNodeId queue = kOwn) const {
    return {
        input_,
        {.tree = &tree_, .queue = queue, .demand = Of(asks), .lacking = {kCell}, .cells = {kCell}}};
  }
  static RunningGang GangIn(QuotaNodeId queue, int32_t priority, int64_t queued = 100) {
    RunningGang gang{.queue = queue, .priority = priority};
    gang.queued = absl::FromUnixSeconds(queued);
    return gang;
  }
  // A few charges to the Queues of others.
  std::vector<VictimCharge> Draw(Random& random) {
    const auto draw = [&](uint64_t most) { return static_cast<int64_t>(random.Below(most + 1)); };
    SetQuota(draw(4), draw(4), draw(4), 1000 * draw(2));
    Use(kOwn, draw(3));
    std::vector<VictimCharge> units(1 + random.Below(4));
    for (VictimCharge& unit : units) {
      unit.queue = random.OneIn(2) ? kNear : kFar;
      unit.claim = random.OneIn(3) ? VictimClaim::kPriority : VictimClaim::kShare;
      const int64_t amount = 1 + draw(2);
      unit.charge = Of(amount);
      unit.surplus = Of(draw(static_cast<uint64_t>(amount)));
      Use(unit.queue, amount);
    }
    return units;
  }

  QuotaTree tree_;
  Snapshot no_nodes_;
  GangRequest request_;
  Profile profile_;
  const DecideInput decide_{.snapshot = no_nodes_, .request = request_, .now = {}};
  PreemptionInput input_{.decide = decide_, .profile = profile_};
};

TEST_F(VictimPolicyTest, WithoutAQueueLowerPriorityAloneDecides) {
  VictimRules rules(input_, {});
  EXPECT_EQ(rules.ClaimOn(GangIn({}, 4)), VictimClaim::kNoQueue);
  EXPECT_EQ(rules.ClaimOn(GangIn({}, 5)), std::nullopt);
  EXPECT_EQ(rules.ClaimOn(GangIn(kOwn, 0)), std::nullopt);
  EXPECT_EQ(rules.WhyNoClaimOn(GangIn(kOwn, 0)), NoClaim::kHasQueue);
}

TEST_F(VictimPolicyTest, WithinTheQueueANewerEqualIsClaimedOnlyIfThePolicySaysSo) {
  using enum WithinQueuePreemption;
  SetQuota(4, 0, 0);
  const auto claimed = [&](WithinQueuePreemption within, int32_t priority, int64_t queued) {
    input_.policy.within = within;
    return RulesFor(1).ClaimOn(GangIn(kOwn, priority, queued)) == VictimClaim::kOwnQueue;
  };
  EXPECT_FALSE(claimed(kNever, 0, 101));
  EXPECT_TRUE(claimed(kLowerPriority, 4, 99));
  EXPECT_FALSE(claimed(kLowerPriority, 5, 101));
  EXPECT_TRUE(claimed(kLowerOrNewerEqualPriority, 5, 101));
  EXPECT_FALSE(claimed(kLowerOrNewerEqualPriority, 5, 100));
}

TEST_F(VictimPolicyTest, EveryNodeBelowTheCommonCohortMustBorrow) {
  SetQuota(4, 2, 4);
  Use(kNear, 4);
  EXPECT_EQ(RulesFor(2).ClaimOn(GangIn(kNear, 9)), VictimClaim::kHierarchy);
  EXPECT_EQ(RulesFor(2, kFar).ClaimOn(GangIn(kNear, 9)), std::nullopt) << "the Cohort has six";
  EXPECT_EQ(RulesFor(2, kFar).WhyNoClaimOn(GangIn(kNear, 9)), NoClaim::kDoesNotBorrow);
  Use(kNear, 3);
  EXPECT_EQ(RulesFor(2, kFar).ClaimOn(GangIn(kNear, 9)), VictimClaim::kHierarchy);
}

TEST_F(VictimPolicyTest, AClaimInOrderToBorrowEndsAtTheThreshold) {
  SetQuota(1, 1, 4);
  Use(kNear, 5);
  input_.policy.borrowing_preempts_lower = true;
  input_.policy.borrow_threshold = 3;
  VictimRules rules = RulesFor(2);
  EXPECT_EQ(rules.ClaimOn(GangIn(kNear, 3)), VictimClaim::kPriorityWhileBorrowing);
  EXPECT_EQ(rules.ClaimOn(GangIn(kNear, 4)), VictimClaim::kPriority);
  EXPECT_FALSE(VictimRules::Allows({.may_borrow = true}, VictimClaim::kPriority));
  EXPECT_TRUE(VictimRules::Allows({.may_borrow = false}, VictimClaim::kPriority));
}

TEST_F(VictimPolicyTest, AUnitAloneIsLegalByShareOrWhereThePlanDoesNotBorrow) {
  SetQuota(2, 2, 4);
  Use(kNear, 6);
  const VictimCharge unit{.queue = kNear, .claim = VictimClaim::kPriority, .charge = Of(4)};
  EXPECT_TRUE(RulesFor(2).MayTakeAlone(unit));
  EXPECT_FALSE(RulesFor(3).MayTakeAlone(unit)) << "it would borrow";
  input_.fair_sharing = FairSharing::kOn;
  input_.strategies = {FairStrategy::kLessThanOrEqualToFinalShare};
  const VictimCharge by_share{.queue = kNear, .claim = VictimClaim::kShare, .charge = Of(2)};
  EXPECT_TRUE(RulesFor(4).MayTakeAlone(by_share)) << "both borrow two then";
  EXPECT_FALSE(RulesFor(5).MayTakeAlone(by_share));
}

TEST_F(VictimPolicyTest, AQuorumWithinNominalIsNotTakenBecauseTheSurplusBorrows) {
  SetQuota(4, 2, 0);
  Use(kNear, 4);
  VictimRules rules = RulesFor(2);
  EXPECT_FALSE(rules.MayTake({kNear, VictimClaim::kHierarchy, Of(4), Of(2)}, {}));
  EXPECT_TRUE(rules.MayTake({kNear, VictimClaim::kHierarchy, Of(4), Of(1)}, {}));
}

TEST_F(VictimPolicyTest, ADemandBeyondNominalFitsOnlyIfItMayBorrow) {
  SetQuota(2, 0, 2);
  Use(kFar, 2);
  VictimRules rules = RulesFor(3);
  EXPECT_FALSE(rules.Fits({.may_borrow = true}));
  rules.Take({kFar, VictimClaim::kPriority, Of(1), {}});
  EXPECT_TRUE(rules.Fits({.may_borrow = true}));
  EXPECT_FALSE(rules.Fits({.may_borrow = false}));
  EXPECT_EQ(RulesFor(2).WhyNever(), "");
  EXPECT_NE(RulesFor(3).WhyNever(), "") << "it may not preempt while borrowing";
  EXPECT_EQ(RulesFor(5).WhyNever(), "the queue could not cover it if nobody used any quota");
}

// Is there an order in which each of the rest, given as bits, is legal when its turn comes? The
// second strategy takes one of each Queue.
bool SomeOrder(VictimRules& rules, const std::vector<VictimCharge>& units, uint32_t rest,
               std::span<const FairStrategy> strategies, uint32_t spent = 0) {
  if (rest == 0) return true;
  for (size_t i = 0; i < units.size(); ++i) {
    if (((rest >> i) & 1) == 0) continue;
    for (size_t s = 0; s == 0 || s < strategies.size(); ++s) {
      const uint32_t queue = s > 0 ? uint32_t{1} << units[i].queue.index() : 0;
      const auto strategy = strategies.subspan(s, strategies.empty() ? 0 : 1);
      if ((spent & queue) != 0) continue;
      if (!rules.MayTake(units[i], {.may_borrow = false, .strategies = strategy})) continue;
      rules.Take(units[i]);
      const bool found = SomeOrder(rules, units, rest & ~(1u << i), strategies, spent | queue);
      rules.GiveBack(units[i]);
      if (found) return true;
    }
  }
  return false;
}

TEST_F(VictimPolicyTest, VictimsAreLegalExactlyWhenSomeOrderOfThemIs) {
  int legal = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const std::vector<VictimCharge> units = Draw(random);
    VictimRules rules = RulesFor(1 + static_cast<int64_t>(random.Below(5)));
    const auto strategies = std::span(kBoth).first(random.Below(3));
    std::vector<const VictimCharge*> all;
    for (const VictimCharge& unit : units) {
      rules.Take(unit);
      all.push_back(&unit);
    }
    const bool answer = rules.Justify(all, {.may_borrow = false, .strategies = strategies}).legal();
    for (const VictimCharge& unit : units) rules.GiveBack(unit);
    ASSERT_EQ(rules.tree().Usage(kRoot, kCell), tree_.Usage(kRoot, kCell)) << seed;
    ASSERT_EQ(answer, SomeOrder(rules, units, (1u << units.size()) - 1, strategies)) << seed;
    legal += answer;
  }
  EXPECT_GT(legal, 100);
  EXPECT_LT(legal, 1400);
}

}  // namespace
}  // namespace maniple::cycle_victim_policy_test
