// What the loop tells of quota: the status of Queues and Cohorts, and why a gang has none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/codec/kubernetes_time.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTeamsStatus[] = "/cohorts/teams/status";

Queue TeamQueue(absl::string_view name, int64_t gpus) {
  Queue queue;
  queue.meta.name = std::string(name);
  queue.meta.uid = absl::StrCat("uid-", name);
  queue.cohort = "teams";
  queue.quotas = {
      {.flavor = "", .resources = {{.resource = kGpuResource, .nominal = Amount(gpus)}}}};
  return queue;
}
Cohort CohortOf(absl::string_view name, absl::string_view parent = "", int64_t generation = 3) {
  Cohort cohort;
  cohort.meta.name = std::string(name);
  cohort.meta.uid = absl::StrCat("uid-", name);
  cohort.meta.generation = generation;
  cohort.parent = std::string(parent);
  return cohort;
}

// Four nodes of 8 GPUs; teams a and b have 16 each.
class QuotaReport : public ::testing::Test {
 protected:
  QuotaReport() {
    d_.Nodes(4, 8);
    d_.Put(ObjectUpserted{CohortOf("teams")});
    d_.Put(ObjectUpserted{TeamQueue("a", 16)});
    d_.Put(ObjectUpserted{TeamQueue("b", 16)});
  }
  const Json& Teams() { return d_.api.CohortStatus("teams"); }
  // The condition Active of the cohort: "False Invalid: why".
  std::string Active(absl::string_view cohort = "teams") {
    const Json& condition = d_.api.CohortStatus(cohort)["conditions"].items().at(0);
    return absl::StrCat(condition["status"].AsString(), " ", condition["reason"].AsString(), ": ",
                        condition["message"].AsString());
  }
  GangView ViewOf(absl::string_view gang) {
    const ClusterViewPtr view = d_.loop().View(d_.now);
    return *std::ranges::find(view->gangs, gang, &GangView::name);
  }

  LoopDriver d_;
};

TEST_F(QuotaReport, ACohortShowsWhatAllItsQueuesUse) {
  d_.Submit({.gang = "x", .pods = 3, .queue = "a"});
  d_.Submit({.gang = "y", .pods = 1, .queue = "b"});
  d_.Settle(absl::Seconds(5));
  ASSERT_EQ(Teams()["usage"].size(), 1u);
  const Json& row = Teams()["usage"].items().at(0);
  EXPECT_EQ(row["name"].AsString(), kGpuResource);
  EXPECT_EQ(row["used"].AsString(), "32");
  EXPECT_EQ(row["borrowed"].AsString(), "0");
  EXPECT_EQ(Active(), "True Ready: ");
  EXPECT_EQ(Teams()["conditions"].items().at(0)["observedGeneration"].AsInt(), 3);
}

TEST_F(QuotaReport, AQueueShowsItsUseInOneLine) {
  d_.Submit({.gang = "x", .pods = 3, .queue = "a"});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(d_.api.QueueStatus("a")["summary"].AsString(), "gpu 24/16");
  EXPECT_EQ(d_.api.QueueStatus("a")["usage"].items().at(0)["borrowed"].AsString(), "8");
  EXPECT_EQ(d_.api.QueueStatus("b")["usage"].items().at(0)["lent"].AsString(), "8");
}

TEST_F(QuotaReport, AQueueTellsSinceWhenItsOldestGangWaits) {
  const auto oldest = [this] { return d_.Figures()->queues.front().oldest_pending; };
  d_.Settle();
  EXPECT_EQ(oldest(), absl::InfiniteFuture());
  d_.Submit({.gang = "first", .pods = 5, .queue = "a"});
  d_.Settle(absl::Seconds(60));
  d_.Submit({.gang = "second", .pods = 5, .queue = "a"});
  d_.Submit({.gang = "runs", .pods = 1, .queue = "b"});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(oldest(), ViewOf("first").created);
  EXPECT_LT(oldest(), ViewOf("second").created);
  EXPECT_EQ(d_.Figures()->queues.at(1).oldest_pending, absl::InfiniteFuture()) << "of b";
  d_.loop().SetRole(SchedulingLoop::Role::kStandby);
  EXPECT_EQ(oldest(), absl::InfiniteFuture());
  d_.loop().SetRole(SchedulingLoop::Role::kLeader);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(oldest(), ViewOf("first").created);
}

TEST_F(QuotaReport, AQueueTellsWhatItsPodsWithoutANodeAskFor) {
  const auto asked = [this](size_t queue) {
    const ClusterFiguresPtr figures = d_.Figures();
    for (const ResourceAmount& part : figures->queues.at(queue).asked) {
      if (part.resource == kGpuResource) return part.amount;
    }
    return Amount();
  };
  d_.Submit({.gang = "runs", .pods = 2, .queue = "a"});
  d_.Submit({.gang = "waits", .pods = 5, .queue = "a"});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(asked(0), Amount(40));
  EXPECT_EQ(asked(1), Amount());
  d_.api.Delete(ResourceKind::kPod, "waits-4");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(asked(0), Amount(32));
  for (const char* pod : {"waits-0", "waits-1", "waits-2", "waits-3"}) {
    d_.api.Delete(ResourceKind::kPod, pod);
  }
  d_.Settle(absl::Seconds(5));
  EXPECT_TRUE(d_.Figures()->queues.front().asked.empty()) << "nothing is left of nobody";
}

TEST_F(QuotaReport, AQuietCohortIsNotWrittenAgain) {
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(d_.api.Count(kTeamsStatus), 1);
  d_.Settle(absl::Minutes(5));
  EXPECT_EQ(d_.api.Count(kTeamsStatus), 1);
}

