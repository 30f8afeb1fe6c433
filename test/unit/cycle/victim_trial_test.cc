// Units taken on trial. Fears: quota, room and limits disagree on what is taken; a unit that is
// given back leaves a trace; the decision sees pods that are gone, or quota that is not free; units
// pass budgets in order to take more than nominal quota; a search that gave up is taken for a
// proof.
#include "scheduler/cycle/victims/victim_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_victim_trial_test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

constexpr QuotaNodeId kRoot(0), kOwn(1), kOther(2);
constexpr QuotaCellId kCell(0);

// Quota for 16 GPUs: of the preemptor's Queue, of another one, and of their Cohort. The other Queue
// uses it all, with a gang on each of two nodes; a gang of two pods can spare one.
class VictimTrialTest : public ::testing::Test {
 protected:
  static constexpr size_t kFirstOfA = 0, kWholeA = 2, kFirstOfB = 3, kWholeB = 5;

  // The gang that comes wants 8 GPUs on one node.
  void Start(int64_t own_quota = 8, IgnorePdb ignored = IgnorePdb::kNever) {
    std::vector<QuotaNodeSpec> nodes(3);
    nodes[1].parent = nodes[2].parent = kRoot;
    nodes[0].limits = {{.cell = kCell, .nominal = Amount(12 - own_quota)}};
    nodes[1].limits = {{.cell = kCell, .nominal = Amount(own_quota)}};
    nodes[2].limits = {{.cell = kCell, .nominal = Amount(4)}};
    tree_ = QuotaTree(nodes, {0});
    for (const char* name : {"a", "b"}) Run(name);
    cluster_.Add(MakePod("in").Gpu(8));
    request_ = cluster_.RequestOf("in");
    request_.work = work_;
    snapshot_ = *cluster_.state().Publish();
    kinds_ = KindsOf(request_);
    ask_ = {.tree = &tree_, .queue = kOwn, .options = {}};
    ask_.options[kinds_.shapes[0]] = {option_};
    room_.emplace(decide_, cluster_.profile(), kinds_, std::vector<const QuotaOption*>{&option_});
    input_.running = running_;
    input_.allowed = allowed_;
    input_.ignore_pdb = ignored;
    rules_.emplace(input_, QuotaContest{&tree_, kOwn, option_.each, {kCell}, {kCell}});
    for (size_t i : {0, 1}) AppendUnits(input_, i, VictimClaim::kShare, units_);
    trial_.emplace(input_, *rules_, *room_, units_, &ask_);
  }
  void Run(const std::string& name) {
    const std::string node = "node-" + name;
    cluster_.Add(MakeNode(node).Gpu(8));
    cluster_.Add(MakePodGroup(name).MinMember(1));
    for (const char* pod : {"-0", "-1"}) {
      cluster_.Add(MakePod(name + pod).Group(name).Gpu(4).On(node));
    }
    RunningGang& gang = running_.emplace_back();
    gang.queue = kOther;
    gang.surplus.members = 1;
    for (const Member& member : cluster_.GangOf(name).members) {
      gang.members.push_back({.pod = member.pod, .node = member.node, .shape = member.shape});
      gang.members.back().charge = {{kCell, Amount(4)}};
      gang.members.back().budgets = budgets_;
      tree_.Add(kOther, gang.members.back().charge);
    }
  }
  std::vector<std::string> Found() {
    const std::optional<Plan> plan = trial_->Find();
    return plan.has_value() ? cluster_.PlacesOf(*plan) : std::vector<std::string>();
  }
  [[nodiscard]] Amount OtherUses() { return trial_->rules().tree().Usage(kOther, kCell); }

  TestCluster cluster_;
  std::vector<RunningGang> running_;
  std::vector<uint32_t> budgets_;  // over all pods
  std::vector<int32_t> allowed_;
  std::vector<VictimUnit> units_;
  SearchWork* work_ = nullptr;
  std::optional<VictimTrial> trial_;

