// Several gangs in one question. Fears: a gang that finds room beside the others is told to evict
// whom another one evicts.
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

}  // namespace
}  // namespace maniple::replay_several_gangs_test