TEST_F(QuotaReport, ConditionsKeepTheirTimesUnderANewLeader) {
  d_.Put(ObjectUpserted{CohortOf("teams", "teams")});  // on a cycle
  Queue stopped = TeamQueue("a", 16);
  stopped.stop = StopPolicy::kHold;
  d_.Put(ObjectUpserted{stopped});
  d_.Settle(absl::Minutes(2));
  const auto since = [](const Json& status) {
    return status["conditions"].items().at(0)["lastTransitionTime"].AsString();
  };
  const std::string of_queue = since(d_.api.QueueStatus("a")), of_cohort = since(Teams());
  // As the next leader reads them.
  Condition active{.type = "Active", .status = "False", .reason = "Invalid"};
  active.last_transition = *ParseKubernetesTime(of_queue);
  stopped.conditions = {active};
  d_.Put(ObjectUpserted{stopped});
  Cohort cohort = CohortOf("teams", "teams");
  active.last_transition = *ParseKubernetesTime(of_cohort);
  cohort.conditions = {active};
  d_.Put(ObjectUpserted{cohort});
  d_.loop().SetRole(SchedulingLoop::Role::kStandby);
  d_.loop().SetRole(SchedulingLoop::Role::kLeader);
  const int written = d_.api.Count(kTeamsStatus);
  d_.Settle(absl::Minutes(2));
  EXPECT_GT(d_.api.Count(kTeamsStatus), written);
  EXPECT_EQ(since(d_.api.QueueStatus("a")), of_queue);
  EXPECT_EQ(since(Teams()), of_cohort);
}

TEST_F(QuotaReport, AStatusThatDidNotArriveIsWrittenAgainButNotAtOnce) {
  d_.api.Break({.on = kTeamsStatus, .times = 3, .code = 422});
  d_.Settle(absl::Milliseconds(500));
  EXPECT_EQ(d_.api.Count(kTeamsStatus), 1);
  d_.Settle(absl::Seconds(10));
  EXPECT_EQ(d_.api.Count(kTeamsStatus), 4);
  EXPECT_EQ(Active(), "True Ready: ");
}

TEST_F(QuotaReport, ACycleIsToldAtEveryCohortOnItUntilItIsGone) {
  d_.Put(ObjectUpserted{CohortOf("teams", "above", 4)});
  d_.Put(ObjectUpserted{CohortOf("above", "teams")});
  d_.Settle(absl::Seconds(5));
  const std::string cycle =
      "False Invalid: spec.parent: the cohorts form a cycle: above -> teams -> above";
  EXPECT_EQ(Active("teams"), cycle);
  EXPECT_EQ(Active("above"), cycle);
  d_.Put(ObjectUpserted{CohortOf("above", "", 4)});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(Active("teams"), "True Ready: ");
  EXPECT_EQ(Active("above"), "True Ready: ");
}

TEST_F(QuotaReport, TheViewHasCohortsThatNobodyHasCreated) {
  Queue lone = TeamQueue("c", 8);
  lone.cohort = "nobody-made-it";
  d_.Put(ObjectUpserted{lone});
  d_.Put(ObjectUpserted{CohortOf("teams", "company")});
  d_.Submit({.gang = "x", .pods = 3, .queue = "a"});
  d_.Settle(absl::Seconds(5));
  const ClusterViewPtr view = d_.loop().View(d_.now);
  ASSERT_EQ(view->cohorts.size(), 3u);
  EXPECT_EQ(view->cohorts[0].name, "company");
  EXPECT_EQ(view->cohorts[1].name, "nobody-made-it");
  EXPECT_THAT(view->cohorts[1].queues, ElementsAre("c"));
  EXPECT_EQ(view->cohorts[2].parent, "company");
  EXPECT_THAT(view->cohorts[2].queues, ElementsAre("a", "b"));
  ASSERT_EQ(view->cohorts[2].usage.size(), 1u);
  EXPECT_EQ(view->cohorts[2].usage[0].used, Amount(24));
}

TEST_F(QuotaReport, AnUnknownFlavorOfACohortIsTold) {
  Cohort cohort = CohortOf("teams", "", 4);
  cohort.quotas = {{.flavor = "h100", .resources = {{.resource = "cpu", .nominal = Amount(1)}}}};
  d_.Put(ObjectUpserted{cohort});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(Active(), "False Invalid: spec.quotas: flavor \"h100\" does not exist");
}

TEST_F(QuotaReport, AGangWithoutQuotaSaysWhatItLacksAndWhoHasIt) {
  d_.Submit({.gang = "x", .pods = 3, .queue = "a"});
  d_.Settle(absl::Seconds(5));
  d_.Submit({.gang = "y", .pods = 2, .queue = "b"});
  d_.Submit({.gang = "z", .pods = 2, .queue = "b"});
  d_.Settle(absl::Seconds(5));
  const GangView y = ViewOf("y");
  ASSERT_TRUE(y.quota.has_value()) << y.reason << ": " << y.message;
  EXPECT_EQ(y.quota->cohort, "teams");
  EXPECT_EQ(y.quota->needs, Amount(16));
  EXPECT_EQ(y.quota->available, Amount(8));
  EXPECT_EQ(y.quota->borrowable, Amount(0));
  EXPECT_EQ(y.quota->most, Amount(32));
  EXPECT_THAT(y.quota->borrowers, ElementsAre(BorrowerView{"a", Amount(8)}));
  EXPECT_THAT(y.message, HasSubstr("; borrowed by a (8)"));
  EXPECT_THAT(d_.StatusOf("y").message, HasSubstr("; borrowed by a (8)"));
  EXPECT_EQ(y.queue_position + ViewOf("z").queue_position, 3);
  EXPECT_FALSE(ViewOf("x").quota.has_value());
}

}  // namespace
}  // namespace maniple
