// PodDisruptionBudgets in the state: whom they cover, what they allow, and when that is news.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "scheduler/state/cluster_state.h"
#include "scheduler/state/pod_labels.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

PodDisruptionBudget BudgetOf(absl::string_view name, std::optional<LabelSelector> selector,
                             int32_t allowed) {
  PodDisruptionBudget budget;
  budget.meta.name = std::string(name);
  budget.meta.namespace_name = "default";
  budget.meta.generation = budget.observed_generation = 1;
  budget.selector = std::move(selector);
  budget.disruptions_allowed = allowed;
  return budget;
}
LabelSelector App(absl::string_view app) {
  return {{Requires("app", SelectorOperator::kIn, {std::string(app)})}};
}

class BudgetsTest : public ::testing::Test {
 protected:
  // Whether more may be evicted than before.
  bool Apply(ObjectEvent event) {
    Delta delta;
    state_.Apply(event, kNow, delta);
    EXPECT_EQ(state_.CheckInvariants().message(), "");
    return delta.budgets_changed;
  }
  bool Apply(PodDisruptionBudget budget) { return Apply(ObjectUpserted{std::move(budget)}); }
  // The names of the budgets that cover the pod.
  std::vector<std::string> Covering(absl::string_view pod) {
    std::vector<std::string> names;
    for (const uint32_t i : state_.BudgetsOf(*state_.PodWithUid(absl::StrCat("uid-", pod)))) {
      names.push_back(state_.Budgets().at(i).name);
    }
    return names;
  }

  ClusterState state_{ClusterStateOptions{}};
};

TEST_F(BudgetsTest, CoverThePodsOfTheirNamespaceThatTheySelect) {
  Apply(BudgetOf("web", App("web"), 1));
  Apply(BudgetOf("all", LabelSelector{}, 1));
  Apply(BudgetOf("none", std::nullopt, 1));
  Apply(BudgetOf("not-db", {{{Requires("app", SelectorOperator::kNotIn, {"db"})}}}, 1));
  PodDisruptionBudget elsewhere = BudgetOf("elsewhere", LabelSelector{}, 1);
  elsewhere.meta.namespace_name = "aaa";
  Apply(elsewhere);
  Apply(MakePod("w").Label("app", "web"));
  Apply(MakePod("d").Label("app", "db"));
  Apply(MakePod("bare"));
  Apply(MakePod("far").In("zzz"));
  EXPECT_THAT(Covering("w"), ElementsAre("all", "not-db"));  // and "web"; two are told
  EXPECT_THAT(Covering("d"), ElementsAre("all"));
  EXPECT_THAT(Covering("bare"), ElementsAre("all", "not-db"));
  EXPECT_THAT(Covering("far"), IsEmpty());
  EXPECT_THAT(state_.BudgetsOf(PodId(999)), IsEmpty());
}

TEST_F(BudgetsTest, ABudgetThatComesAfterThePodCoversItToo) {
  Apply(MakePod("w").Label("app", "web"));
  EXPECT_THAT(Covering("w"), IsEmpty());
  EXPECT_FALSE(Apply(BudgetOf("web", App("web"), 0)));  // nothing becomes possible
  EXPECT_THAT(Covering("w"), ElementsAre("web"));
  EXPECT_TRUE(Apply(MakePod("w").Label("app", "db")));
  EXPECT_THAT(Covering("w"), IsEmpty());
}

TEST_F(BudgetsTest, PodsOfOtherSchedulersAreNobodysVictims) {
  Apply(BudgetOf("all", LabelSelector{}, 1));
  EXPECT_FALSE(Apply(MakePod("theirs").Scheduler("default-scheduler").Label("app", "web")));
  Apply(BudgetOf("web", App("web"), 1));
  EXPECT_THAT(Covering("theirs"), IsEmpty());
}

TEST_F(BudgetsTest, OnlyMoreRoomForEvictionsIsNews) {
  EXPECT_FALSE(Apply(BudgetOf("web", App("web"), 1)));
  EXPECT_FALSE(Apply(BudgetOf("web", App("web"), 1)));
  EXPECT_FALSE(Apply(BudgetOf("web", App("web"), 0)));
  EXPECT_EQ(state_.Budgets().at(0).allowed, 0);
  EXPECT_TRUE(Apply(BudgetOf("web", App("web"), 2)));
  EXPECT_EQ(state_.Budgets().at(0).allowed, 2);
  EXPECT_TRUE(Apply(BudgetOf("web", App("other"), 0)));
  EXPECT_TRUE(Apply(DeletionOf(ResourceKind::kPodDisruptionBudget, "web")));
  EXPECT_THAT(state_.Budgets(), IsEmpty());
  EXPECT_FALSE(Apply(DeletionOf(ResourceKind::kPodDisruptionBudget, "web")));
}

TEST_F(BudgetsTest, AnAllowanceCountedForAnOlderSpecIsNone) {
  PodDisruptionBudget budget = BudgetOf("web", App("web"), 5);
  budget.meta.generation = 2;
  Apply(budget);
  EXPECT_EQ(state_.Budgets().at(0).allowed, 0);
  budget.observed_generation = 2;
  EXPECT_TRUE(Apply(budget));
  EXPECT_EQ(state_.Budgets().at(0).allowed, 5);
  budget.disruptions_allowed = -3;
  Apply(budget);
  EXPECT_EQ(state_.Budgets().at(0).allowed, 0);
}

TEST_F(BudgetsTest, AnUnreadableBudgetProtectsItsWholeNamespace) {
  Apply(MakePod("w").Label("app", "web"));
  Apply(BudgetOf("odd", App("db"), 5));
  Apply(ObjectInvalid{{ResourceKind::kPodDisruptionBudget, "default", "odd"}, "u", "bad"});
  EXPECT_THAT(Covering("w"), ElementsAre("odd"));
  EXPECT_EQ(state_.Budgets().at(0).allowed, 0);
  EXPECT_TRUE(Apply(BudgetOf("odd", App("db"), 0)));
  EXPECT_THAT(Covering("w"), IsEmpty());
}

TEST(PodLabels, KeepsAPairOnceAndOnlyWhileAPodCarriesIt) {
  PodLabels labels;
  const StringMap job({{"app", "train"}, {"job", "a"}});
  EXPECT_TRUE(labels.Put(PodId(1), job));
  EXPECT_FALSE(labels.Put(PodId(1), job));
  EXPECT_TRUE(labels.Put(PodId(2), StringMap({{"app", "train"}, {"index", "0"}})));
  EXPECT_FALSE(labels.Put(PodId(3), StringMap()));
  EXPECT_EQ(labels.distinct(), 3u);
  EXPECT_EQ(*labels.Find(PodId(2), "app"), "train");
  EXPECT_EQ(labels.Find(PodId(2), "job"), nullptr);
  EXPECT_EQ(labels.Find(PodId(9), "app"), nullptr);

  EXPECT_TRUE(labels.Put(PodId(2), StringMap()));
  EXPECT_EQ(labels.distinct(), 2u);
  EXPECT_EQ(*labels.Find(PodId(1), "app"), "train");
  labels.Forget(PodId(1));
  labels.Forget(PodId(1));
  EXPECT_EQ(labels.distinct(), 0u);
}

}  // namespace
}  // namespace maniple
