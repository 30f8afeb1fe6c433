// The operator surfaces: views as JSON, tables, metrics, and the doors between threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/app/answers/admin_view.h"
#include "scheduler/app/answers/printing.h"
#include "scheduler/app/doors/bulletin.h"
#include "scheduler/app/doors/decision_file.h"
#include "scheduler/app/doors/inbox.h"
#include "scheduler/app/metrics/metrics.h"
#include "scheduler/app/spare_memory.h"
#include "scheduler/cli/listing.h"
#include "scheduler/cli/usage_table.h"
#include "test/support/temp_folder.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ClusterView SomeCluster() {
  ClusterView view;
  GangView waiting{.namespace_name = "research",
                   .name = "big",
                   .queue = "team",
                   .phase = "Pending",
                   .reason = "NoFit",
                   .message = "0 of 2 pods fit",
                   .min_member = 2};
  waiting.stage = "nodes";
  waiting.position = 1;
  waiting.members = {.total = 2, .pending = 2};
  waiting.pods = {{.pod = "big-0", .node = "", .state = "pending"},
                  {.pod = "big-1", .node = "", .state = "pending"}};
  waiting.node_reasons = {{.text = "insufficient nvidia.com/gpu (want 8, have 2)", .nodes = 3}};
  GangView over = waiting;
  over.name = "over";
  over.reason = "QuotaExceeded";
  over.stage = "quota";
  over.pods.clear();
  over.node_reasons.clear();
  over.position = 7;
  over.queue_position = 2;
  over.preemption = "2 gangs may be evicted, and even without them quota would be lacking";
  over.planned_start = {.at = absl::FromUnixSeconds(7200),
                        .first_at = absl::FromUnixSeconds(3600),
                        .estimated = true};
  over.quota = {.queue = "team",
                .cohort = "all",
                .flavor = "h100",
                .resource = "nvidia.com/gpu",
                .needs = Amount(16),
                .available = Amount(6),
                .borrowable = Amount(4),
                .most = Amount(24),
                .nominal = Amount(8),
                .used = Amount(6),
                .borrowers = {{"b", Amount(8)}, {"c", Amount(1)}}};
  view.gangs = {waiting, over};
  view.nodes = {
      {.name = "n1",
       .resources = {{.resource = "cpu", .allocatable = Amount(64000), .free = Amount(1500)},
                     {.resource = "nvidia.com/gpu", .allocatable = Amount(8), .free = Amount(2)}},
       .pods = 3,
       .gangs = {"research/x"}}};
  view.queues = {
      {.name = "team",
       .cohort = "all",
       .pending = 1,
       .fair_share = 125,
       .usage = {{.flavor = "",
                  .resource = "cpu",
                  .nominal = Amount(4000),
                  .used = Amount(2500),
                  .lent = Amount(1000)},
                 {.flavor = "h100",
                  .resource = "nvidia.com/gpu",
                  .nominal = Amount(8),
                  .used = Amount(12),
                  .borrowed = Amount(4)}}},
      {.name = "wrong",
       .stop_policy = "Hold",
       .problem = "flavor \"x\" does not exist",
       .uncharged = 2},
      {.name = "zero", .stop_policy = "Hold", .fair_share = std::numeric_limits<int64_t>::max()}};
  return view;
}

Json Page(absl::string_view target) {
  const absl::StatusOr<std::string> text = AdminJson(SomeCluster(), ParseAdminTarget(target));
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? *Json::Parse(*text) : Json();
}

TEST(AdminJson, ExplainsAGangByItsNameOrByAMember) {
  EXPECT_EQ(Page("/explain?namespace=research&name=big")["reason"].AsString(), "NoFit");
  EXPECT_EQ(Page("/explain?namespace=research&name=big-1")["name"].AsString(), "big");
}

