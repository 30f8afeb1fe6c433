// Several gangs in one question. Fears: a gang that finds room beside the others is told to evict
// whom another one evicts; a gang that lacks a member takes
// a place among the gangs that wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/replay/what_if.h"
#include "test/unit/replay/replay_objects.h"

namespace maniple::replay_several_gangs_test {
namespace {

using namespace replay_test;  // NOLINT
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kSince[] = "2023-11-14T22:00:00Z";

TEST(SeveralGangs, OnlyWhoEvictsIsSaidToEvict) {
  WhatIfQuestion question{.cluster = {.at = kStart}};
  std::vector<Json>& cluster = question.cluster.objects;
  cluster = {NodeWith("n1", 8), NodeWith("n2", 2), GroupOf("old", 1),
             Running(PodOf("old", 0, 8), "n1", kSince),
             Parsed(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","value":100,
               "metadata":{"name":"high"}})")};
  question.job = {GroupOf("large", 1), PodOf("large", 0, 8, 100), GroupOf("small", 1),
                  PodOf("small", 0, 2)};
  question.job[1].Mutable("spec").Set("priorityClassName", "high");
  const absl::StatusOr<WhatIfAnswer> answer = AnswerWhatIf(question, Options());
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->gangs.size(), 2u);
  EXPECT_THAT(answer->gangs[0].evicts, ElementsAre("default/old"));
  EXPECT_EQ(answer->gangs[1].kind, StartKind::kNow) << GangStartText(answer->gangs[1]);
  EXPECT_THAT(answer->gangs[1].evicts, IsEmpty());
}

// A gang that runs and lacks a member is served before it, but has no place of its own.
TEST(SeveralGangs, TheFirstThatWaitsIsAtPlaceOne) {
  Replay replay(Options(), kStart);
  std::vector<Json> cluster = {
      NodeWith("n1", 8),
      Parsed(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","value":100,
               "metadata":{"name":"high"}})"),
      GroupOf("runs", 2),
      Running(PodOf("runs", 0, 8, 100), "n1", kSince),
      PodOf("runs", 1, 8, 100),
      GroupOf("waits", 1),
      PodOf("waits", 0, 8)};
  for (size_t i : {3, 4}) cluster[i].Mutable("spec").Set("priorityClassName", "high");
  cluster[2].Set("status", Json::Object({{"phase", "Running"}, {"quorumReachedAt", kSince}}));
  const absl::Status loaded = replay.Load(cluster);
  ASSERT_TRUE(loaded.ok()) << loaded;
  replay.RunUntil(kStart + absl::Seconds(4));
  const ClusterViewPtr view = replay.View();
  for (const GangView& gang : view->gangs) {
    EXPECT_EQ(gang.position, gang.name == "waits" ? 1 : 0) << gang.name << ": " << gang.message;
  }
}

}  // namespace
}  // namespace maniple::replay_several_gangs_test
