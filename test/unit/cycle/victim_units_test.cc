// Units that can be evicted at one stroke, and their cost. Fears: a unit frees room or quota that
// its pods do not have; a replica leaves in part; a member goes before one that is like it; a unit
// is listed that its budgets refuse; more victims cost less.
#include "scheduler/cycle/victims/victim_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_victim_units_test {
namespace {

using ::testing::ElementsAre;

constexpr NodeId kGone(2);  // nodes 0 and 1 exist

Demand Of(int64_t amount) { return {{QuotaCellId(0), Amount(amount)}}; }

class VictimUnitsTest : public ::testing::Test {
 protected:
  static SnapshotPtr TwoNodesOf(TestCluster& cluster) {
    for (const char* node : {"n0", "n1"}) cluster.Add(MakeNode(node));
    return cluster.state().Publish();
  }
  RunningGang& Run(int64_t members, Surplus surplus) {
    RunningGang& gang = running_.emplace_back();
    gang.queue = QuotaNodeId(0);
    gang.started = cluster_.now;
    for (int64_t i = 0; i < members; ++i) {
      gang.members.push_back({.node = NodeId(0), .shape = ShapeId(0), .charge = Of(1)});
    }
    gang.surplus = std::move(surplus);
    return gang;
  }
  RunningGang& Draw(Random& random) {
    const auto draw = [&](uint64_t bound) { return static_cast<int32_t>(random.Below(bound)); };
    RunningGang& gang = Run(1 + draw(5), {.members = draw(6), .sub_groups = {draw(4), draw(4)}});
    gang.priority = draw(3);
    gang.started += absl::Seconds(1 - draw(5));
    for (VictimPod& pod : gang.members) {
      if (random.OneIn(4)) pod.node = kGone;
      pod.sub_group = draw(3) - 1;
      if (random.OneIn(2)) pod.unit = pod.sub_group;
      for (uint32_t budget = 0; budget < 2; ++budget) {
        if (random.OneIn(5)) pod.budgets.push_back(budget);
      }
    }
    return gang;
  }
  std::vector<VictimUnit> Units() {
    std::vector<VictimUnit> units;
    input_.running = running_;
    for (size_t i = 0; i < running_.size(); ++i) {
      AppendUnits(input_, i, VictimClaim::kShare, units);
    }
    return units;
  }
  VictimCost Cost(const std::vector<VictimUnit>& units, const std::vector<size_t>& taken,
                  Entitlement entitlement = Entitlement::kNominal) const {
    return CostOf(input_, units, taken, entitlement);
  }

