#include "scheduler/app/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHead[] =
    "apiVersion: config.maniple.dev/v1alpha1\n"
    "kind: SchedulerConfiguration\n";

absl::StatusOr<SchedulerConfig> Parse(absl::string_view rest) {
  return ParseSchedulerConfig(absl::StrCat(kHead, rest), "s.yaml");
}

TEST(SchedulerConfig, AnEmptyFileOfTheRightKindMeansTheDefaults) {
  const absl::StatusOr<SchedulerConfig> config = Parse("");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->scheduler_names, ElementsAre("maniple"));
  EXPECT_TRUE(config->leader_election.enabled);
  EXPECT_EQ(config->max_in_flight, 32);
  EXPECT_TRUE(config->inert.empty());
}

TEST(SchedulerConfig, EveryFieldArrives) {
  const absl::StatusOr<SchedulerConfig> config = Parse(
      "schedulerNames: [maniple, batch]\n"
      "defaultQueue: shared\n"
      "leaderElection: {enabled: false, leaseName: l, leaseNamespace: n, leaseDuration: 30s, "
      "renewDeadline: 20s, "
      "retryPeriod: 1500ms}\n"
      "client: {maxInFlight: 16, qps: 250}\n"
      "events: {perPod: Never}\n"
      "fairSharing: {enabled: false, strategies: [LessThanInitialShare]}\n"
      "plugins: {filters: {disabled: [HostPorts]}, scores: [{name: Packing, weight: 7}]}\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->scheduler_names, ElementsAre("maniple", "batch"));
  EXPECT_EQ(config->default_queue, "shared");
  EXPECT_FALSE(config->leader_election.enabled);
  EXPECT_EQ(config->leader_election.lease_name, "l");
  EXPECT_EQ(config->leader_election.retry_period, absl::Milliseconds(1500));
  EXPECT_EQ(config->max_in_flight, 16);
  EXPECT_EQ(config->most_writes_per_second, 250);
  EXPECT_EQ(config->pod_events, PerPodEvents::kNever);
  EXPECT_EQ(config->fair_sharing, FairSharing::kOff);
  EXPECT_THAT(config->fair_strategies, ElementsAre(FairStrategy::kLessThanInitialShare));
  EXPECT_THAT(config->disabled_filters, ElementsAre("HostPorts"));
  ASSERT_EQ(config->score_weights.size(), 1);
  EXPECT_EQ(config->score_weights[0].weight, 7);
}

TEST(SchedulerConfig, FieldsWithoutEffectAreAcceptedAndNamed) {
  const absl::StatusOr<SchedulerConfig> config =
      Parse("preemption: {ignorePDB: true}\ngpu: {productTable: {}}\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->inert, ElementsAre("preemption", "gpu"));
}

TEST(SchedulerConfig, SaysWhenRoomIsHeldAndForHowMany) {
  const absl::StatusOr<SchedulerConfig> config =
      Parse("holds: {maxPerCohort: 2}\ntimeouts: {reservationAfter: 2s}\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->holds_per_cohort, 2);
  EXPECT_EQ(config->reservation_after, absl::Seconds(2));
  EXPECT_FALSE(Parse("holds: {maxPerCohort: 0}\n").ok());
  EXPECT_FALSE(Parse("timeouts: {reservationAfter: -1s}\n").ok());
  EXPECT_FALSE(Parse("timeouts: {reservationAfter: soon}\n").ok());
}

struct Refusal {
  const char* rest;
  const char* expected;
};

class RefusedConfig : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedConfig, NamesFileLineAndPath) {
  const absl::StatusOr<SchedulerConfig> config = Parse(GetParam().rest);
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(std::string(config.status().message()), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedConfig,
    testing::Values(
        Refusal{"cleint: {}\n", "s.yaml:3: cleint: unknown field"},
        Refusal{"client:\n  maxInFlight: many\n",
                "s.yaml:4: client.maxInFlight: expected an integer, got \"many\""},
        Refusal{"client: {maxInFlight: 0}\n", "client.maxInFlight: 0 is outside 1..512"},
        Refusal{"client: 7\n", "s.yaml:3: client: expected a map, got 7"},
        Refusal{"schedulerNames: []\n", "schedulerNames: needs at least one name"},
        Refusal{"schedulerNames: [a, 3]\n", "schedulerNames[1]: expected a string"},
        Refusal{"leaderElection: {leaseDuration: 15}\n",
                "leaderElection.leaseDuration: expected a duration"},
        Refusal{"leaderElection: {leaseDuration: -1s}\n", "\"-1s\" is not a duration"},
        Refusal{"leaderElection: {leaseDuration: 5s}\n",
                "leaseDuration must be greater than renewDeadline"},
        Refusal{"events: {perPod: Sometimes}\n", "events.perPod: expected Auto, Always or Never"},
        Refusal{"plugins: {scores: [{weight: 1}]}\n", "plugins.scores[0].name: is required"},
        Refusal{"a: [\n", "s.yaml"}));

TEST(SchedulerConfig, TellsEveryProblemAtOnce) {
  const absl::StatusOr<SchedulerConfig> config = Parse("x: 1\ny: 2\n");
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(std::string(config.status().message()),
              HasSubstr("s.yaml:3: x: unknown field\ns.yaml:4: y: unknown field"));
}

TEST(SchedulerConfig, AnotherKindIsRefused) {
  EXPECT_FALSE(ParseSchedulerConfig("apiVersion: v1\nkind: Pod\n", "s.yaml").ok());
  EXPECT_FALSE(ParseSchedulerConfig("", "s.yaml").ok());
  EXPECT_FALSE(ParseSchedulerConfig("[1, 2]", "s.yaml").ok());
}

}  // namespace
}  // namespace maniple
