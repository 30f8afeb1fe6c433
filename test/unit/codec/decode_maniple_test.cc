// Our own kinds, and the small core kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/codec/decode.h"
#include "api/codec/kubernetes_time.h"

namespace maniple::codec_decode_maniple_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

StringMap Labels(std::vector<std::pair<std::string, std::string>> entries) {
  return StringMap(std::move(entries));
}

DecodedObject Decoded(ResourceKind kind, absl::string_view rest) {
  Decoder decoder;
  absl::StatusOr<DecodedObject> object =
      decoder.Single(kind, absl::StrCat(R"({"metadata":{"name":"x","namespace":"n"})",
                                        rest.empty() ? "" : ",", rest, "}"));
  EXPECT_TRUE(object.ok()) << object.status();
  return object.ok() ? *std::move(object) : DecodedObject{};
}

template <typename T>
T ObjectOf(ResourceKind kind, absl::string_view rest) {
  const DecodedObject object = Decoded(kind, rest);
  if (const auto* invalid = std::get_if<ObjectInvalid>(&object.what)) {
    ADD_FAILURE() << invalid->problem;
    return T{};
  }
  return std::get<T>(std::get<Object>(object.what));
}

std::string ProblemOf(ResourceKind kind, absl::string_view spec) {
  const DecodedObject object = Decoded(kind, absl::StrCat(R"("spec":{)", spec, "}"));
  const auto* invalid = std::get_if<ObjectInvalid>(&object.what);
  return invalid != nullptr ? invalid->problem : "";
}

std::string GroupProblem(absl::string_view spec) {
  return ProblemOf(ResourceKind::kPodGroup, spec);
}
std::string QueueProblem(absl::string_view spec) { return ProblemOf(ResourceKind::kQueue, spec); }

TEST(DecodePodGroup, AnEmptySpecHasTheDocumentedDefaults) {
  const auto group = ObjectOf<PodGroup>(ResourceKind::kPodGroup, "");
  EXPECT_EQ(group.spec, PodGroupSpec{});
  EXPECT_EQ(group.spec.min_member, 1);
  EXPECT_EQ(group.spec.schedule_timeout, absl::Seconds(60));
  EXPECT_EQ(group.spec.quorum_loss_grace, absl::Seconds(300));
  EXPECT_EQ(group.status, PodGroupStatus{});
}

TEST(DecodePodGroup, ReadsTheWholeSpec) {
  const auto group =
      ObjectOf<PodGroup>(ResourceKind::kPodGroup, R"("spec":{"queue":"q","minMember":2147483647,
    "priorityClassName":"high","topology":{"required":"rack","preferred":"zone","topologyName":"t",
      "slice":{"size":8,"level":"nvlink"}},
    "subGroups":[{"name":"driver"},{"name":"worker","minMember":4,"topology":{"required":"rack"}}],
    "scheduleTimeoutSeconds":0,"expectedRuntimeSeconds":3600,
    "preemption":{"policy":"Never","protectedRuntimeSeconds":120},
    "quorumLoss":{"action":"Keep","gracePeriodSeconds":10}})");
  EXPECT_EQ(group.spec.queue, "q");
  EXPECT_EQ(group.spec.min_member, 2147483647);
  EXPECT_EQ(group.spec.priority_class_name, "high");
  EXPECT_EQ(group.spec.topology, (TopologyRequest{"rack", "zone", 8, "nvlink", "t"}));
  EXPECT_THAT(group.spec.sub_groups, ElementsAre(SubGroup{"driver", 1, {}},
                                                 SubGroup{"worker", 4, {"rack", "", 0, "", ""}}));
  EXPECT_EQ(group.spec.schedule_timeout, absl::ZeroDuration());
  EXPECT_EQ(group.spec.expected_runtime, absl::Hours(1));
  EXPECT_FALSE(group.spec.preempts);
  EXPECT_EQ(group.spec.protected_runtime, absl::Minutes(2));
  EXPECT_EQ(group.spec.quorum_loss_action, QuorumLossAction::kKeep);
  EXPECT_EQ(group.spec.quorum_loss_grace, absl::Seconds(10));
}

