// The question of what would help, while it is gathered between turns. The fears: it names a gang
// that has gone meanwhile or lacks one that has come, ids in it mean something else by the end, or
// it has no end where the cluster never rests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/advice/help.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class HelpQuestionTest : public ::testing::Test {
 protected:
  // Six gangs that run, on a node each, and one that needs two nodes.
  void SetUp() override {
    PutQueue(80);
    d_.Nodes(6, 8);
    for (int i = 1; i <= 6; ++i) d_.Submit({.gang = absl::StrCat("r", i), .queue = "team"});
    d_.Settle();
    d_.Submit({.gang = "w", .pods = 2, .queue = "team"});
    d_.Settle();
  }
  void PutQueue(int64_t gpus) {
    Queue queue;
    queue.meta.name = "team";
    queue.quotas = {{.resources = {{.resource = kGpuResource, .nominal = Amount(gpus)}}}};
    d_.api.Put(queue);
  }
  std::optional<HelpQuestionPtr> More(const std::string& gang = "w") {
    return d_.loop().MoreHelp({.namespace_name = "default", .name = gang}, d_.now);
  }
  // Of the question when it is whole.
  std::vector<std::string> NamesInTheEnd() {
    std::optional<HelpQuestionPtr> question;
    while (!question.has_value()) question = More();
    std::vector<std::string> names;
    for (const RunningGang& gang : (*question)->running) names.push_back(gang.name);
    return names;
  }

  LoopDriver d_{{.help_work_per_turn = 4}};
};

TEST_F(HelpQuestionTest, IsAsOfItsEndWhoeverComesAndGoesMeanwhile) {
  EXPECT_FALSE(More().has_value());
  EXPECT_FALSE(More().has_value());
  d_.api.Delete(ResourceKind::kPod, "r1-0");
  d_.api.Delete(ResourceKind::kPodGroup, "r1");
  d_.Submit({.gang = "late", .queue = "team", .priority = 1});
  d_.Settle();
  ASSERT_EQ(d_.Bound("late"), 1);
  EXPECT_THAT(NamesInTheEnd(), UnorderedElementsAre("default/r2", "default/r3", "default/r4",
                                                    "default/r5", "default/r6", "default/late"));
}

TEST_F(HelpQuestionTest, NamesTheCellsOfTheNewestQuota) {
  EXPECT_FALSE(More().has_value());
  Queue queue;
  queue.meta.name = "another";
  queue.quotas = {{.resources = {{.resource = "example.com/a", .nominal = Amount(1)}}}};
  d_.api.Put(queue);
  PutQueue(56);
  d_.Settle();
  std::optional<HelpQuestionPtr> question;
  while (!question.has_value()) question = More();
  std::vector<std::string> sentences;
  for (const Help::Entry& entry : AnswerHelp(**question).entries) {
    sentences.push_back(HelpText(entry));
  }
  EXPECT_THAT(sentences, ElementsAre("16 more nvidia.com/gpu, on empty nodes like n1, and 8 more "
                                     "nvidia.com/gpu of quota for Queue team"));
}

TEST_F(HelpQuestionTest, EndsThoughQueuesChangeAllTheTime) {
  int calls = 0;
  while (!More().has_value()) {
    ASSERT_LT(++calls, 20);
    PutQueue(80 + calls);
    d_.Exchange();
  }
  EXPECT_GT(calls, 2);
}

TEST_F(HelpQuestionTest, OfAGangThatStartsMeanwhileThereIsNone) {
  EXPECT_FALSE(More().has_value());
  d_.Nodes(2, 8, "m");
  d_.Settle();
  ASSERT_EQ(d_.Bound("w"), 2);
  EXPECT_EQ(More(), HelpQuestionPtr());
}

// The fear: a user does what would help, and the gang waits as before.
TEST_F(HelpQuestionTest, NothingHelpsWhoeverComesAfterTheHeadOfAStrictFifoQueue) {
  Queue queue;
  queue.meta.name = "team";
  queue.ordering = QueueOrdering::kStrictFifo;
  queue.quotas = {{.resources = {{.resource = kGpuResource, .nominal = Amount(80)}}}};
  d_.api.Put(queue);
  d_.Settle(absl::Seconds(5));
  d_.Submit({.gang = "after", .queue = "team"});
  d_.Settle(absl::Seconds(5));
  ASSERT_THAT(d_.StatusOf("after").message, testing::HasSubstr("it comes after default/w"));
  std::optional<HelpQuestionPtr> question;
  while (!question.has_value()) question = More("after");
  EXPECT_EQ(*question, nullptr);
}

TEST_F(HelpQuestionTest, BeginsAnewForAnotherGang) {
  d_.Submit({.gang = "x", .pods = 3, .queue = "team"});
  d_.Settle();
  EXPECT_FALSE(More("x").has_value());
  EXPECT_EQ(NamesInTheEnd().size(), 6);
}

}  // namespace
}  // namespace maniple
