// The units that may be taken together. Fears: a budget is overdrawn by units that each respect it;
// a gang goes twice, whole and as surplus; a sub-group loses more than it can spare; a member goes
// before one that is like it and ranks behind it; what is given back stays counted.
#include "scheduler/cycle/victims/victim_limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "api/base/random.h"

namespace maniple::cycle_victim_limits_test {
namespace {

// Gangs and units as plain values: limits look at neither nodes nor quota.
class VictimLimitsTest : public ::testing::Test {
 protected:
  // A gang of members of these sub-groups.
  size_t Run(const std::vector<int32_t>& sub_groups, Surplus surplus) {
    RunningGang& gang = running_.emplace_back();
    for (const int32_t sub_group : sub_groups) gang.members.push_back({.sub_group = sub_group});
    gang.surplus = std::move(surplus);
    return running_.size() - 1;
  }
  size_t Whole(size_t running, std::vector<uint32_t> budgets = {}) {
    VictimUnit unit{.running = running, .budgets = std::move(budgets)};
    unit.pods = std::ssize(running_[running].members);
    units_.push_back(std::move(unit));
    return units_.size() - 1;
  }
  size_t Spare(size_t running, std::vector<size_t> members, std::vector<uint32_t> budgets = {},
               std::optional<size_t> after = std::nullopt) {
    VictimUnit unit{.running = running, .part = UnitPart::kSurplusMember, .after = after};
    unit.members.assign(members.begin(), members.end());
    unit.pods = std::ssize(members);
    unit.budgets = std::move(budgets);
    units_.push_back(std::move(unit));
    return units_.size() - 1;
  }
  [[nodiscard]] VictimLimits Limits() {
    input_.running = running_;
    input_.allowed = allowed_;
    return {input_, units_};
  }
  void Draw(Random& random) {
    running_.clear();
    units_.clear();
    allowed_ = {static_cast<int32_t>(random.Below(4)), static_cast<int32_t>(random.Below(2))};
    for (int gangs = 0; gangs < 3; ++gangs) {
      // The first two leave together.
      const auto draw = [&](uint64_t bound) { return static_cast<int64_t>(random.Below(bound)); };
      const size_t gang =
          Run({0, 0, 1, 1, -1}, {.members = draw(5), .sub_groups = {draw(3), draw(3)}});
      std::optional<size_t> last;
      Spare(gang, {1, 0}, Budgets(random));
      for (size_t member = 5; member-- > 2;) {
        const bool chained = last.has_value() && random.OneIn(2);
        last = Spare(gang, {member}, Budgets(random), chained ? last : std::nullopt);
      }
      units_[Whole(gang, Budgets(random))].past_budgets = random.OneIn(3);
    }
  }
  static std::vector<uint32_t> Budgets(Random& random) {
    if (!random.OneIn(3)) return {};
    return {static_cast<uint32_t>(random.Below(2))};
  }

  [[nodiscard]] bool HasTakenAfter(size_t unit, const std::vector<bool>& taken) const {
    return std::ranges::any_of(units_, [&](const VictimUnit& other) {
      return other.after == unit && taken[static_cast<size_t>(&other - units_.data())];
    });
  }
  // May they all be gone, by the three rules?
  [[nodiscard]] bool Together(const std::vector<bool>& taken) const {
    std::vector<int32_t> left = allowed_;
    std::vector<Surplus> spare;
    std::vector<int> wholes(running_.size(), 0), parts(running_.size(), 0);
    for (const RunningGang& gang : running_) spare.push_back(gang.surplus);
    for (size_t i = 0; i < units_.size(); ++i) {
      if (!taken[i]) continue;
      const VictimUnit& unit = units_[i];
      if (unit.after.has_value() && !taken[*unit.after]) return false;
      for (const uint32_t budget : unit.budgets) left[budget] -= !unit.past_budgets;
      ++(unit.part == UnitPart::kWholeGang ? wholes : parts)[unit.running];
      if (unit.part == UnitPart::kWholeGang) continue;
      spare[unit.running].members -= unit.pods;
      const int32_t part = running_[unit.running].members[unit.members.front()].sub_group;
      if (part < 0) continue;
      spare[unit.running].sub_groups[static_cast<size_t>(part)] -= unit.pods;
    }
    bool good = left[0] >= 0 && left[1] >= 0;
    for (size_t gang = 0; gang < running_.size(); ++gang) {
      good = good && wholes[gang] <= 1 && (wholes[gang] == 0 || parts[gang] == 0);
      good = good && spare[gang].members >= 0 && spare[gang].sub_groups[0] >= 0 &&
             spare[gang].sub_groups[1] >= 0;
    }
    return good;
  }

  std::vector<RunningGang> running_;
  std::vector<VictimUnit> units_;
  std::vector<int32_t> allowed_;

 private:
  Snapshot no_nodes_;
  GangRequest request_;
  Profile profile_;
  const DecideInput decide_{.snapshot = no_nodes_, .request = request_, .now = {}};
  PreemptionInput input_{.decide = decide_, .profile = profile_};
};

TEST_F(VictimLimitsTest, UnitsThatABudgetBearsOneByOneAreNotTakenTogether) {
  allowed_ = {2, 0};
  const size_t a = Whole(Run({-1}, {}), {0}), b = Whole(Run({-1, -1}, {}), {0, 0});
  const size_t past = Whole(Run({-1}, {}), {0, 1});
  units_[past].past_budgets = true;
  VictimLimits limits = Limits();
  limits.Take(past);
  EXPECT_TRUE(limits.MayTake(b)) << "who passes budgets leaves them to the others";
  limits.Take(a);
  EXPECT_FALSE(limits.MayTake(b));
}

TEST_F(VictimLimitsTest, AUnitMayBeTakenExactlyWhenTheRulesHoldWithIt) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    Draw(random);
    VictimLimits limits = Limits();
    std::vector<bool> taken(units_.size(), false);
    for (int step = 0; step < 60; ++step) {
      const size_t unit = random.Below(units_.size());
      ASSERT_EQ(limits.IsTaken(unit), taken[unit]);
      ASSERT_EQ(limits.EndsChain(unit), !HasTakenAfter(unit, taken));
      if (taken[unit] && limits.EndsChain(unit)) {
        limits.GiveBack(unit);
        taken[unit] = false;
      } else if (taken[unit]) {
        ASSERT_FALSE(limits.MayTake(unit));
      } else {
        taken[unit] = true;
        ASSERT_EQ(limits.MayTake(unit), Together(taken)) << "seed " << seed << " unit " << unit;
        taken[unit] = limits.MayTake(unit);
        if (taken[unit]) limits.Take(unit);
      }
    }
  }
}

}  // namespace
}  // namespace maniple::cycle_victim_limits_test
