// Fear: what-if says something else than what then happens.
#include "scheduler/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "absl/strings/str_cat.h"
#include "scheduler/replay/what_if.h"
#include "test/unit/replay/replay_objects.h"

namespace maniple::replay_test {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

WhatIfQuestion TwoNodes() {
  return {.cluster = {.at = kStart, .objects = {NodeWith("n1", 8), NodeWith("n2", 8)}}};
}

void AddJob(WhatIfQuestion& question, const std::string& name, int pods, int gpus) {
  question.job.push_back(GroupOf(name, pods));
  for (int i = 0; i < pods; ++i) question.job.push_back(PodOf(name, i, gpus));
}

Json HighPriority() {
  return Parsed(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","value":100,
                   "metadata":{"name":"high"}})");
}

TEST(Replay, StartsAGangAsTheLiveSchedulerWould) {
  Replay replay(Options(), kStart);
  ASSERT_TRUE(
      replay.Load({NodeWith("n1", 8), GroupOf("a", 2), PodOf("a", 0, 4), PodOf("a", 1, 4)}).ok());
  replay.RunUntil(kStart + absl::Seconds(2));
  const ClusterViewPtr view = replay.View();
  ASSERT_THAT(view->gangs, SizeIs(1));
  EXPECT_EQ(view->gangs[0].phase, "Running") << view->gangs[0].message;
  EXPECT_FALSE(replay.spins());
  EXPECT_THAT(replay.preemptions(), IsEmpty());
}

TEST(WhatIf, StartsNowWhereThereIsRoom) {
  WhatIfQuestion question = TwoNodes();
  AddJob(question, "a", 2, 8);
  const GangStart start = OnlyStart(question);
  EXPECT_EQ(start.kind, StartKind::kNow) << GangStartText(start);
  EXPECT_THAT(start.nodes, ElementsAre("n1", "n2"));
}

TEST(WhatIf, NeverWhereTheClusterIsTooSmallAndNowWithANodeMore) {
  WhatIfQuestion question = TwoNodes();
  AddJob(question, "a", 3, 8);
  GangStart start = OnlyStart(question);
  EXPECT_EQ(start.kind, StartKind::kNever) << GangStartText(start);
  EXPECT_EQ(start.reason, "NeverFits");

  question.nodes = {{.count = 1, .like = "n1"}};
  start = OnlyStart(question);
  EXPECT_EQ(start.kind, StartKind::kNow) << GangStartText(start);
  EXPECT_THAT(start.nodes, ElementsAre("n1", "n1-what-if-1", "n2"));
}

TEST(WhatIf, StartsWhenWhatRunsHasEnded) {
  WhatIfQuestion question = TwoNodes();
  question.cluster.objects.push_back(GroupOf("old", 1, R"(,"expectedRuntimeSeconds":3600)"));
  question.cluster.objects.push_back(Running(PodOf("old", 0, 8), "n1", "2023-11-14T22:00:00Z"));
  AddJob(question, "a", 2, 8);
  const GangStart start = OnlyStart(question);
  EXPECT_EQ(start.kind, StartKind::kLater) << GangStartText(start);
  EXPECT_EQ(absl::FormatTime(start.at, absl::UTCTimeZone()), "2023-11-14T23:00:00+00:00");

  WhatIfQuestion later = question;
  later.at = start.at;
  EXPECT_EQ(OnlyStart(later).kind, StartKind::kNow);

  WhatIfQuestion bygone = question;
  bygone.at = question.cluster.at - absl::Hours(1);
  EXPECT_THAT(std::string(AnswerWhatIf(bygone, Options()).status().message()),
              ::testing::HasSubstr("is before the cluster's state, which is of 2023-11-14"));
}

// Both nodes are wanted, and the end of who runs on one of them is not known.
void ExpectNoStartInSight(const std::string& of_who_runs) {
  WhatIfQuestion question = TwoNodes();
  question.cluster.objects.push_back(GroupOf("old", 1, of_who_runs));
  question.cluster.objects.push_back(Running(PodOf("old", 0, 8), "n1", "2023-11-14T22:00:00Z"));
  AddJob(question, "a", 2, 8);
  const absl::StatusOr<WhatIfAnswer> answer = AnswerWhatIf(question, Options());
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_THAT(answer->gangs, SizeIs(1));
  EXPECT_EQ(answer->gangs[0].kind, StartKind::kNotSoon);
  EXPECT_EQ(answer->gangs[0].reason, "NoFit");
  EXPECT_TRUE(answer->some_ends_unknown);
}

TEST(WhatIf, WaitsForWhoNeverSaysWhenItEnds) { ExpectNoStartInSight(""); }

