// Which PodDisruptionBudgets cover a pod. Fears: budgets of another namespace are taken in, or one
// of the own is left out; a budget that went, or was replaced, still counts; more is allowed than
// was counted for the spec; evictions that are allowed now are no news.
#include "scheduler/state/budget_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"

namespace maniple::state_budget_table_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Names that begin alike: a namespace must not take in what begins with its name.
const std::vector<std::string> kNames = {"a", "a-b", "ab", "b"};

PodDisruptionBudget BudgetOf(const std::string& namespace_name, const std::string& name) {
  PodDisruptionBudget budget;
  budget.meta.namespace_name = namespace_name;
  budget.meta.name = name;
  return budget;
}

constexpr uint32_t kPods = 6;

LabelSelector AnySelector(Random& random) {
  LabelSelector selector;
  for (size_t left = random.Below(3); left > 0; --left) {
    SelectorRequirement& requirement = selector.requirements.emplace_back();
    requirement.key = random.OneIn(2) ? "app" : "tier";
    requirement.op = static_cast<SelectorOperator>(random.Below(6));
    for (int value = 0; value < 3; ++value) {
      if (random.OneIn(2)) requirement.values.push_back(absl::StrCat(value));
    }
  }
  return selector;
}

class BudgetTableTest : public ::testing::Test {
 protected:
  BudgetTableTest() {
    for (uint32_t pod = 0; pod < kPods; ++pod) labels_.Put(PodId(pod), MakeLabels(pod));
  }
  static StringMap MakeLabels(uint32_t pod) {
    StringMap labels;
    if (pod > 0) labels.Set("app", absl::StrCat(pod % 3));
    if (pod > 2) labels.Set("tier", absl::StrCat(pod % 2));
    return labels;
  }
  bool Upsert(const PodDisruptionBudget& budget) {
    Delta delta;
    table_.Upsert(budget, delta);
    return delta.budgets_changed;
  }
  bool Refuse(const std::string& namespace_name, const std::string& name) {
    Delta delta;
    table_.Refuse({.namespace_name = namespace_name, .name = name}, delta);
    return delta.budgets_changed;
  }
  bool Remove(const std::string& namespace_name, const std::string& name) {
    Delta delta;
    table_.Remove({.namespace_name = namespace_name, .name = name}, delta);
    return delta.budgets_changed;
  }

  PodLabels labels_;
  BudgetTable table_{labels_};
};

TEST_F(BudgetTableTest, BudgetsCoverThePodsThatASearchFromScratchFinds) {
  Random random(1);
  std::map<std::pair<std::string, std::string>, BudgetFacts> known;
  for (int round = 0; round < 1000; ++round) {
    const std::string& namespace_name = kNames[random.Below(4)];
    const std::string& name = kNames[random.Below(4)];
    PodDisruptionBudget budget = BudgetOf(namespace_name, name);
    if (!random.OneIn(4)) budget.selector = AnySelector(random);
    budget.disruptions_allowed = static_cast<int32_t>(random.Below(4)) - 1;
    BudgetFacts facts{namespace_name, name, budget.selector,
                      std::max(budget.disruptions_allowed, 0)};
    const auto at = known.find({namespace_name, name});
    if (random.OneIn(3)) {
      ASSERT_EQ(Remove(namespace_name, name), known.erase({namespace_name, name}) != 0);
    } else {
      const bool is_news = at != known.end() && (facts.allowed > at->second.allowed ||
                                                 facts.selector != at->second.selector);
      ASSERT_EQ(Upsert(budget), is_news) << "round " << round;
      known[{namespace_name, name}] = facts;
    }
    std::vector<BudgetFacts> all;
    for (const auto& [key, one] : known) all.push_back(one);
    ASSERT_EQ(table_.all(), all);
    for (uint32_t pod = 0; pod < kPods; ++pod) {
      std::vector<uint32_t> covering;
      for (uint32_t i = 0; i < all.size(); ++i) {
        const bool here = all[i].namespace_name == namespace_name && all[i].selector.has_value();
        if (here && all[i].selector->Matches(MakeLabels(pod))) covering.push_back(i);
      }
      covering.resize(std::min<size_t>(covering.size(), 2));
      ASSERT_EQ(table_.Covering(namespace_name, PodId(pod)), covering) << "round " << round;
    }
    ASSERT_EQ(table_.AnyIn(namespace_name), std::ranges::any_of(all, [&](const auto& one) {
                return one.namespace_name == namespace_name;
              }));
  }
}

TEST_F(BudgetTableTest, OfThousandsOfBudgetsAPodAsksThoseThatMayCoverIt) {
  labels_.Put(PodId(0), StringMap({{"app", "web"}, {"release", "r7"}}));
  for (int i = 0; i < 5000; ++i) {
    PodDisruptionBudget budget = BudgetOf("a", absl::StrCat("budget-", i));
    budget.selector = Labelled("app", "web");
    budget.selector->requirements.push_back(
        {.key = "release", .op = SelectorOperator::kIn, .values = {absl::StrCat("r", i)}});
    Upsert(budget);
  }
  ASSERT_THAT(table_.Covering("a", PodId(0)), SizeIs(1));
  EXPECT_LE(table_.budgets_visited(), 3);
}

TEST_F(BudgetTableTest, OfThousandsOfBudgetsOverAPodTwoAreLookedFor) {
  PodDisruptionBudget budget;
  budget.selector.emplace();
  for (int i = 0; i < 5000; ++i) {
    budget.meta = BudgetOf("a", absl::StrCat("budget-", i)).meta;
    Upsert(budget);
  }
  EXPECT_THAT(table_.Covering("a", PodId(0)), ElementsAre(0, 1));
  EXPECT_LE(table_.budgets_visited(), 3);
}

TEST_F(BudgetTableTest, AStatusOfAnOlderSpecAllowsNothing) {
  PodDisruptionBudget budget = BudgetOf("a", "b");
  budget.meta.generation = 3;
  budget.observed_generation = 2;
  budget.disruptions_allowed = 5;
  Upsert(budget);
  EXPECT_EQ(table_.all()[0].allowed, 0);
  budget.observed_generation = 3;
  EXPECT_TRUE(Upsert(budget));
  EXPECT_EQ(table_.all()[0].allowed, 5);
}

TEST_F(BudgetTableTest, ABudgetThatCannotBeReadCoversAllAndAllowsNothingUntilItIsReadAgain) {
  PodDisruptionBudget budget = BudgetOf("a", "b");
  budget.selector = Labelled("app", "1");
  budget.disruptions_allowed = 1;
  Upsert(budget);
  Refuse("a", "b");
  EXPECT_THAT(table_.Covering("a", PodId(0)), ElementsAre(0));
  EXPECT_EQ(table_.all()[0].allowed, 0);
  EXPECT_TRUE(Upsert(budget));
  EXPECT_THAT(table_.Covering("a", PodId(0)), IsEmpty());
  EXPECT_THAT(table_.Covering("a", PodId(1)), ElementsAre(0));
}

TEST_F(BudgetTableTest, OtherLabelsAreNewsWhereThereIsABudget) {
  Upsert(BudgetOf("a-b", "x"));
  for (const std::string& name : kNames) {
    Delta delta;
    table_.NoteLabels(name, delta);
    EXPECT_EQ(delta.budgets_changed, name == "a-b") << name;
  }
}

}  // namespace
}  // namespace maniple::state_budget_table_test