 private:
  QuotaTree tree_;
  Snapshot snapshot_;
  GangRequest request_;
  RequestKinds kinds_;
  QuotaAsk ask_;
  const QuotaOption option_{.nodes = {}, .each = {{kCell, Amount(8)}}, .flavor = ""};
  const DecideInput decide_{.snapshot = snapshot_, .request = request_, .now = cluster_.now};
  PreemptionInput input_{.decide = decide_, .profile = cluster_.profile()};
  std::optional<FreedRoomCount> room_;
  std::optional<VictimRules> rules_;
};

TEST_F(VictimTrialTest, QuotaRoomAndLimitsAgreeOnWhatIsTaken) {
  Start();
  ASSERT_EQ(units_.size(), 6u);
  Random random(1);
  std::vector<size_t> taken;
  for (int step = 0; step < 300; ++step) {
    const size_t unit = random.Below(units_.size());
    if (random.OneIn(20)) {
      trial_->GiveBackAll();
      taken.clear();
    } else if (trial_->IsTaken(unit) && trial_->EndsChain(unit)) {
      trial_->GiveBack(unit);
      std::erase(taken, unit);
    } else if (trial_->MayTake(unit)) {
      trial_->Take(unit);
      taken.push_back(unit);
    }
    std::vector<int64_t> gone_of = {0, 0};
    for (const size_t it : taken) gone_of[units_[it].running] += units_[it].pods;
    ASSERT_THAT(trial_->taken(), ElementsAreArray(taken));
    ASSERT_EQ(OtherUses(), Amount(16 - 4 * (gone_of[0] + gone_of[1])));
    for (size_t i : {0, 1}) {
      ASSERT_EQ(trial_->room().RoomAt(running_[i].members[0].node), gone_of[i] == 2) << step;
    }
  }
}

TEST_F(VictimTrialTest, TheDecisionIsMadeWithoutTheTakenUnits) {
  Start();
  EXPECT_THAT(Found(), IsEmpty());
  trial_->Take(kWholeB);
  EXPECT_THAT(Found(), ElementsAre("in=node-b"));
  trial_->GiveBack(kWholeB);
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_EQ(trial_->finds(), 3);
  EXPECT_FALSE(trial_->gave_up());
}

TEST_F(VictimTrialTest, TheDecisionHasTheQuotaThatTheTakenUnitsLeave) {
  cluster_.Add(MakeNode("node-c").Gpu(8));
  Start();
  trial_->Take(kFirstOfA);
  EXPECT_THAT(Found(), IsEmpty());
  trial_->Take(kFirstOfB);
  EXPECT_THAT(Found(), ElementsAre("in=node-c"));
}

// All pods are under one budget.
class TrialOverBudgetTest : public VictimTrialTest {
 protected:
  std::vector<size_t> IllegalIfTheOwnQuotaIs(int64_t amount, int32_t allowed) {
    constexpr FairStrategy kFinal[] = {FairStrategy::kLessThanOrEqualToFinalShare};
    budgets_ = {0};
    allowed_ = {allowed};
    Start(amount, IgnorePdb::kReclaim);
    trial_->Take(kWholeA);
    return trial_->Justify({.strategies = kFinal}).illegal;
  }
};

TEST_F(TrialOverBudgetTest, NominalQuotaIsTakenBackPastBudgets) {
  EXPECT_THAT(IllegalIfTheOwnQuotaIs(8, 0), IsEmpty());
}
TEST_F(TrialOverBudgetTest, AShareIsNotTakenPastBudgets) {
  EXPECT_THAT(IllegalIfTheOwnQuotaIs(4, 1), ElementsAre(0));
}
TEST_F(TrialOverBudgetTest, AShareIsTakenWithinBudgets) {
  EXPECT_THAT(IllegalIfTheOwnQuotaIs(4, 2), IsEmpty());
}

TEST_F(VictimTrialTest, WithoutWorkThereIsNoProof) {
  SearchWork none(-1);
  work_ = &none;
  Start();
  EXPECT_TRUE(trial_->spent());
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_TRUE(trial_->gave_up());
}

}  // namespace
}  // namespace maniple::cycle_victim_trial_test