TEST(DecodePodGroup, ReadsTheStatusThatANewLeaderMustKnow) {
  const auto group = ObjectOf<PodGroup>(ResourceKind::kPodGroup, R"("status":{"phase":"Running",
    "members":{"total":4,"pending":1,"bound":3,"running":2,"succeeded":1,"failed":0},
    "conditions":[{"type":"Scheduled","status":"True","reason":"Bound","message":"m",
                   "lastTransitionTime":"2026-07-21T10:00:00Z","observedGeneration":3},
                  {"type":"MembersReady","status":"True"}],
    "reason":"Bound","message":"all bound","placement":{"nodes":["b","a"],"domains":["r2","r1"]},
    "quorumReachedAt":"2026-07-21T10:00:00Z","lastUndoneAt":"2026-07-21T09:00:00Z",
    "quorumMet":3,"initialSharePreemptionUsed":true,"preemptedBy":"n/other","admittedQueue":"q"})");
  const PodGroupStatus& status = group.status;
  EXPECT_EQ(status.phase, "Running");
  EXPECT_EQ(status.members, (MemberCounts{4, 1, 3, 2, 1, 0}));
  ASSERT_EQ(status.conditions.size(), 2u);
  EXPECT_EQ(status.conditions[0].type, "MembersReady");
  EXPECT_EQ(status.conditions[1].observed_generation, 3);
  EXPECT_THAT(status.placement_nodes, ElementsAre("a", "b"));
  EXPECT_THAT(status.placement_domains, ElementsAre("r2", "r1"));
  EXPECT_EQ(status.quorum_reached_at, *ParseKubernetesTime("2026-07-21T10:00:00Z"));
  EXPECT_EQ(status.last_undone_at, *ParseKubernetesTime("2026-07-21T09:00:00Z"));
  EXPECT_EQ(status.quorum_met, 3);
  EXPECT_TRUE(status.initial_share_preemption_used);
  EXPECT_EQ(status.preempted_by, "n/other");
  EXPECT_EQ(status.admitted_queue, "q");
}

TEST(DecodePodGroup, RefusesAnImpossibleQuorum) {
  for (const absl::string_view value :
       {"0", "-1", "2147483648", "1e3", "1.5", "99999999999999999999", "\"3\"", "true", "[]"}) {
    EXPECT_EQ(GroupProblem(absl::StrCat(R"("minMember":)", value)),
              "spec.minMember: must be a whole number from 1 to 2147483647")
        << value;
  }
}

TEST(DecodePodGroup, RefusesNegativeDurationsUnknownWordsAndRepeatedSubGroups) {
  for (const absl::string_view field : {"scheduleTimeoutSeconds", "expectedRuntimeSeconds"}) {
    EXPECT_THAT(GroupProblem(absl::StrCat("\"", field, "\":-1")),
                StartsWith(absl::StrCat("spec.", field)));
  }
  EXPECT_THAT(GroupProblem(R"("preemption":{"protectedRuntimeSeconds":-1})"),
              StartsWith("spec.preemption.protectedRuntimeSeconds"));
  EXPECT_THAT(GroupProblem(R"("quorumLoss":{"gracePeriodSeconds":-1})"),
              StartsWith("spec.quorumLoss.gracePeriodSeconds"));
  EXPECT_EQ(GroupProblem(R"("preemption":{"policy":"Always"})"),
            "spec.preemption.policy: must be one of PreemptLowerPriority, Never");
  EXPECT_EQ(GroupProblem(R"("quorumLoss":{"action":""})"),
            "spec.quorumLoss.action: must be one of Evict, Keep");
  EXPECT_EQ(GroupProblem(R"("subGroups":[{"name":"a"},{"name":"b"},{"name":"a"}])"),
            "spec.subGroups[2]: \"a\" stands twice");
  EXPECT_EQ(GroupProblem(R"("subGroups":[{"minMember":1}])"), "spec.subGroups[0]: has no name");
  EXPECT_THAT(GroupProblem(R"("subGroups":[{"name":"a","minMember":-1}])"),
              StartsWith("spec.subGroups[0].minMember"));
}