TEST(AdminJson, AnUnknownGangIsNotFoundAndNamed) {
  const absl::StatusOr<std::string> text =
      AdminJson(SomeCluster(), ParseAdminTarget("/explain?namespace=research&name=nobody"));
  ASSERT_FALSE(text.ok());
  EXPECT_TRUE(absl::IsNotFound(text.status()));
  EXPECT_THAT(std::string(text.status().message()), HasSubstr("nobody"));
  EXPECT_TRUE(absl::IsNotFound(AdminJson(SomeCluster(), ParseAdminTarget("/secret")).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(AdminJson(SomeCluster(), ParseAdminTarget("/explain")).status()));
}

TEST(AdminJson, ListsOnlyTheNamespaceThatIsAskedFor) {
  EXPECT_EQ(Page("/gangs")["items"].size(), 2);
  EXPECT_EQ(Page("/gangs?namespace=other")["items"].size(), 0);
}

TEST(AdminJson, AmountsAreKubernetesQuantities) {
  EXPECT_EQ(Page("/nodes")["items"].items()[0]["resources"].items()[0]["free"].AsString(), "1500m");
  const Json usage = Page("/queues")["items"].items()[0]["usage"].items()[0];
  EXPECT_EQ(usage["used"].AsString(), "2500m");
  EXPECT_EQ(usage["nominal"].AsString(), "4");
  EXPECT_EQ(usage["lent"].AsString(), "1");
  EXPECT_EQ(usage["borrowed"].AsString(), "0");
}

TEST(AdminJson, GivesEveryFlavorItsOwnUsage) {
  const Json queue = Page("/queues")["items"].items()[0];
  EXPECT_EQ(queue["fairShare"].AsString(), "125");
  const Json usage = queue["usage"].items()[1];
  EXPECT_EQ(usage["flavor"].AsString(), "h100");
  EXPECT_EQ(usage["used"].AsString(), "12");
  EXPECT_EQ(usage["borrowed"].AsString(), "4");
}

TEST(AdminJson, OnlyALimitThatThereIsIsTold) {
  ClusterView view = SomeCluster();
  view.queues[0].usage[1].borrowing_limit = Amount(0);
  const Json queues = *Json::Parse(*AdminJson(view, ParseAdminTarget("/queues")));
  const Json usage = queues["items"].items()[0]["usage"].items()[1];
  EXPECT_EQ(usage["borrowingLimit"].AsString(), "0");
  EXPECT_TRUE(usage["lendingLimit"].is_null());
}

TEST(AdminJson, TheQuotaLineStandsOnlyWhereQuotaIsInTheWay) {
  EXPECT_TRUE(Page("/explain?namespace=research&name=big")["quota"].is_null());
  const Json gang = Page("/explain?namespace=research&name=over");
  EXPECT_EQ(gang["queuePosition"].AsString(), "2");
  EXPECT_EQ(gang["quota"]["needs"].AsString(), "16");
  EXPECT_EQ(gang["plannedStart"]["at"].AsString(), "7200");
  EXPECT_EQ(gang["quota"]["borrowable"].AsString(), "4");
  EXPECT_EQ(gang["quota"]["borrowers"].items()[0]["queue"].AsString(), "b");
}

Json UsageOf(absl::string_view target) {
  ClusterView view = SomeCluster();
  view.used_without_queue = {{"guests", "", "nvidia.com/gpu", 1800, 0}};
  view.queues.front().used = {{"audio", "h100", "nvidia.com/gpu", 7200, 3600},
                              {"research", "", "nvidia.com/gpu", 3600, 0},
                              {"research", "h100", "nvidia.com/gpu", 36'000, 1800}};
  return *Json::Parse(AdminJson(view, ParseAdminTarget(target)).value());
}

TEST(Printing, GpuHoursAreSummedByWhatIsAskedFor) {
  const Json all = UsageOf("/usage");
  EXPECT_EQ(UsageTable(UsageBy(all, {"queue"}), {"queue"}),
            "QUEUE  RESOURCE        HOURS  RECENT  STARTED  MEAN WAIT  LEFT\n"
            "-      nvidia.com/gpu  0.5    0.0\n"
            "team   nvidia.com/gpu  13.0   1.5     0        -          -\n");
  EXPECT_EQ(UsageTable(UsageBy(all, {"namespace", "flavor"}), {"namespace", "flavor"}),
            "NAMESPACE  FLAVOR  RESOURCE        HOURS  RECENT\n"
            "audio      h100    nvidia.com/gpu  2.0    1.0\n"
            "guests     -       nvidia.com/gpu  0.5    0.0\n"
            "research   -       nvidia.com/gpu  1.0    0.0\n"
            "research   h100    nvidia.com/gpu  10.0   0.5\n");
  const Json audio = UsageBy(UsageOf("/usage?namespace=audio"), {"queue"});
  EXPECT_EQ(audio.Dump(),
            R"({"items":[{"queue":"team","name":"nvidia.com/gpu","total":7200,"recent":3600}]})");
}

TEST(Printing, PlannedStartsStandInOrderOfService) {
  const std::string starts = StartTable(Page("/gangs"), absl::FromUnixSeconds(6000));
  EXPECT_THAT(starts, HasSubstr("1970-01-01 02:00:00 UTC"));
  EXPECT_THAT(starts, HasSubstr("QuotaExceeded"));
  EXPECT_THAT(Names(Page("/gangs"), "podgroup"), HasSubstr("podgroup/big\n"));
  EXPECT_THAT(WideGangTable(Page("/gangs"), absl::UnixEpoch()), HasSubstr("DECLARED BY"));
}

TEST(Printing, QueuesSayWhatTheyBorrowAndWhatOthersHaveOfTheirs) {
  ClusterView view = SomeCluster();
  QueueView& team = view.queues.front();
  team.pending_by_reason = {{"NoFit", 1}, {"QuotaExceeded", 2}};
  team.history.waited.Note(absl::Minutes(2));
  team.history.waited.Note(absl::Minutes(4));
  team.history.left[static_cast<size_t>(LeavingCause::kPreempted)] = 3;
  const std::string why =
      QueueReasons(*Json::Parse(AdminJson(view, ParseAdminTarget("/queues")).value()));
  EXPECT_THAT(why, HasSubstr("  waiting: 1 NoFit, 2 QuotaExceeded\n  since this leader began: 2 "
                             "started after 3m on average; left: 3 Preempted\n"));
  EXPECT_THAT(why, HasSubstr("team in cohort all: 0 of its gangs run, 1 wait, share 125\n"));
  EXPECT_THAT(why,
              HasSubstr("  cpu: uses 2500m, its own quota is 4, 1 of its own is lent to others\n"));
  EXPECT_THAT(
      why,
      HasSubstr("h100/nvidia.com/gpu: uses 12, its own quota is 8, 4 of what it uses is borrowed"));
  EXPECT_THAT(why, HasSubstr("starts nothing: flavor \"x\" does not exist"));
}

TEST(Printing, ExplanationCountsAllNodesAndGivesTheReasons) {
  const std::string text =
      Explanation(Page("/explain?namespace=research&name=big"), absl::UnixEpoch());
  EXPECT_THAT(text, HasSubstr("research/big: Pending (NoFit)"));
  EXPECT_THAT(text, HasSubstr("nodes (3):"));
  EXPECT_THAT(text, HasSubstr("3: insufficient nvidia.com/gpu (want 8, have 2)"));
}

TEST(Printing, ExplanationSaysWhatOfTheQuotaIsLackingAndWhoHasIt) {
  const std::string text =
      Explanation(Page("/explain?namespace=research&name=over"), absl::UnixEpoch());
  EXPECT_THAT(text,
              HasSubstr("position      2 in its queue, 7 of all by priority and waiting time\n"));
  EXPECT_THAT(text,
              HasSubstr("quota         h100/nvidia.com/gpu: needs 16, available 6 (of which 4 "
                        "to borrow from cohort all), at most 24; used 6 of nominal 8; "
                        "borrowing: b 8, c 1\n"));
}

TEST(Printing, ExplanationSaysWhenItIsPlannedToStartAndWhenItWasAtFirst) {
  EXPECT_THAT(
      Explanation(Page("/explain?namespace=research&name=over"), absl::FromUnixSeconds(6000)),
      HasSubstr("planned start 1970-01-01 02:00:00 UTC or so, in 20m (first planned for "
                "1970-01-01 01:00:00 UTC)\n"));
  EXPECT_THAT(Explanation(Page("/explain?namespace=research&name=big"), absl::UnixEpoch()),
              Not(HasSubstr("planned start")));
}

TEST(Printing, ExplanationSaysWhyEvictingOthersDoesNotHelp) {
  EXPECT_THAT(
      Explanation(Page("/explain?namespace=research&name=over"), absl::UnixEpoch()),
      HasSubstr("preemption    2 gangs may be evicted, and even without them quota would be "
                "lacking\n"));
  EXPECT_THAT(Explanation(Page("/explain?namespace=research&name=big"), absl::UnixEpoch()),
              Not(HasSubstr("preemption")));
}

TEST(Printing, CohortsStandBelowTheirParents) {
  const absl::StatusOr<Json> cohorts = Json::Parse(R"({"items":[
      {"name":"a","parent":"root","queues":["blue","red"],"usage":[
        {"flavor":"","name":"cpu","used":"3","nominal":"8","borrowed":"0","lent":"1"},
        {"flavor":"h100","name":"nvidia.com/gpu","used":"16","nominal":"8","borrowed":"8","lent":"0"}],
       "fairShare":"250"},
      {"name":"lost","parent":"lost","problem":"spec.parent: a cycle"},
      {"name":"root","queues":["infra"],"usage":[]}]})");
  ASSERT_TRUE(cohorts.ok()) << cohorts.status();
  EXPECT_EQ(CohortTable(*cohorts),
            "COHORT  QUEUES     SHARE  QUOTA                USED  NOMINAL  BORROWED  LENT\n"
            "lost    -          0      -                    -     -        -         -\n"
            "root    infra      0      -                    -     -        -         -\n"
            "  a     blue, red  250    cpu                  3     8        0         1\n"
            "                          h100/nvidia.com/gpu  16    8        8         0\n"
            "lost is inactive: spec.parent: a cycle\n");
}

TEST(Printing, QueuesShowALinePerQuota) {
  EXPECT_EQ(
      QueueTable(Page("/queues")),
      R"(QUEUE  COHORT  STATE           PENDING  RUNNING  PODS  SHARE     QUOTA                USED   NOMINAL  BORROWED  LENT
team   all     Active          1        0        0/0   125       cpu                  2500m  4        0         1
                                                                 h100/nvidia.com/gpu  12     8        4         0
wrong  -       Invalid         0        0        0/0   0         -                    -      -        -         -
zero   -       Stopped (Hold)  0        0        0/0   infinite  -                    -      -        -         -
wrong is inactive: flavor "x" does not exist
wrong is not charged for 2 gangs that name it, running in namespaces that it does not admit
)");
}

TEST(Printing, TablesAlignAndHaveNoTrailingSpaces) {
  EXPECT_EQ(Table({{"A", "LONG"}, {"xyz", "1"}, {"q"}}), "A    LONG\nxyz  1\nq\n");
}

TEST(Printing, AgesReadAsKubectlWritesThem) {
  EXPECT_EQ(Age(absl::Seconds(5)), "5s");
  EXPECT_EQ(Age(absl::Minutes(3)), "3m");
  EXPECT_EQ(Age(absl::Hours(49)), "2d");
  EXPECT_EQ(Age(-absl::Seconds(5)), "0s");
}

TEST(Metrics, EveryCounterIsRenderedWithItsLabels) {
  LoopCounters counters;
  counters.gangs_bound = 3;
  counters.binds_unknown = 2;
  counters.events_over_budget = 4;
  const std::string text =
      RenderMetrics(counters, {.leading = true, .synced = true, .version = "1"});
  EXPECT_THAT(text, HasSubstr("maniple_gangs_bound_total 3"));
  EXPECT_THAT(text, HasSubstr("maniple_events_dropped_total{reason=\"object_budget\"} 4"));
  EXPECT_THAT(text, HasSubstr("maniple_binds_total{outcome=\"unknown\"} 2"));
  EXPECT_THAT(text, HasSubstr("leader_election_master_status{name=\"maniple-scheduler\"} 1"));
}

TEST(Metrics, DecisionsAreTimedByWhatCameOfThem) {
  LoopCounters counters;
  counters.took_to_place.Note(absl::Microseconds(200));
  const std::string text = RenderMetrics(counters, {});
  EXPECT_THAT(text, HasSubstr("maniple_decision_duration_seconds_bucket{result=\"placed\",le="
                              "\"0.00025\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("maniple_decision_duration_seconds_count{result=\"rejected\"} 0\n"));
}

TEST(Metrics, AnswersOfTheApiServerAreToldAsClientGoTellsThem) {
  DurationHistogram<AnswerScale> times;
  times.Note(absl::Milliseconds(20));
  const std::string text = RenderMetrics(
      {}, {.api_server = "10.0.0.1:6443",
           .answers = {.counts = {{{HttpMethod::kPost, 201}, 7}, {{HttpMethod::kGet, 0}, 1}},
                       .times = {{HttpMethod::kPost, times}}}});
  const absl::string_view name = "rest_client_requests_total{code=";
  EXPECT_THAT(text,
              HasSubstr(absl::StrCat(name, R"("201",host="10.0.0.1:6443",method="POST"} 7)")));
  EXPECT_THAT(text,
              HasSubstr(absl::StrCat(name, R"("<error>",host="10.0.0.1:6443",method="GET"} 1)")));
  EXPECT_THAT(text,
              HasSubstr("rest_client_request_duration_seconds_bucket{host=\"10.0.0.1:6443\",verb="
                        "\"POST\",le=\"0.025\"} 1\n"));
}

TEST(Metrics, LinesOfWritesAreToldAsClientGoTellsOfWorkQueues) {
  WriteLines writes;
  writes[static_cast<size_t>(WritePriority::kEvent)] = {.added = 9, .retried = 2, .waiting = 3};
  const std::string text = RenderMetrics({}, {.writes = writes});
  for (const char* line :
       {"workqueue_depth{name=\"event\"} 3\n", "workqueue_adds_total{name=\"event\"} 9\n",
        "workqueue_retries_total{name=\"event\"} 2\n", "workqueue_depth{name=\"bind\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

std::string MetricsOf(std::vector<QueueView> queues) {
  return RenderMetrics({}, {.leading = true,
                            .figures = std::make_shared<const ClusterFigures>(
                                ClusterFigures{.queues = std::move(queues)}),
                            .now = absl::FromUnixSeconds(100)});
}

TEST(Metrics, ALeaderTellsWhatEachQueueUsesAndHowLongItsOldestGangWaits) {
  std::vector<QueueView> queues = SomeCluster().queues;
  queues[0].oldest_pending = absl::FromUnixSeconds(40);
  for (QuotaUsageView& usage : queues[0].usage) {
    if (usage.flavor == "h100") usage.borrowing_limit = Amount(6);
    if (usage.flavor == "h100") usage.held = Amount(3);
  }
  queues[0].asked = {{"memory", Amount(5)}, {"nvidia.com/gpu", Amount(12)}};
  const std::string text = MetricsOf(queues);
  EXPECT_THAT(text, HasSubstr("maniple_queue_pending_gangs{queue=\"team\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("maniple_queue_nominal_quota{cohort=\"all\",queue=\"team\",flavor="
                              "\"h100\",resource=\"nvidia.com/gpu\"} 8\n"));
  EXPECT_THAT(text, HasSubstr("maniple_queue_resource_usage{cohort=\"all\",queue=\"team\",flavor="
                              "\"\",resource=\"cpu\"} 2.5\n"));
  EXPECT_THAT(text, HasSubstr("maniple_queue_resource_borrowed{cohort=\"all\",queue=\"team\","
                              "flavor=\"h100\",resource=\"nvidia.com/gpu\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("maniple_queue_borrowing_limit{cohort=\"all\",queue=\"team\",flavor="
                              "\"h100\",resource=\"nvidia.com/gpu\"} 6\n"));
  EXPECT_THAT(text, Not(HasSubstr("maniple_queue_lending_limit{")));
  EXPECT_THAT(text, HasSubstr("maniple_queue_resource_held{cohort=\"all\",queue=\"team\",flavor="
                              "\"h100\",resource=\"nvidia.com/gpu\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("maniple_queue_resource_pending{cohort=\"all\",queue=\"team\","
                              "resource=\"cpu\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("maniple_queue_resource_pending{cohort=\"all\",queue=\"team\","
                              "resource=\"nvidia.com/gpu\"} 12\n"));
  EXPECT_THAT(text, Not(HasSubstr("resource=\"memory\"")));
  EXPECT_THAT(text, HasSubstr("maniple_oldest_pending_gang_age_seconds{queue=\"team\"} 60\n"));
  EXPECT_THAT(text, HasSubstr("maniple_oldest_pending_gang_age_seconds{queue=\"wrong\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("maniple_queue_active{queue=\"wrong\"} 0\n"));
}

TEST(Metrics, ALeaderTellsOfEachQueueWhyGangsWaitHowLongTheyDidAndWhyTheyLeft) {
  std::vector<QueueView> queues = SomeCluster().queues;
  queues[0].pending_by_reason = {{"NoFit", 2}};
  queues[0].history.waited.Note(absl::Seconds(45));
  queues[0].history.bound.Note(absl::Milliseconds(7));
  queues[0].history.ready.Note(absl::Seconds(90));
  queues[0].history.left[static_cast<size_t>(LeavingCause::kDrained)] = 4;
  queues[0].history.preempted[static_cast<size_t>(VictimsOf::kOtherQueue)] = 6;
  queues[0].history.lost["nvidia.com/gpu"] = 7200;
  queues[0].used = {{"a", "h100", "nvidia.com/gpu", 10, 0}, {"b", "h100", "nvidia.com/gpu", 5, 0}};
  queues.push_back({.pending_by_reason = {{"WaitingForMembers", 1}}});  // without a Queue
  const std::string text = MetricsOf(queues);
  for (const char* line : {"maniple_pending_gangs{queue=\"team\",reason=\"NoFit\"} 2\n",
                           "maniple_pending_gangs{queue=\"\",reason=\"WaitingForMembers\"} 1\n",
                           "maniple_resource_seconds_total{queue=\"team\",flavor=\"h100\","
                           "resource=\"nvidia.com/gpu\"} 15\n",
                           "maniple_gang_wait_seconds_bucket{queue=\"team\",le=\"30\"} 0\n",
                           "maniple_gang_wait_seconds_bucket{queue=\"team\",le=\"60\"} 1\n",
                           "maniple_gang_wait_seconds_sum{queue=\"team\"} 45\n",
                           "maniple_gang_bind_seconds_bucket{queue=\"team\",le=\"0.01\"} 1\n",
                           "maniple_gang_ready_seconds_bucket{queue=\"team\",le=\"120\"} 1\n",
                           "maniple_evicted_gangs_total{queue=\"team\",reason=\"Drained\"} 4\n",
                           "maniple_preempted_gangs_total{preempting_queue=\"team\",reason="
                           "\"OtherQueue\"} 6\n",
                           "maniple_lost_resource_seconds_total{queue=\"team\",resource="
                           "\"nvidia.com/gpu\"} 7200\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("maniple_gang_wait_seconds_count{queue=\"wrong\"}")));
  EXPECT_THAT(text, Not(HasSubstr("maniple_queue_pending_gangs{queue=\"\"}")));
}

TEST(Metrics, ALeaderTellsWhatAllGpusAre) {
  const ClusterFigures figures{.gpus = {{"h100", "nvidia.com/gpu", {8, 0, 4, 2, 2}}}};
  const std::string text = RenderMetrics(
      {}, {.leading = true, .figures = std::make_shared<const ClusterFigures>(figures)});
  EXPECT_THAT(text, HasSubstr("maniple_gpus{flavor=\"h100\",resource=\"nvidia.com/gpu\",state="
                              "\"cordoned\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("state=\"used\"} 8\n"));
  EXPECT_THAT(RenderMetrics({}, {}), Not(HasSubstr("maniple_gpus{")));
}

TEST(Metrics, ALeaderTellsHowMuchIsLeftInOnePiece) {
  const ClusterFigures figures{
      .levels = {{.level = "rack", .largest_gang_gpus = 24, .free_slices = {{1, 5}, {2, 2}}}}};
  const std::string text = RenderMetrics(
      {}, {.leading = true, .figures = std::make_shared<const ClusterFigures>(figures)});
  EXPECT_THAT(text, HasSubstr("maniple_largest_gang_gpus{level=\"rack\"} 24\n"));
  EXPECT_THAT(text, HasSubstr("maniple_free_slices{level=\"rack\",size=\"2\"} 2\n"));
  EXPECT_THAT(RenderMetrics({}, {}), Not(HasSubstr("maniple_free_slices{")));
}

TEST(Metrics, ALeaderTellsWhatEachCohortHasAndUses) {
  const ClusterFigures figures{.cohorts = {{.name = "all",
                                            .parent = "company",
                                            .fair_share = 125,
                                            .usage = {{.flavor = "h100",
                                                       .resource = "nvidia.com/gpu",
                                                       .nominal = Amount(64),
                                                       .used = Amount(40),
                                                       .borrowed = Amount(8)}}}}};
  const std::string text = RenderMetrics(
      {}, {.leading = true, .figures = std::make_shared<const ClusterFigures>(figures)});
  const std::string of = R"({cohort="all",flavor="h100",resource="nvidia.com/gpu"} )";
  EXPECT_THAT(text, HasSubstr("maniple_cohort_info{cohort=\"all\",parent=\"company\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("maniple_cohort_fair_share{cohort=\"all\"} 125\n"));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("maniple_cohort_subtree_quota", of, "64\n")));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("maniple_cohort_resource_usage", of, "40\n")));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("maniple_cohort_resource_borrowed", of, "8\n")));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("maniple_cohort_resource_lent", of, "0\n")));
}

TEST(Metrics, WithoutFiguresNothingIsToldOfQueuesAndAQueueThatIsGoneLeavesNoSeries) {
  EXPECT_THAT(RenderMetrics({}, {}), Not(HasSubstr("maniple_queue_")));
  EXPECT_THAT(MetricsOf({}), Not(HasSubstr("team")));
}

TEST(Metrics, TurnsAreCountedUpToEachBound) {
  TurnTimes turns;
  turns.Note(absl::Microseconds(10));
  turns.Note(absl::Milliseconds(3));
  turns.Note(absl::Seconds(20));
  const std::string text = RenderMetrics({}, {.turns = turns});
  EXPECT_THAT(text, HasSubstr("maniple_turn_duration_seconds_bucket{le=\"1e-05\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("maniple_turn_duration_seconds_bucket{le=\"0.005\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("maniple_turn_duration_seconds_bucket{le=\"10\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("maniple_turn_duration_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("maniple_turn_duration_seconds_count 3\n"));
}

TEST(SpareMemory, GivesBackOnlyWhatHasBeenFreeForAWholePeriod) {
  constexpr size_t kMiB = size_t{1} << 20;
  EXPECT_EQ(SpareMemory::Surplus(0, 100 * kMiB), 0);
  EXPECT_EQ(SpareMemory::Surplus(100 * kMiB, 30 * kMiB), 30 * kMiB - SpareMemory::kKept);
  EXPECT_EQ(SpareMemory::Surplus(30 * kMiB, 100 * kMiB), 30 * kMiB - SpareMemory::kKept);
  EXPECT_EQ(SpareMemory::Surplus(SpareMemory::kKept, 100 * kMiB), 0);
}

TEST(Metrics, AProcessWhoseNameHasBlanksAndParenthesesIsReadAllTheSame) {
  ProcessFigures figures;
  ReadProcessStat("7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 9 0 200 1000 3 0 0",
                  "cpu 1 2\nbtime 1000\n", 100, 4096, figures);
  EXPECT_EQ(figures.cpu_seconds, 2);
  EXPECT_EQ(figures.start_seconds, 1002);
  EXPECT_EQ(figures.resident_bytes, 3 * 4096);
  EXPECT_GT(FiguresOfThisProcess().open_descriptors, 2);
}

TEST(Metrics, WhatIsForbiddenIsNamedAsARoleNamesIt) {
  LoopCounters counters;
  counters.forbidden[{"create", "", "pods/eviction"}] = 3;
  const std::string text = RenderMetrics(
      counters,
      {.version = "1", .forbidden = {{{{"update", "coordination.k8s.io", "leases"}, 2}}}});
  EXPECT_THAT(text, HasSubstr("maniple_requests_forbidden_total{group=\"\",resource="
                              "\"pods/eviction\",verb=\"create\"} 3"));
  EXPECT_THAT(text, HasSubstr("resource=\"leases\",verb=\"update\"} 2"));
}

TEST(DecisionFile, APipeThatNobodyReadsIsRefusedAtOnce) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.In("log").c_str(), 0600), 0);
  const auto file = DecisionFile::Open(folder.In("log"));
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()), HasSubstr(folder.In("log")));
}

TEST(Inbox, ATakenBatchIsNotGivenAgain) {
  Inbox inbox;
  inbox.Push({.events = {KindSynced{ResourceKind::kPod}}});
  EXPECT_EQ(inbox.Take(absl::ZeroDuration()).news.events.size(), 1);
  EXPECT_TRUE(inbox.Take(absl::ZeroDuration()).news.events.empty());
}

TEST(Bulletin, AViewIsMadeWhenItIsAskedForAndNotBefore) {
  Bulletin bulletin;
  EXPECT_FALSE(bulletin.ViewWanted());
  const ClusterViewPtr view = bulletin.FreshView(absl::Seconds(5), [&] {
    ASSERT_TRUE(bulletin.ViewWanted());
    bulletin.BeginView(absl::UnixEpoch());
    bulletin.PostView(std::make_unique<ClusterView>(SomeCluster()));
  });
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->gangs.size(), 2);
  EXPECT_FALSE(bulletin.ViewWanted());
}

TEST(Bulletin, AViewThatWasBegunBeforeItWasWantedIsNotFresh) {
  Bulletin bulletin;
  bulletin.BeginView(absl::UnixEpoch());
  const ClusterViewPtr view = bulletin.FreshView(absl::Seconds(5), [&] {
    bulletin.PostView(std::make_unique<ClusterView>());
    EXPECT_TRUE(bulletin.ViewWanted()) << "another one";
    bulletin.BeginView(absl::UnixEpoch());
    bulletin.PostView(std::make_unique<ClusterView>(SomeCluster()));
  });
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->gangs.size(), 2);
}

TEST(Bulletin, ItsFirstReaderPutsAViewInOrder) {
  Bulletin bulletin;
  bulletin.BeginView(absl::UnixEpoch());
  auto view = std::make_unique<ClusterView>();
  view->gangs = {{.namespace_name = "b", .name = "a"}, {.namespace_name = "a", .name = "z"}};
  bulletin.PostView(std::move(view));
  EXPECT_EQ(bulletin.ViewSince(absl::UnixEpoch())->gangs[0].name, "z");
}

}  // namespace
}  // namespace maniple
