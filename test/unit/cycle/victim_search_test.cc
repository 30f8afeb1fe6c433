// The searches for victims: exact, greedy, and the one that calls both. Each needs a whole trial,
// so they share one world. Fears: cheaper victims are overlooked; victims are taken that are
// illegal together, do not suffice, or can be spared; a search that gave up is taken for a proof,
// or leaves units taken.
#include "scheduler/cycle/victims/victim_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/cycle/victims/exact_victims.h"
#include "scheduler/cycle/victims/greedy_victims.h"
#include "test/oracle/cycle/preemption_case.h"
#include "test/support/builders.h"

namespace maniple::cycle_victim_search_test {
namespace {

using ::testing::ElementsAre;

// A trial in a world where nobody has a Queue: room and budgets alone decide.
class Searched final {
 public:
  explicit Searched(const std::function<void(PreemptionCase&)>& fill, SearchWork* work = nullptr) {
    fill(world_);
    for (RunningGang& gang : world_.running) {
      gang.queue = QuotaNodeId();
      for (VictimPod& pod : gang.members) pod.charge.clear();
    }
    world_.request.work = work;
    snapshot_ = *world_.cluster.state().Publish();
    kinds_ = KindsOf(world_.request);
    input_.running = world_.running;
    input_.allowed = world_.allowed;
    for (size_t i = 0; i < world_.running.size(); ++i) {
      AppendUnits(input_, i, VictimClaim::kNoQueue, units_);
    }
    all_.resize(units_.size());
    std::iota(all_.begin(), all_.end(), size_t{0});
    room_.emplace(decide_, world_.cluster.profile(), kinds_, std::vector<const QuotaOption*>());
    trial_.emplace(input_, rules_, *room_, units_, nullptr);
  }
  [[nodiscard]] VictimTrial& trial() { return *trial_; }

  [[nodiscard]] ExactAnswer Exactly() { return SearchExactly(*trial_, {}, all_); }
  // As if every unit were of the same use.
  [[nodiscard]] std::optional<VictimChoice> Greedily(GreedyStart start) {
    const std::vector<UnitUse> uses(units_.size(), {.room = true});
    const std::vector<int64_t> weight(units_.size(), 0), gain(kBlockNodes, 1);
    return SearchGreedily(*trial_, {},
                          {.start = start,
                           .units = all_,
                           .uses = uses,
                           .weight = weight,
                           .gain = gain,
                           .domain = {}});
  }
  // The least cost of any units, at least one, that may go together and without which the gang
  // starts. REQUIRES: no unit from `at` on is taken.
  void TryAll(std::optional<VictimCost>& least, size_t at = 0) {
    if (at < units_.size()) {
      TryAll(least, at + 1);
      if (!trial_->MayTake(at)) return;
      trial_->Take(at);
      TryAll(least, at + 1);
      trial_->GiveBack(at);
      return;
    }
    if (trial_->taken().empty()) return;
    const VictimCost cost = CostOf(input_, units_, trial_->taken(), Entitlement::kNominal);
    if ((!least.has_value() || cost < *least) && trial_->Find().has_value()) least = cost;
  }
  [[nodiscard]] std::optional<VictimCost> Cheapest() {
    std::optional<VictimCost> least;
    TryAll(least);
    return least;
  }
  // The units may go together, and suffice; not if any one of them stays.
  void ExpectGood(const VictimChoice& choice) {
    EXPECT_EQ(choice.cost, CostOf(input_, units_, choice.units, Entitlement::kNominal));
    for (const size_t unit : choice.units) {
      EXPECT_TRUE(trial_->MayTake(unit)) << unit;
      trial_->Take(unit);
    }
    EXPECT_TRUE(trial_->Find().has_value());
    for (const size_t unit : choice.units) {
      if (!trial_->EndsChain(unit)) continue;
      trial_->GiveBack(unit);
      EXPECT_FALSE(trial_->Find().has_value()) << unit << " can be spared";
      trial_->Take(unit);
    }
    trial_->GiveBackAll();
  }