// Each question named the moment at which it was asked.
TEST(WhatIf, WhoHasOutrunItsEstimateEndsSometime) {
  ExpectNoStartInSight(R"(,"expectedRuntimeSeconds":60)");
}

// It was said to wait for ever.
TEST(WhatIf, StartsWhenWhatIsLeftOfAGangIsEvicted) {
  WhatIfQuestion question = TwoNodes();
  question.cluster.objects.push_back(Parsed(
      R"({"apiVersion":"scheduling.maniple.dev/v1alpha1","kind":"PodGroup","metadata":{
          "name":"old","namespace":"default","uid":"u-old","resourceVersion":"6",
          "creationTimestamp":"2023-11-14T21:00:00Z"},
          "spec":{"minMember":2,"quorumLoss":{"gracePeriodSeconds":60}},"status":{
          "phase":"Running","quorumReachedAt":"2023-11-14T22:00:00Z"}})"));
  question.cluster.objects.push_back(Running(PodOf("old", 0, 8), "n1", "2023-11-14T22:00:00Z"));
  AddJob(question, "a", 2, 8);
  const GangStart start = OnlyStart(question);
  EXPECT_EQ(start.kind, StartKind::kLater) << GangStartText(start);
  EXPECT_GE(start.at, kStart + absl::Seconds(60));
  EXPECT_LE(start.at, kStart + absl::Minutes(3));
}

TEST(WhatIf, NamesWhomItWouldEvict) {
  WhatIfQuestion question = TwoNodes();
  question.cluster.objects.push_back(GroupOf("old", 1));
  question.cluster.objects.push_back(Running(PodOf("old", 0, 8), "n1", "2023-11-14T22:00:00Z"));
  question.job.push_back(GroupOf("a", 2));
  for (int i = 0; i < 2; ++i) question.job.push_back(PodOf("a", i, 8, 100));
  question.cluster.objects.push_back(HighPriority());
  for (Json& object : question.job) {
    if (object["kind"].AsString() == "Pod") {
      object.Mutable("spec").Set("priorityClassName", "high");
    }
  }
  const GangStart start = OnlyStart(question);
  EXPECT_EQ(start.kind, StartKind::kAfterEvicting) << GangStartText(start);
  EXPECT_THAT(start.evicts, ElementsAre("default/old"));
  EXPECT_EQ(GangStartText(start), "would start now on 2 nodes, after default/old was evicted");
}

// It waits for the end of its equal, and evicts who is below it then.
TEST(WhatIf, NamesWhomItWouldEvictLater) {
  WhatIfQuestion question = TwoNodes();
  std::vector<Json>& cluster = question.cluster.objects;
  cluster.push_back(HighPriority());
  cluster.push_back(GroupOf("equal", 1, R"(,"expectedRuntimeSeconds":3600)"));
  cluster.push_back(Running(PodOf("equal", 0, 8, 100), "n1", "2023-11-14T22:00:00Z"));
  cluster.back().Mutable("spec").Set("priorityClassName", "high");
  cluster.push_back(GroupOf("low", 1));
  cluster.push_back(Running(PodOf("low", 0, 8), "n2", "2023-11-14T22:00:00Z"));
  question.job.push_back(GroupOf("a", 2));
  for (int i = 0; i < 2; ++i) {
    question.job.push_back(PodOf("a", i, 8, 100));
    question.job.back().Mutable("spec").Set("priorityClassName", "high");
  }
  const GangStart start = OnlyStart(question);
  EXPECT_EQ(start.kind, StartKind::kLater) << GangStartText(start);
  EXPECT_THAT(start.evicts, ElementsAre("default/low"));
  EXPECT_THAT(GangStartText(start), HasSubstr(" on 2 nodes, after default/low was evicted, by "));
}

// It was said to wait for ever.
TEST(WhatIf, EvictsWhoIsProtectedNoLongerByThen) {
  WhatIfQuestion question = TwoNodes();
  std::vector<Json>& cluster = question.cluster.objects;
  cluster.push_back(HighPriority());
  cluster.push_back(Parsed(
      R"({"apiVersion":"scheduling.maniple.dev/v1alpha1","kind":"Queue","metadata":{"name":"q"},
          "spec":{"quotas":[{"resources":[{"name":"nvidia.com/gpu","nominal":16}]}],
          "preemption":{"withinQueue":"LowerPriority","minRuntimeSeconds":3600}}})"));
  cluster.push_back(Parsed(
      R"({"apiVersion":"scheduling.maniple.dev/v1alpha1","kind":"PodGroup","metadata":{
          "name":"old","namespace":"default","uid":"u-old","resourceVersion":"6",
          "creationTimestamp":"2023-11-14T21:00:00Z"},"spec":{"minMember":1,"queue":"q"},"status":{
          "phase":"Running","admittedQueue":"q","quorumReachedAt":"2023-11-14T22:00:00Z"}})"));
  cluster.push_back(Running(PodOf("old", 0, 8), "n1", "2023-11-14T22:00:00Z"));
  question.job.push_back(GroupOf("a", 2, R"(,"queue":"q")"));
  for (int i = 0; i < 2; ++i) {
    question.job.push_back(PodOf("a", i, 8, 100));
    question.job.back().Mutable("spec").Set("priorityClassName", "high");
  }
  EXPECT_EQ(GangStartText(OnlyStart(question)),
            "would start at 2023-11-14 23:00:00 UTC on 2 nodes, after default/old was evicted");
  question.at = absl::FromUnixSeconds(1'700'002'800);  // then
  EXPECT_EQ(GangStartText(OnlyStart(question)),
            "would start now on 2 nodes, after default/old was evicted");
  question.at -= absl::Minutes(1);
  EXPECT_EQ(OnlyStart(question).kind, StartKind::kLater);
}