  TestCluster cluster_;
  const SnapshotPtr snapshot_ = TwoNodesOf(cluster_);
  std::vector<RunningGang> running_;
  const std::vector<int32_t> allowed_ = {2, 1};
  GangRequest request_;
  const DecideInput decide_{.snapshot = *snapshot_, .request = request_, .now = cluster_.now};
  PreemptionInput input_{.decide = decide_, .profile = cluster_.profile(), .allowed = allowed_};
};

TEST_F(VictimUnitsTest, ReclaimPassesBudgetsForWhatTheQueueIsEntitledTo) {
  using enum VictimClaim;
  for (const VictimClaim claim :
       {kNoQueue, kOwnQueue, kHierarchy, kPriority, kPriorityWhileBorrowing, kShare}) {
    const bool others = claim != kNoQueue && claim != kOwnQueue;
    for (const Entitlement how : {Entitlement::kNominal, Entitlement::kShare}) {
      const bool entitled = others && (claim == kHierarchy || how == Entitlement::kNominal);
      EXPECT_FALSE(MayPassBudgets(IgnorePdb::kNever, claim, how));
      EXPECT_EQ(MayPassBudgets(IgnorePdb::kReclaim, claim, how), entitled);
      EXPECT_TRUE(MayPassBudgets(IgnorePdb::kAlways, claim, how));
    }
  }
}

TEST_F(VictimUnitsTest, ABudgetMustBearAllPodsOfAUnit) {
  EXPECT_TRUE(BudgetsBear(allowed_, {.budgets = {0, 0, 1}}));
  EXPECT_FALSE(BudgetsBear(allowed_, {.budgets = {1, 0, 1}}));
  EXPECT_FALSE(BudgetsBear(allowed_, {.budgets = {2}})) << "nobody knows such a budget";
  EXPECT_FALSE(BudgetsBear(allowed_, {.budgets = {}, .doubly_covered = 1}));
  EXPECT_TRUE(BudgetsBear(allowed_, {.budgets = {2}, .doubly_covered = 1, .past_budgets = true}));
}

TEST_F(VictimUnitsTest, MembersThatAreAlikeFormAChainFromTheLastOn) {
  Run(4, {.members = 3}).members[2].node = NodeId(1);
  const std::vector<VictimUnit> units = Units();
  ASSERT_EQ(units.size(), 5u);
  const std::vector<std::optional<size_t>> after = {{}, {}, 0, 2, {}};
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(units[i].after, after[i]) << i;
  EXPECT_THAT(units[0].members, ElementsAre(3));
  EXPECT_EQ(units[4].part, UnitPart::kWholeGang);
  EXPECT_EQ(units[4].charge.surplus, Of(3)) << "the last three";
}

TEST_F(VictimUnitsTest, AReplicaLeavesAsOneIfTheGangCanSpareAllOfIt) {
  RunningGang& gang = Run(4, {.members = 4, .sub_groups = {2, 1}});
  for (size_t i = 0; i < 4; ++i) gang.members[i].sub_group = gang.members[i].unit = i < 2 ? 0 : 1;
  const std::vector<VictimUnit> units = Units();
  ASSERT_EQ(units.size(), 2u) << "one replica, and the whole";
  EXPECT_THAT(units[0].members, ElementsAre(1, 0));
}

TEST_F(VictimUnitsTest, AGangThatIsAllSurplusIsNoUnitAsAWhole) {
  Run(2, {.members = 2});
  EXPECT_EQ(Units().size(), 2u);
  running_[0].members[0].sub_group = 0;
  running_[0].surplus.sub_groups = {0};
  EXPECT_EQ(Units().back().part, UnitPart::kWholeGang);
}

TEST_F(VictimUnitsTest, AUnitIsTheSumOfWhatGoes) {
  Random random(3);
  for (int i = 0; i < 300; ++i) Draw(random);
  const FreedRoom held{.node = NodeId(1), .shape = ShapeId(5), .of = Occupant::kHold};
  for (RunningGang& gang : running_) {
    gang.held = {held, {.node = kGone, .shape = ShapeId(5)}};
    gang.held_charge = Of(10);
  }
  for (const VictimUnit& unit : Units()) {
    const RunningGang& gang = running_[unit.running];
    const bool whole = unit.part == UnitPart::kWholeGang;
    std::vector<size_t> members(unit.members.begin(), unit.members.end());
    for (size_t i = 0; whole && i < gang.members.size(); ++i) members.push_back(i);
    int64_t rooms = whole ? 1 : 0;
    std::vector<uint32_t> budgets;
    for (const size_t member : members) {
      const VictimPod& pod = gang.members[member];
      rooms += pod.node != kGone;
      EXPECT_LT(pod.budgets.size(), 2u) << "the eviction API refuses it";
      budgets.insert(budgets.end(), pod.budgets.begin(), pod.budgets.end());
    }
    const absl::Duration age = std::max(absl::ZeroDuration(), cluster_.now - gang.started);
    EXPECT_EQ(unit.pods, std::ssize(members));
    EXPECT_EQ(unit.lost_seconds, unit.pods * absl::ToInt64Seconds(age));
    EXPECT_EQ(unit.charge.charge, Of(unit.pods + (whole ? 10 : 0)));
    EXPECT_EQ(std::ssize(unit.room), rooms);
    EXPECT_EQ(unit.budgets, budgets);
    EXPECT_LE(std::ranges::count(budgets, 0u), 2);
    EXPECT_LE(std::ranges::count(budgets, 1u), 1);
  }
}

TEST_F(VictimUnitsTest, OneMoreVictimAlwaysCostsMore) {
  Random random(4);
  for (int i = 0; i < 20; ++i) Draw(random);
  const std::vector<VictimUnit> units = Units();
  for (int draws = 0; draws < 2000; ++draws) {
    std::vector<size_t> all, some;
    const size_t spared = random.Below(units.size());
    for (size_t i = 0; i < units.size(); ++i) {
      if (i != spared && !random.OneIn(4)) continue;
      all.push_back(i);
      if (i != spared) some.push_back(i);
    }
    ASSERT_LT(Cost(units, some), Cost(units, all));
  }
}

TEST_F(VictimUnitsTest, SurplusOfImportantGangsCostsLessThanAnyQuorum) {
  Run(2, {.members = 1}).priority = 9;
  Run(1, {}).priority = -9;
  const std::vector<VictimUnit> units = Units();
  const size_t surplus = 0, whole = 2, other = 3;
  EXPECT_LT(Cost(units, {surplus}), Cost(units, {other}));
  EXPECT_LT(Cost(units, {other}), Cost(units, {whole}));
  EXPECT_EQ(Cost(units, {surplus, other}).unentitled, 0);
  EXPECT_EQ(Cost(units, {surplus, other}, Entitlement::kShare).unentitled, 2);
  EXPECT_EQ(Cost(units, {surplus, surplus + 1}, Entitlement::kShare).unentitled, 1) << "one gang";
}

TEST_F(VictimUnitsTest, PodsBeyondTheAllowanceAreViolations) {
  const std::vector<VictimUnit> units = {{.budgets = {0, 0}},
                                         {.budgets = {0, 1}, .doubly_covered = 1}};
  EXPECT_EQ(ViolationsOf(input_, units, std::vector<size_t>{0}), 0);
  EXPECT_EQ(ViolationsOf(input_, units, std::vector<size_t>{0, 1}), 2);
  const std::vector<int32_t> below_nothing = {-3};
  input_.allowed = below_nothing;
  EXPECT_EQ(ViolationsOf(input_, units, std::vector<size_t>{0}), 2);
}

}  // namespace
}  // namespace maniple::cycle_victim_units_test
