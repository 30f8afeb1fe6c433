#include "scheduler/app/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/producers/gang_directory.h"
#include "scheduler/app/config/loop_settings.h"

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
      "plugins: {filters: {disabled: [NodePorts]}, scores: [{name: Packing, weight: 7}]}\n");
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
  EXPECT_THAT(config->disabled_filters, ElementsAre("NodePorts"));
  ASSERT_EQ(config->score_weights.size(), 1);
  EXPECT_EQ(config->score_weights[0].weight, 7);
}

TEST(SchedulerConfig, SaysWhereHttpIsServedAndHow) {
  EXPECT_EQ(Parse("")->http.address, "");
  const absl::StatusOr<SchedulerConfig> config = Parse(
      "http:\n"
      "  address: 0.0.0.0:10259\n"
      "  healthAddress: 127.0.0.1:0\n"
      "  tls: {certFile: a.crt, privateKeyFile: a.key, clientCAFile: ca.crt}\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->http.address, "0.0.0.0:10259");
  EXPECT_EQ(config->http.health_address, "127.0.0.1:0");
  EXPECT_FALSE(config->http.insecure);
  EXPECT_EQ(config->http.tls.certificate, "a.crt");
  EXPECT_EQ(config->http.tls.key, "a.key");
  EXPECT_EQ(config->http.tls.client_authority, "ca.crt");
  EXPECT_TRUE(Parse("http: {insecure: true, tls: {selfSigned: true}}")->http.tls.self_signed);
  EXPECT_THAT(std::string(Parse("http:\n  address: nowhere\n").status().message()),
              HasSubstr("s.yaml:4: http.address: "));
}

TEST(SchedulerConfig, ARuleAddsAKindAfterThoseThatAreKnown) {
  const absl::StatusOr<SchedulerConfig> config = Parse(
      "producers:\n"
      "  kinds: [jobs.batch]\n"
      "  rules:\n"
      "  - {kind: Run, resource: runs, group: ml.example, versions: [v2, v1],\n"
      "     minimums: [spec.min], replicas: [\"spec.roles.*.replicas\"], queues: [spec.queue],\n"
      "     priorityClasses: [spec.priority], partLabel: ml.example/role}\n");
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->producers.kinds.size(), 2u);
  const ForeignKind& kind = config->producers.kinds[1];
  EXPECT_EQ(kind.group, "ml.example");
  EXPECT_EQ(kind.kind, "Run");
  EXPECT_THAT(kind.versions, ElementsAre("v2", "v1"));
  ASSERT_TRUE(kind.rule.has_value());
  EXPECT_THAT(kind.rule->minimums, ElementsAre("spec.min"));
  EXPECT_THAT(kind.rule->replicas, ElementsAre("spec.roles.*.replicas"));
  EXPECT_THAT(kind.rule->queues, ElementsAre("spec.queue"));
  EXPECT_THAT(kind.rule->priority_classes, ElementsAre("spec.priority"));
  EXPECT_EQ(kind.rule->part_label, "ml.example/role");
}