TEST(DecodePodGroup, ASliceNeedsASizeAndALevel) {
  EXPECT_EQ(GroupProblem(R"("topology":{"slice":{"level":"rack"}})"),
            "spec.topology.slice: has no size");
  EXPECT_EQ(GroupProblem(R"("topology":{"slice":{"size":4}})"),
            "spec.topology.slice: has no level");
  EXPECT_THAT(GroupProblem(R"("topology":{"slice":{"size":0,"level":"rack"}})"),
              StartsWith("spec.topology.slice.size: must be"));
}

TEST(DecodePodGroup, NeedsANamespace) {
  Decoder decoder;
  const auto object = decoder.Single(ResourceKind::kPodGroup, R"({"metadata":{"name":"x"}})");
  EXPECT_EQ(std::get<ObjectInvalid>(object->what).problem, "metadata.namespace: is missing");
}

TEST(DecodeQueue, ReadsTheWholeSpec) {
  const auto queue = ObjectOf<Queue>(ResourceKind::kQueue, R"("spec":{"cohort":"c",
    "namespaceSelector":{"matchLabels":{"team":"a"},"matchExpressions":[{"key":"env","operator":"NotIn","values":["dev"]}]},
    "quotas":[{"flavor":"h100","resources":[{"nominal":"1.5","borrowingLimit":"500m","lendingLimit":0,"name":"cpu"},
                                           {"name":"nvidia.com/gpu","nominal":64}]},
              {"resources":[{"name":"memory","nominal":"1Ti"}]}],
    "ordering":"StrictFIFO","preemption":{"withinQueue":"LowerOrNewerEqualPriority","reclaimWithinCohort":"Any",
      "minRuntimeSeconds":600,"maxProtectedRuntimeSeconds":3600,
      "borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":-3}},
    "fairShare":{"weight":"2.5"},"stopPolicy":"HoldAndDrain"})");
  EXPECT_EQ(queue.cohort, "c");
  ASSERT_TRUE(queue.namespace_selector.has_value());
  EXPECT_TRUE(queue.namespace_selector->Matches(Labels({{"team", "a"}})));
  EXPECT_FALSE(queue.namespace_selector->Matches(Labels({{"team", "a"}, {"env", "dev"}})));
  ASSERT_EQ(queue.quotas.size(), 2u);
  EXPECT_EQ(queue.quotas[0].flavor, "h100");
  EXPECT_EQ(queue.quotas[0].resources[0].nominal, Amount(1500));
  EXPECT_EQ(queue.quotas[0].resources[0].borrowing_limit, Amount(500));
  EXPECT_EQ(queue.quotas[0].resources[0].lending_limit, Amount(0));
  EXPECT_EQ(queue.quotas[0].resources[1].nominal, Amount(64));
  EXPECT_FALSE(queue.quotas[0].resources[1].borrowing_limit.has_value());
  EXPECT_EQ(queue.quotas[1].flavor, "");
  EXPECT_EQ(queue.ordering, QueueOrdering::kStrictFifo);
  EXPECT_EQ(queue.within_queue, WithinQueuePreemption::kLowerOrNewerEqualPriority);
  EXPECT_EQ(queue.reclaim, ReclaimWithinCohort::kAny);
  EXPECT_EQ(queue.min_runtime, absl::Minutes(10));
  EXPECT_EQ(queue.most_protected_runtime, absl::Hours(1));
  EXPECT_TRUE(queue.borrow_preempts_lower_priority);
  EXPECT_EQ(queue.borrow_priority_threshold, -3);
  EXPECT_EQ(queue.fair_share_weight_milli, 2500);
  EXPECT_EQ(queue.stop, StopPolicy::kHoldAndDrain);
}

TEST(DecodeQueue, AnAbsentSelectorAdmitsEveryNamespaceAndSoDoesAnEmptyOne) {
  EXPECT_FALSE(ObjectOf<Queue>(ResourceKind::kQueue, "").namespace_selector.has_value());
  const auto queue = ObjectOf<Queue>(ResourceKind::kQueue, R"("spec":{"namespaceSelector":{}})");
  EXPECT_TRUE(queue.namespace_selector->Matches(StringMap()));
}