TEST(WhatIf, WithMoreQuotaItStarts) {
  WhatIfQuestion question = TwoNodes();
  question.cluster.objects.push_back(
      Parsed(R"({"apiVersion":"scheduling.maniple.dev/v1alpha1","kind":"Queue","metadata":{
               "name":"q"},"spec":{"quotas":[{"resources":[{"name":"nvidia.com/gpu","nominal":8},
               {"name":"cpu","nominal":100}]}]}})"));
  question.job.push_back(GroupOf("a", 2, R"(,"queue":"q")"));
  for (int i = 0; i < 2; ++i) question.job.push_back(PodOf("a", i, 8));
  EXPECT_EQ(OnlyStart(question).reason, "ExceedsMaxQuota");
  question.quota = {{.queue = "q", .amount = 7}};
  EXPECT_EQ(OnlyStart(question).reason, "ExceedsMaxQuota");
  question.quota = {{.queue = "q", .amount = 8}};
  EXPECT_EQ(OnlyStart(question).kind, StartKind::kNow);
  // Never below nothing.
  question.quota.push_back({.queue = "q", .resource = "nvidia.com/gpu", .amount = -99});
  EXPECT_EQ(OnlyStart(question).reason, "ExceedsMaxQuota");
  question.quota = {{.queue = "q", .resource = "memory", .amount = 1}};
  EXPECT_THAT(AnswerWhatIf(question, Options()).status().message(), HasSubstr("memory"));
}

TEST(WhatIf, WhoRunsAlreadyIsToldSo) {
  WhatIfQuestion question = TwoNodes();
  question.cluster.objects.push_back(GroupOf("old", 1));
  question.cluster.objects.push_back(Running(PodOf("old", 0, 8), "n1", "2023-11-14T22:00:00Z"));
  question.gangs = {"default/old"};
  EXPECT_EQ(GangStartText(OnlyStart(question)), "runs already on 1 node");
  question.cluster.objects.back().Mutable("status").Set("phase", "Succeeded");
  EXPECT_EQ(GangStartText(OnlyStart(question)), "has completed");
}

// A gang that waits already makes another leave; that is not the new job's doing.
TEST(WhatIf, CountsOnlyTheEvictionsOfTheJob) {
  WhatIfQuestion question = TwoNodes();
  std::vector<Json>& cluster = question.cluster.objects;
  cluster.push_back(HighPriority());
  for (const char* node : {"n1", "n2"}) {
    cluster.push_back(GroupOf(node, 1));
    cluster.push_back(Running(PodOf(node, 0, 8), node, "2023-11-14T22:00:00Z"));
  }
  cluster.push_back(GroupOf("before", 1));
  cluster.push_back(PodOf("before", 0, 4, 100));
  cluster.back().Mutable("spec").Set("priorityClassName", "high");
  AddJob(question, "a", 1, 4);
  GangStart start = OnlyStart(question);
  EXPECT_EQ(start.kind, StartKind::kNow) << GangStartText(start);
  question.job.clear();
  question.gangs = {"default/before"};
  start = OnlyStart(question);
  EXPECT_EQ(start.kind, StartKind::kAfterEvicting) << GangStartText(start);
  EXPECT_THAT(start.evicts, ElementsAre(AnyOf("default/n1", "default/n2")));
}

TEST(WhatIf, AJobBringsItsPods) {
  WhatIfQuestion question = TwoNodes();
  question.job.push_back(Parsed(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"parallelism":2,
        "completions":2,"template":{"metadata":{"labels":{"scheduling.maniple.dev/pod-group":"g"}},
        "spec":{"schedulerName":"maniple","restartPolicy":"Never","containers":[{"name":"c",
        "image":"i","resources":{"limits":{"nvidia.com/gpu":"8"}}}]}}}})"));
  question.job.push_back(GroupOf("g", 2));
  const GangStart start = OnlyStart(question);
  EXPECT_EQ(start.kind, StartKind::kNow) << GangStartText(start);
}