TEST(SchedulerConfig, SaysWhichBudgetsArePassedAndWhetherQueuesAreNeeded) {
  EXPECT_EQ(Parse("")->ignore_pdb, IgnorePdb::kNever);
  EXPECT_EQ(Parse("")->without_queue, WithoutQueue::kAllow);
  const absl::StatusOr<SchedulerConfig> config =
      Parse("preemption: {ignorePDB: Reclaim}\nwithoutQueue: Refuse\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->ignore_pdb, IgnorePdb::kReclaim);
  EXPECT_EQ(config->without_queue, WithoutQueue::kRefuse);
  EXPECT_EQ(Parse("preemption: {ignorePDB: Always}")->ignore_pdb, IgnorePdb::kAlways);
  EXPECT_EQ(Parse("withoutQueue: Allow")->without_queue, WithoutQueue::kAllow);
}

TEST(SchedulerConfig, AWordThatAFieldDoesNotKnowIsRefusedWithThoseThatItKnows) {
  EXPECT_EQ(Parse("preemption:\n  ignorePDB: true\n").status().message(),
            "s.yaml:4: preemption.ignorePDB: expected Never, Reclaim or Always, got true");
  EXPECT_EQ(Parse("preemption: {ignorePDBs: Never}").status().message(),
            "s.yaml:3: preemption.ignorePDBs: unknown field");
  EXPECT_EQ(Parse("withoutQueue: Deny").status().message(),
            "s.yaml:3: withoutQueue: expected Allow or Refuse, got \"Deny\"");
}

TEST(SchedulerConfig, TellsWhereFactsAboutGpusAreReadFrom) {
  const absl::StatusOr<SchedulerConfig> config = Parse(
      "gpu:\n"
      "  nvlinkDomainLabels: [a/clique, b/domain]\n"
      "  productTable:\n"
      "    \"ACME-*\": {memoryMiB: 65536, linkage: AllToAll, family: acme, computeSlices: 4}\n"
      "    ACME-9000: {linkage: Pairs}\n"
      "  labels: {product: [example.com/board], count: [example.com/boards]}\n"
      "  linkageLabels: [{label: example.com/links, value: pcie, linkage: None}]\n"
      "  suspectNodes: Skip\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->gpu.nvlink_domain_labels, ElementsAre("a/clique", "b/domain"));
  const GpuRules& rules = config->gpu.rules;
  // The longer pattern comes first.
  EXPECT_THAT(
      rules.products,
      ElementsAre(GpuProduct{.pattern = "ACME-9000", .family = "", .linkage = GpuLinkage::kPairs},
                  GpuProduct{.pattern = "ACME-*",
                             .family = "acme",
                             .memory_mib = 65536,
                             .linkage = GpuLinkage::kAllToAll,
                             .compute_slices = 4}));
  EXPECT_THAT(rules.product, ElementsAre("example.com/board"));
  EXPECT_THAT(rules.count, ElementsAre("example.com/boards"));
  EXPECT_THAT(rules.memory,
              ElementsAre("nvidia.com/gpu.memory", "karpenter.k8s.aws/instance-gpu-memory"));
  EXPECT_THAT(rules.linkage,
              ElementsAre(LinkageRule{"example.com/links", "pcie", GpuLinkage::kNone}));
  EXPECT_EQ(rules.suspects, SuspectPolicy::kSkip);
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

TEST(SchedulerConfig, EveryProducerIsWatchedUnlessKindsAreChosen) {
  EXPECT_EQ(Parse("")->producers.kinds.size(), BuiltinForeignKinds().size());
  EXPECT_TRUE(Parse("producers: {kinds: []}\n")->producers.kinds.empty());
  const absl::StatusOr<SchedulerConfig> config =
      Parse("producers: {kinds: [jobs.batch, podgroups.scheduling.x-k8s.io]}\n");
  ASSERT_TRUE(config.ok()) << config.status();
  const ForeignKinds& kinds = config->producers.kinds;
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds[0].group, "scheduling.x-k8s.io") << "in the order of the table";
  EXPECT_EQ(kinds[1].resource, "jobs");
  ClusterClientOptions client;
  WatchProducers(*config, client);
  EXPECT_EQ(client.foreign.size(), 2u);
  EXPECT_EQ(client.reader->KindName(ForeignResource(1)), "Job");
}

TEST(SchedulerConfig, SaysWhichQueuesStandForTheirsAndWhichStatusesAreWritten) {
  const absl::StatusOr<SchedulerConfig> config = Parse(
      "defaultQueue: shared\n"
      "producers: {queues: {z: team-z, a: team-a}, statuses: {volcano: false}}\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->producers.write_xk8s_status);
  EXPECT_FALSE(config->producers.write_volcano_status);
  const ProducerOptions options = ProducerOptionsFor(*config);
  EXPECT_THAT(options.queues,
              ElementsAre(testing::Pair("a", "team-a"), testing::Pair("z", "team-z")));
  EXPECT_EQ(options.default_queue, "shared");
  EXPECT_TRUE(options.kueue_brings_quota);
  EXPECT_FALSE(ProducerOptionsFor(*Parse("withoutQueue: Refuse")).kueue_brings_quota);
  EXPECT_EQ(options.kinds.size(), BuiltinForeignKinds().size());
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
        Refusal{"leaderElection: {leaseDuration: 99999h}\n", "must not be greater than 5m"},
        Refusal{"leaderElection: {retryPeriod: 0s}\n", "retryPeriod must be at least 100ms"},
        Refusal{"leaderElection: {retryPeriod: 1ms}\n", "retryPeriod must be at least 100ms"},
        Refusal{"leaderElection: {leaseName: \"\"}\n", "leaseName must not be empty"},
        Refusal{"leaderElection: {leaseNamespace: \"\"}\n", "leaseNamespace must not be empty"},
        Refusal{"events: {perPod: Sometimes}\n", "events.perPod: expected Auto, Always or Never"},
        Refusal{"plugins: {scores: [{weight: 1}]}\n", "plugins.scores[0].name: is required"},
        Refusal{"plugins: {scores: [{name: Packing}]}\n", "plugins.scores[0].weight: is required"},
        Refusal{"plugins: {scores: [{name: Pakcing, weight: 1}]}\n",
                ":3: plugins.scores[0].name: no plugin \"Pakcing\"; there are "},
        Refusal{"plugins: {filters: {disabled: [Ports]}}\n",
                ":3: plugins.filters.disabled[0]: no plugin \"Ports\"; there are "},
        Refusal{"gpu: 8\n", "s.yaml:3: gpu: expected a map, got 8"},
        Refusal{"gpu:\n  nvlinkDomainLabels: clique\n",
                "s.yaml:4: gpu.nvlinkDomainLabels: expected a list of strings, got \"clique\""},
        Refusal{"gpu:\n  productTable:\n    X: {linkage: Sometimes}\n",
                "s.yaml:5: gpu.productTable.X.linkage: expected AllToAll, Pairs, None or Unknown"},
        Refusal{"gpu: {productTable: {X: {memory: 5}}}\n",
                "gpu.productTable.X.memory: unknown field"},
        Refusal{"gpu: {productTable: {X: {memoryMiB: -5}}}\n", "-5 is outside 1.."},
        Refusal{"gpu: {productTable: {X: 5}}\n", "gpu.productTable.X: expected a map, got 5"},
        Refusal{"gpu: {labels: {products: [a]}}\n", "gpu.labels.products: unknown field"},
        Refusal{"gpu: {labels: {product: [\"\"]}}\n", "gpu.labels.product[0]: expected a string"},
        Refusal{"gpu: {linkageLabels: [{value: a}]}\n", "gpu.linkageLabels[0].label: is required"},
        Refusal{"gpu: {suspectNodes: Never}\n",
                "gpu.suspectNodes: expected Trust, ScoreDown or Skip, got \"Never\""},
        Refusal{"producers:\n  kinds: [trains.example]\n",
                "s.yaml:4: producers.kinds[0]: expected one of "},
        Refusal{"producers: {kinds: [jobs.batch, jobs.batch]}\n",
                "producers.kinds[1]: jobs.batch stands twice"},
        Refusal{"producers: {kinds: all}\n", "producers.kinds: expected a list of kinds"},
        Refusal{"producers: {queues: {a: 3}}\n",
                "producers.queues.a: expected the name of a Queue, got 3"},
        Refusal{"producers: {rules: [{kind: Run, resource: runs, versions: [v1], replicas: [a]}]}",
                "producers.rules[0].group: is required"},
        Refusal{"producers: {rules: [{kind: Run, resource: runs, group: g, versions: [v1]}]}",
                "producers.rules[0]: needs minimums or replicas"},
        Refusal{"producers: {rules: [{replicas: [spec..a]}]}",
                "producers.rules[0].replicas[0]: is no path"},
        Refusal{"producers: {rules: [{kind: Job, resource: jobs, group: batch, versions: [v1],"
                " replicas: [a]}]}",
                "producers.rules[0]: jobs.batch is known without a rule"},
        Refusal{"producers: {statuses: {kai: true}}\n", "producers.statuses.kai: unknown field"},
        Refusal{"autoscaling: {bindingAnnotations: {a/b/c: x}}\n",
                "autoscaling.bindingAnnotations.a/b/c: is no name of an annotation"},
        Refusal{
            "autoscaling: {bindingAnnotations: {example.com/a: 3}}\n",
            "autoscaling.bindingAnnotations.example.com/a: expected a string, in quotes, got 3"},
        Refusal{"autoscaling: {bindingAnnotations: {scheduling.maniple.dev/queue: x}}\n",
                "is for the scheduler alone to write"},
        Refusal{"plugins: {filters: {disabled: [5, Nonsense]}}\n",
                "plugins.filters.disabled[1]: no plugin \"Nonsense\""},
        Refusal{"fairSharing: {strategies: ['', Nonsense]}\n",
                "fairSharing.strategies[1]: expected LessThanOrEqualToFinalShare"},
        Refusal{"producers: {rules: [{minimums: [5, spec..x]}]}\n",
                "producers.rules[0].minimums[1]: is no path"},
        Refusal{"autoscaling: {bindingAnnotations: {my_company.com/a: x}}\n",
                "autoscaling.bindingAnnotations.my_company.com/a: is no name of an annotation"},
        Refusal{"autoscaling: {bindingAnnotations: {example..com/a: x}}\n",
                "autoscaling.bindingAnnotations.example..com/a: is no name of an annotation"},
        Refusal{"autoscaling: {bindingAnnotations: {example.-com/a: x}}\n",
                "autoscaling.bindingAnnotations.example.-com/a: is no name of an annotation"},
        Refusal{"gpu: {migg: {}}\n", "gpu.migg: unknown field"}, Refusal{"a: [\n", "s.yaml"}));

TEST(SchedulerConfig, AnnotationsOfBindingsKeepTheirOrder) {
  const absl::StatusOr<SchedulerConfig> config = Parse(
      "autoscaling:\n  bindingAnnotations:\n    Karpenter.sh/do-not-disrupt: 'true'\n    a: ''\n");
  ASSERT_TRUE(config.ok()) << config.status();
  using Entry = std::pair<std::string, std::string>;
  EXPECT_THAT(config->autoscaling.binding_annotations,
              testing::ElementsAre(Entry("Karpenter.sh/do-not-disrupt", "true"), Entry("a", "")));
}

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