TEST(DecodeQueue, ReadsWhatEarlierLeadersHaveCounted) {
  const auto queue = ObjectOf<Queue>(
      ResourceKind::kQueue,
      R"("status":{"pending":1,"resourceSeconds":{"asOf":"2026-07-21T11:00:00Z","items":[
        {"namespace":"research","flavor":"h100","name":"nvidia.com/gpu","total":7200,"recent":60},
        {"name":"nvidia.com/gpu","total":5}]}})");
  EXPECT_EQ(absl::ToUnixSeconds(queue.used.as_of), 1'784'631'600);
  ASSERT_EQ(queue.used.rows.size(), 2u);
  EXPECT_EQ(queue.used.rows[0], (ResourceSeconds{"research", "h100", "nvidia.com/gpu", 7200, 60}));
  EXPECT_EQ(queue.used.rows[1], (ResourceSeconds{"", "", "nvidia.com/gpu", 5, 0}));
  EXPECT_EQ(ObjectOf<Queue>(ResourceKind::kQueue, "").used, UsageRecord());
}

TEST(DecodeQueue, RefusesBadQuotasWithTheirPath) {
  const auto with = [](absl::string_view resource) {
    return QueueProblem(absl::StrCat(R"("quotas":[{"flavor":"f","resources":[)", resource, "]}]"));
  };
  EXPECT_EQ(with(R"({"name":"cpu","nominal":"-1"})"),
            "spec.quotas[0].resources[0].nominal: must not be negative");
  EXPECT_THAT(with(R"({"name":"cpu","nominal":"many"})"), HasSubstr("is no quantity"));
  EXPECT_EQ(with(R"({"nominal":"1"})"), "spec.quotas[0].resources[0]: has no name");
  EXPECT_EQ(with(R"({"name":"cpu"},{"name":"cpu"})"),
            "spec.quotas[0].resources[1]: \"cpu\" stands twice");
  EXPECT_EQ(QueueProblem(R"("quotas":[{"flavor":"f"},{"flavor":"f"}])"),
            "spec.quotas[1]: \"f\" stands twice");
  EXPECT_EQ(QueueProblem(R"("fairShare":{"weight":-1})"),
            "spec.fairShare.weight: must not be negative");
  EXPECT_THAT(QueueProblem(R"("ordering":"LIFO")"),
              StartsWith("spec.ordering: must be one of BestEffortFIFO"));
  EXPECT_THAT(QueueProblem(R"("stopPolicy":"Stop")"), StartsWith("spec.stopPolicy"));
  EXPECT_THAT(
      QueueProblem(
          R"("namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]})"),
      StartsWith("spec.namespaceSelector.matchExpressions[0].operator"));
}

TEST(DecodeCohort, ReadsParentQuotasAndWeight) {
  const auto cohort = ObjectOf<Cohort>(
      ResourceKind::kCohort,
      R"("spec":{"parent":"root","quotas":[{"resources":[{"name":"cpu","nominal":"2"}]}],"fairShare":{"weight":0}})");
  EXPECT_EQ(cohort.parent, "root");
  EXPECT_EQ(cohort.quotas[0].resources[0].nominal, Amount(2000));
  EXPECT_EQ(cohort.fair_share_weight_milli, 0);
  EXPECT_EQ(ObjectOf<Cohort>(ResourceKind::kCohort, "").fair_share_weight_milli, 1000);
}

TEST(DecodeFlavor, ReadsLabelsAndPriority) {
  const auto flavor = ObjectOf<ResourceFlavor>(
      ResourceKind::kResourceFlavor, R"("spec":{"nodeLabels":{"gpu":"h100"},"priority":7})");
  EXPECT_EQ(flavor.node_labels, Labels({{"gpu", "h100"}}));
  EXPECT_EQ(flavor.priority, 7);
}