// The fear: what is there already is counted twice, or one pod takes the place of the other.
TEST(WhatIf, RefusesWhatIsThereAlreadyAndWhatIsAskedForTwice) {
  WhatIfQuestion question = TwoNodes();
  question.cluster.objects.push_back(GroupOf("a", 1));
  question.cluster.objects.push_back(PodOf("a", 0, 8));
  AddJob(question, "a", 1, 8);
  EXPECT_THAT(AnswerWhatIf(question, Options()).status().message(),
              HasSubstr("Pod default/a-0 is in the cluster already: ask for its gang, as pod/a-0"));

  question = TwoNodes();
  AddJob(question, "a", 1, 8);
  AddJob(question, "a", 1, 8);
  EXPECT_THAT(AnswerWhatIf(question, Options()).status().message(),
              HasSubstr("Pod default/a-0 is asked for twice"));
}

TEST(WhatIf, RefusesWhatItCannotKnow) {
  WhatIfQuestion question = TwoNodes();
  question.job.push_back(Parsed(R"({"kind":"PyTorchJob","metadata":{"name":"t"}})"));
  EXPECT_THAT(AnswerWhatIf(question, Options()).status().message(), HasSubstr("PyTorchJob t"));

  question = TwoNodes();
  question.nodes = {{.count = 1, .like = "nowhere"}};
  EXPECT_THAT(AnswerWhatIf(question, Options()).status().message(), HasSubstr("nowhere"));

  question = TwoNodes();
  question.quota = {{.queue = "none", .amount = 1}};
  EXPECT_THAT(AnswerWhatIf(question, Options()).status().message(), HasSubstr("Queue \"none\""));

  question = TwoNodes();
  question.job.push_back(Parsed(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},
      "spec":{"parallelism":1000000,"template":{}}})"));
  EXPECT_THAT(AnswerWhatIf(question, Options()).status().message(), HasSubstr("more than"));
}

// Every value of an object, once for each wrong type.
void Mangle(const Json& whole, const std::function<void(const Json&)>& each) {
  const std::vector<Json> wrong = {"text", -1, true, Json::Array({1}), Json::Object(), nullptr};
  for (const Json& value : wrong) each(value);
  for (size_t i = 0; i < whole.members().size(); ++i) {
    Mangle(whole.members()[i].second, [&](const Json& part) {
      Json other = whole;
      other.mutable_members()[i].second = part;
      each(other);
    });
  }
  for (size_t i = 0; i < whole.items().size(); ++i) {
    Mangle(whole.items()[i], [&](const Json& part) {
      Json other = whole;
      other.mutable_items()[i] = part;
      each(other);
    });
  }
}

TEST(WhatIf, ObjectsThatMakeNoSenseAreRefusedOrPassedOver) {
  const Json job = Parsed(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","labels":{"a":"b"}},"spec":
        {"parallelism":1,"completionMode":"Indexed","template":{"metadata":{"labels":{"a":"b"},
        "annotations":{"c":"d"}},"spec":{"schedulerName":"maniple","activeDeadlineSeconds":60,
        "containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"8"}}}]}}}})");
  Json node = NodeWith("n2", 8);
  node.Mutable("spec").Set("taints", Json::Array({Json::Object({{"key", "k"}, {"effect", "e"}})}));
  const Json queue = Parsed(
      R"({"apiVersion":"scheduling.maniple.dev/v1alpha1","kind":"Queue","metadata":{"name":"q",
        "uid":"u","resourceVersion":"1","ownerReferences":[{"uid":"x"}]},"spec":{"quotas":[
        {"resources":[{"name":"nvidia.com/gpu","nominal":8}]}]}})");
  int asked = 0;
  const auto ask = [&](const Json& a_node, const Json& a_queue, const Json& a_job) {
    WhatIfQuestion question{
        .cluster = {.at = kStart, .objects = {NodeWith("n1", 8), a_node, a_queue}},
        .job = {a_job},
        .nodes = {{.count = 1, .like = "n2"}},
        .quota = {{.queue = "q", .amount = 1}}};
    const absl::StatusOr<WhatIfAnswer> answer = AnswerWhatIf(question, Options());
    EXPECT_TRUE(answer.ok() || !answer.status().message().empty());
    ++asked;
  };
  Mangle(job, [&](const Json& bad) { ask(node, queue, bad); });
  Mangle(queue, [&](const Json& bad) { ask(node, bad, job); });
  Mangle(node, [&](const Json& bad) { ask(bad, queue, job); });
  EXPECT_GT(asked, 300);
}

}  // namespace
}  // namespace maniple::replay_test