 private:
  PreemptionCase world_;
  Snapshot snapshot_;
  RequestKinds kinds_;
  const DecideInput decide_{
      .snapshot = snapshot_, .request = world_.request, .now = world_.cluster.now};
  PreemptionInput input_{.decide = decide_, .profile = world_.cluster.profile()};
  std::vector<VictimUnit> units_;
  std::vector<size_t> all_;
  VictimRules rules_{input_, {}};
  std::optional<FreedRoomCount> room_;
  std::optional<VictimTrial> trial_;
};

std::function<void(PreemptionCase&)> Drawn(uint64_t seed) {
  return [seed](PreemptionCase& world) { DrawPreemptionCase(seed, world); };
}
// On one node, so many gangs of one GPU each, the last of them the least important; two GPUs are
// wanted.
std::function<void(PreemptionCase&)> Crowd(int gangs) {
  return [gangs](PreemptionCase& world) {
    world.cluster.Add(MakeNode("n").Gpu(gangs));
    for (int i = 0; i < gangs; ++i) {
      const std::string name = absl::StrCat("g", i);
      world.cluster.Add(MakePod(name).Gpu(1).On("n"));
      const Member& member = world.cluster.GangOf(name).members.front();
      RunningGang& gang = world.running.emplace_back();
      gang.priority = -i;
      gang.members = {{.pod = member.pod, .node = member.node, .shape = member.shape}};
    }
    world.cluster.Add(MakePod("in").Gpu(2));
    world.request = world.cluster.RequestOf("in");
  };
}

TEST(VictimSearch, AnExactSearchFindsTheCheapestOrProvesThatThereIsNone) {
  int found = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Searched world(Drawn(seed));
    const ExactAnswer answer = world.Exactly();
    EXPECT_TRUE(world.trial().taken().empty()) << seed;
    ASSERT_TRUE(answer.complete) << seed;
    const std::optional<VictimCost> least = world.Cheapest();
    ASSERT_EQ(answer.choice.has_value(), least.has_value()) << seed;
    if (!least.has_value()) continue;
    ++found;
    ASSERT_TRUE(answer.choice->cost == *least) << seed;
  }
  EXPECT_GT(found, 20);
  EXPECT_LT(found, 90);
}

TEST(VictimSearch, AnExactSearchAmongTooManyIsNoProof) {
  const ExactAnswer few = Searched(Crowd(5)).Exactly();
  ASSERT_TRUE(few.choice.has_value());
  EXPECT_THAT(few.choice->units, ElementsAre(3, 4));
  const ExactAnswer many = Searched(Crowd(kMostExactUnits)).Exactly();
  EXPECT_FALSE(many.complete || many.choice.has_value());
}

TEST(VictimSearch, GreedyVictimsSufficeAndNoneOfThemCanBeSpared) {
  int found = 0, possible = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Searched world(Drawn(seed));
    if (world.trial().Find().has_value()) continue;  // nobody need go
    const std::optional<VictimCost> least = world.Cheapest();
    for (const GreedyStart start : {GreedyStart::kCheapestUnits, GreedyStart::kCheapestNodes}) {
      const std::optional<VictimChoice> choice = world.Greedily(start);
      ASSERT_TRUE(world.trial().taken().empty()) << seed;
      possible += least.has_value();
      if (!choice.has_value()) continue;
      ++found;
      ASSERT_TRUE(least.has_value() && *least <= choice->cost) << seed;
      world.ExpectGood(*choice);
    }
  }
  EXPECT_GT(possible, 100);
  EXPECT_GE(found, possible * 9 / 10);
}

TEST(VictimSearch, AFewUnitsAreSearchedExactly) {
  for (uint64_t seed = 100; seed < 200; ++seed) {
    Searched world(Drawn(seed));
    if (world.trial().Find().has_value()) continue;  // nobody need go
    const std::optional<VictimCost> least = world.Cheapest();
    VictimSearch search(world.trial());
    const VictimSearch::Outlook outlook = search.LookAhead();
    if (outlook != VictimSearch::Outlook::kMayHelp) {
      ASSERT_EQ(outlook, VictimSearch::Outlook::kRoomLacks);
      ASSERT_FALSE(least.has_value()) << seed;
      continue;
    }
    const std::optional<VictimChoice> choice = search.Run({});
    ASSERT_TRUE(search.complete()) << seed;
    ASSERT_EQ(choice.has_value(), least.has_value()) << seed;
    if (choice.has_value()) {
      ASSERT_TRUE(choice->cost == *least) << seed;
    }
  }
}

TEST(VictimSearch, OfManyUnitsTheLeastImportantGo) {
  Searched world(Crowd(kMostExactUnits + 6));
  VictimSearch search(world.trial());
  ASSERT_EQ(search.LookAhead(), VictimSearch::Outlook::kMayHelp);
  const std::optional<VictimChoice> choice = search.Run({});
  ASSERT_TRUE(choice.has_value());
  EXPECT_THAT(choice->units, ElementsAre(28, 29));
  EXPECT_FALSE(search.complete()) << "not every set was looked at";
}

TEST(VictimSearch, WhenTheWorkIsSpentNothingIsProven) {
  SearchWork work(1'000'000);
  Searched world(Crowd(3), &work);
  work.Spend(work.most() + 1);
  const ExactAnswer exact = world.Exactly();
  EXPECT_FALSE(exact.complete || exact.choice.has_value());
  VictimSearch search(world.trial());
  EXPECT_EQ(search.LookAhead(), VictimSearch::Outlook::kUnclear);
  EXPECT_FALSE(search.complete());
}

}  // namespace
}  // namespace maniple::cycle_victim_search_test