TEST(DecodeTopology, ReadsLevelsInOrderAndRefusesBadOnes) {
  const auto topology = ObjectOf<Topology>(
      ResourceKind::kTopology,
      R"("spec":{"levels":[{"name":"zone","nodeLabel":"z"},{"name":"rack","nodeLabel":"r"}]})");
  ASSERT_EQ(topology.levels.size(), 2u);
  EXPECT_EQ(topology.levels[1].name, "rack");
  EXPECT_EQ(topology.levels[1].node_label, "r");
  const auto problem = [](absl::string_view levels) {
    return ProblemOf(ResourceKind::kTopology, absl::StrCat(R"("levels":[)", levels, "]"));
  };
  EXPECT_EQ(problem(R"({"name":"a"})"), "spec.levels[0]: has no nodeLabel");
  EXPECT_EQ(problem(R"({"name":"a","nodeLabel":"x"},{"name":"a","nodeLabel":"y"})"),
            "spec.levels[1]: \"a\" stands twice");
  EXPECT_EQ(problem(R"({"name":"a","nodeLabel":"x"},{"name":"b","nodeLabel":"x"})"),
            "spec.levels[1]: \"x\" stands twice");
  std::string many;
  for (int i = 0; i < 17; ++i) {
    absl::StrAppend(&many, i > 0 ? "," : "", R"({"name":"l)", i, R"(","nodeLabel":"n)", i, "\"}");
  }
  EXPECT_EQ(problem(many), "spec.levels: has more than 16 levels");
}

TEST(DecodeSmallKinds, ReadsPriorityClassAndNamespace) {
  EXPECT_EQ(ObjectOf<PriorityClass>(ResourceKind::kPriorityClass, R"("value":-10)").value, -10);
  EXPECT_EQ(ObjectOf<Namespace>(ResourceKind::kNamespace, "").meta.name, "x");
  Decoder decoder;
  const auto object =
      decoder.Single(ResourceKind::kPriorityClass, R"({"metadata":{"name":"x"},"value":1e9})");
  EXPECT_THAT(std::get<ObjectInvalid>(object->what).problem,
              StartsWith("value: must be a whole number"));
}

TEST(DecodeBudget, ReadsSelectorAllowanceAndWhatItWasCountedFor) {
  const auto budget = ObjectOf<PodDisruptionBudget>(
      ResourceKind::kPodDisruptionBudget,
      R"("spec":{"minAvailable":"50%","selector":{"matchLabels":{"app":"db"}}},
         "status":{"disruptionsAllowed":2,"observedGeneration":3,"disruptedPods":{"x":null}})");
  EXPECT_EQ(budget.meta.namespace_name, "n");
  ASSERT_TRUE(budget.selector.has_value());
  EXPECT_TRUE(budget.selector->Matches(Labels({{"app", "db"}})));
  EXPECT_FALSE(budget.selector->Matches(Labels({})));
  EXPECT_EQ(budget.disruptions_allowed, 2);
  EXPECT_EQ(budget.observed_generation, 3);
}

TEST(DecodeBudget, AnAbsentSelectorIsNotAnEmptyOne) {
  const auto read = [](absl::string_view spec) {
    return ObjectOf<PodDisruptionBudget>(ResourceKind::kPodDisruptionBudget, spec);
  };
  EXPECT_FALSE(read("").selector.has_value());
  EXPECT_FALSE(read(R"("spec":{"selector":null})").selector.has_value());
  EXPECT_TRUE(read(R"("spec":{"selector":{}})").selector.has_value());
  EXPECT_EQ(read("").disruptions_allowed, 0);
}

TEST(DecodeBudget, RefusesWhatIsNoBudget) {
  const auto problem = [](absl::string_view rest) {
    const DecodedObject object = Decoded(ResourceKind::kPodDisruptionBudget, rest);
    const auto* invalid = std::get_if<ObjectInvalid>(&object.what);
    return invalid != nullptr ? invalid->problem : "";
  };
  EXPECT_THAT(problem(R"("status":{"disruptionsAllowed":"2"})"),
              StartsWith("status.disruptionsAllowed: must be a whole number"));
  EXPECT_THAT(problem(R"("status":{"disruptionsAllowed":4294967296})"),
              StartsWith("status.disruptionsAllowed"));
  EXPECT_THAT(problem(R"("status":{"observedGeneration":-1})"),
              StartsWith("status.observedGeneration"));
  EXPECT_THAT(problem(R"("spec":{"selector":{"matchLabels":["app"]}})"),
              StartsWith("spec.selector.matchLabels"));
  Decoder decoder;
  const auto nameless =
      decoder.Single(ResourceKind::kPodDisruptionBudget, R"({"metadata":{"name":"x"}})");
  EXPECT_EQ(std::get<ObjectInvalid>(nameless->what).problem, "metadata.namespace: is missing");
}

}  // namespace
}  // namespace maniple::codec_decode_maniple_test
