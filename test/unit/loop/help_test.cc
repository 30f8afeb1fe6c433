// What would help, as the loop knows it: sentences that an operator can act on, of gangs for which
// there is something to say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/base/time_text.h"
#include "scheduler/advice/help.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class LoopHelpTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::shared_ptr<const HelpQuestion> Question(const std::string& gang) {
    return d_.loop().HelpFor({.namespace_name = "default", .name = gang}, d_.now);
  }
  [[nodiscard]] std::vector<std::string> HelpFor(const std::string& gang) {
    const auto question = Question(gang);
    if (question == nullptr) return {"no question"};
    std::vector<std::string> sentences;
    for (const Help::Entry& entry : AnswerHelp(*question).entries) {
      sentences.push_back(HelpText(entry));
    }
    return sentences;
  }
  void PutQueue(const std::string& name, int64_t gpus, const std::string& cohort = "") {
    Queue queue;
    queue.meta.name = name;
    queue.cohort = cohort;
    queue.quotas = {{.resources = {{.resource = kGpuResource, .nominal = Amount(gpus)}}}};
    d_.api.Put(queue);
  }

  LoopDriver d_;
};

TEST_F(LoopHelpTest, NamesTheGpusThatAreLackingTheQuorumThatWouldDoAndWhoIsInTheWay) {
  d_.Nodes(4, 8);
  d_.Submit({.gang = "small", .pods = 1, .priority = 7});
  d_.Submit({.gang = "large", .pods = 2, .priority = 7});
  d_.Settle();
  d_.Submit({.gang = "w", .pods = 3});
  d_.Settle();
  EXPECT_THAT(HelpFor("w"), ElementsAre("16 more nvidia.com/gpu, on empty nodes like n1",
                                        "a priority above 7, which evicts default/large",
                                        "a quorum of 1 instead of 3", "the end of default/large"));
}

// The fear: somebody raises a priority that was not what the gang lacked.
TEST_F(LoopHelpTest, NoHigherPriorityIsNamedWhereItsOwnIsEnough) {
  d_.Nodes(2, 8);
  Queue queue;
  queue.meta.name = "team";
  queue.within_queue = WithinQueuePreemption::kLowerOrNewerEqualPriority;
  queue.quotas = {{.resources = {{.resource = kGpuResource, .nominal = Amount(16)}}}};
  d_.api.Put(queue);
  d_.Submit({.gang = "large", .pods = 2, .queue = "team", .priority = 7});
  d_.Settle(absl::Seconds(1));
  d_.Submit({.gang = "w", .pods = 2, .queue = "team", .priority = 7});
  d_.Settle(absl::Seconds(1));
  EXPECT_THAT(HelpFor("w"), Contains("a priority above 7, which evicts default/large"));
  HelpQuestion question = *Question("w");
  question.queued = absl::InfinitePast();  // as if it had come first, and might not evict yet
  for (const Help::Entry& entry : AnswerHelp(question).entries) {
    EXPECT_THAT(HelpText(entry), Not(StartsWith("a priority")));
  }
}

// The fear: somebody buys GPUs where some are free, and what the pods lack are cores or memory.
TEST_F(LoopHelpTest, WhereGpusAreFreeNodesAreNamedForWhatIsLackingThere) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  for (const char* name : {"n1", "n2"}) d_.Put(MakeNode(name).Gpu(8));  // 64 cores, 512 GiB
  d_.Put(MakePodGroup("busy").MinMember(2));
  for (const char* name : {"busy-0", "busy-1"}) {
    d_.Put(MakePod(name).Group("busy").Gpu(1).Cpu(60'000).Memory(500 * kGiB));
  }
  d_.Settle();
  d_.Put(MakePodGroup("cores").MinMember(2));
  for (const char* name : {"cores-0", "cores-1"}) {
    d_.Put(MakePod(name).Group("cores").Gpu(1).Cpu(40'000));
  }
  d_.Put(MakePodGroup("both").MinMember(1));
  d_.Put(MakePod("both-0").Group("both").Gpu(1).Cpu(40'000).Memory(400 * kGiB));
  d_.Put(MakePodGroup("gpus").MinMember(1));
  d_.Put(MakePod("gpus-0").Group("gpus").Gpu(8).Cpu(40'000));
  d_.Settle();
  EXPECT_THAT(HelpFor("cores"), Contains("2 more nodes like n1, for their cpu"));
  EXPECT_THAT(HelpFor("both"), Contains("1 more node like n1, for its memory and cpu"));
  EXPECT_THAT(HelpFor("gpus"), Contains("8 more nvidia.com/gpu, on empty nodes like n1"));
  for (const char* gang : {"cores", "both"}) {
    EXPECT_THAT(HelpFor(gang), Not(Contains(HasSubstr("more nvidia.com/gpu")))) << gang;
  }
}

TEST_F(LoopHelpTest, SaysWhenAGangIsExpectedToEndWhereThatIsKnown) {
  d_.Nodes(2, 8);
  d_.Submit({.gang = "large", .pods = 2, .expected_runtime = absl::Hours(2)});
  d_.Settle();
  d_.Submit({.gang = "w", .pods = 2});
  d_.Settle();
  EXPECT_THAT(HelpFor("w"), Contains("the end of default/large, expected at " +
                                     TimeText(d_.now + absl::Hours(2))));
}

// It cannot end, and who runs had not used what was held for it.
TEST_F(LoopHelpTest, AGangThatOnlyHasRoomHeldIsSaidToWait) {
  d_.Nodes(2, 8);
  Queue queue;
  queue.meta.name = "q";
  queue.ordering = QueueOrdering::kBackfill;
  queue.quotas = {{.resources = {{.resource = kGpuResource, .nominal = Amount(16)}}}};
  d_.api.Put(queue);
  d_.Submit({.gang = "long", .queue = "q", .expected_runtime = absl::Hours(1)});
  d_.Settle();
  d_.Submit({.gang = "big", .pods = 2, .queue = "q"});
  d_.Settle(absl::Seconds(2));
  EXPECT_THAT(d_.ViewOf("big")->message, HasSubstr("has 8 left (nominal 16, used 8,"));
  ASSERT_TRUE(d_.ViewOf("big")->planned_start.has_value());
  d_.Submit({.gang = "w", .queue = "q"});
  d_.Settle(absl::Seconds(2));
  EXPECT_THAT(HelpFor("w"),
              Contains("the deletion of default/big, which waits and has room held for it"));
}

TEST_F(LoopHelpTest, QuotaIsNamedForTheQueueAndForTheCohortAbove) {
  d_.Nodes(4, 8);
  PutQueue("team", 8, "research");
  d_.Submit({.gang = "w", .pods = 3, .queue = "team"});
  d_.Settle();
  EXPECT_THAT(HelpFor("w"), ElementsAre("16 more nvidia.com/gpu of quota for Queue team",
                                        "16 more nvidia.com/gpu of quota for Cohort research",
                                        "a quorum of 1 instead of 3"));
}

TEST_F(LoopHelpTest, WhereRoomAndQuotaLackBothAreNamedTogether) {
  d_.Nodes(2, 8);
  PutQueue("team", 8);
  d_.Submit({.gang = "w", .pods = 4, .min_member = 4, .queue = "team"});
  d_.Settle();
  EXPECT_THAT(HelpFor("w"), ElementsAre("a quorum of 1 instead of 4"));
  d_.Submit({.gang = "x", .pods = 4, .queue = "team"});
  PutQueue("team", 0);
  d_.Settle();
  EXPECT_THAT(HelpFor("x"), ElementsAre("16 more nvidia.com/gpu, on empty nodes like n1, and 32 "
                                        "more nvidia.com/gpu of quota for Queue team"));
}

TEST_F(LoopHelpTest, WhereTwoQuotasLackBothAreNamedTogether) {
  d_.Nodes(4, 8);
  Queue queue;
  queue.meta.name = "team";
  queue.quotas = {{.resources = {{.resource = kGpuResource, .nominal = Amount(0)},
                                 {.resource = "pods", .nominal = Amount(0)}}}};
  d_.api.Put(queue);
  d_.Submit({.gang = "w", .pods = 3, .queue = "team"});
  d_.Settle();
  EXPECT_THAT(HelpFor("w"), ElementsAre("24 more nvidia.com/gpu of quota for Queue team, and 3 "
                                        "more pods of quota for Queue team"));
}

TEST_F(LoopHelpTest, ARackIsNamedWithTheRoomThatItLacksAndTheWiderLevelThatWouldDo) {
  Topology topology;
  topology.meta.name = "default";
  topology.levels = {{.name = "block", .node_label = "block"},
                     {.name = "rack", .node_label = "rack"}};
  d_.api.Put(topology);
  for (const char* name : {"a1", "a2", "b1"}) {
    d_.Put(MakeNode(name)
               .Gpu(8)
               .Product("NVIDIA-H100-80GB-HBM3")
               .Label("block", "k")
               .Label("rack", std::string(name, 1)));
  }
  PodGroup group = MakePodGroup("w").MinMember(3).Required("rack");
  d_.api.Put(group);
  d_.Submit({.gang = "w", .pods = 3});
  d_.Settle();
  EXPECT_THAT(
      HelpFor("w"),
      ElementsAre("8 more nvidia.com/gpu (H100-80GB-HBM3) in rack k/a, on empty nodes "
                  "like a1",
                  "a quorum of 2 instead of 3", "block as the required level instead of rack"));
}

// Copies of one node that had its host name would be one host.
TEST_F(LoopHelpTest, NewNodesAreHostsOfTheirOwn) {
  constexpr char kHost[] = "kubernetes.io/hostname";
  d_.Put(MakeNode("n1").Gpu(1).Label(kHost, "n1"));
  d_.Put(MakePodGroup("w").MinMember(3));
  for (const char* name : {"w-0", "w-1", "w-2"}) {
    d_.Put(MakePod(name).Group("w").Gpu(1).Label("app", "w").Apart(kHost, Labelled("app", "w")));
  }
  d_.Settle();
  EXPECT_THAT(HelpFor("w"), Contains("2 more nvidia.com/gpu, on empty nodes like n1"));
}

// More nodes would not do, and neither would the end of one of them.
TEST_F(LoopHelpTest, NamesTheGangsThatMustAllEnd) {
  constexpr char kHost[] = "kubernetes.io/hostname";
  d_.Put(MakeNode("n1").Gpu(8).Label(kHost, "n1"));
  d_.Put(MakeNode("n2").Gpu(8).Label(kHost, "n2"));
  const auto put = [&](const std::string& gang, int64_t gpus, const char* host) {
    d_.Put(MakePodGroup(gang).MinMember(1));
    // No class may give a user more.
    d_.Put(
        MakePod(gang + "-0").Group(gang).Gpu(gpus).Selector(kHost, host).Priority(1'000'000'000));
    d_.Settle(absl::Seconds(1));
  };
  put("one", 4, "n1");
  put("other", 4, "n1");
  put("elsewhere", 4, "n2");
  put("w", 8, "n1");
  EXPECT_THAT(HelpFor("w"), ElementsAre("the end of default/one, and the end of default/other"));
}

TEST_F(LoopHelpTest, ANodeThatIsCordonedOrTaintedIsNamedWithWhatKeepsItOut) {
  d_.Put(MakeNode("n1").Gpu(8));
  d_.Put(MakeNode("n2").Gpu(8).Cordoned());
  d_.Put(MakeNode("n3").Gpu(8).WithTaint("maintenance", "true"));
  d_.Submit({.gang = "w", .pods = 2});
  d_.Settle();
  EXPECT_THAT(HelpFor("w"), Contains("node n2 uncordoned"));
  EXPECT_THAT(HelpFor("w"), Contains("node n3 without its taint maintenance=true:NoSchedule"));
}

// Nobody can take such a taint away: it would come back.
TEST_F(LoopHelpTest, ANodeThatIsNotReadyIsNoMatterOfASetting) {
  d_.Put(MakeNode("n1").Gpu(8).WithTaint("node.kubernetes.io/not-ready"));
  d_.Submit({.gang = "w"});
  d_.Settle();
  EXPECT_THAT(HelpFor("w"), Contains("node n1 ready again"));
  EXPECT_EQ(CheapHelp(AnswerHelp(*Question("w"))), "");
}

TEST_F(LoopHelpTest, AGangThatLacksMembersMayStartWithASmallerQuorum) {
  d_.Nodes(2, 8);
  d_.Submit({.gang = "w", .pods = 2, .min_member = 5});
  d_.Settle();
  EXPECT_THAT(HelpFor("w"), ElementsAre("a quorum of 2 instead of 5"));
}

// A smaller quorum would not let it pass the head of its Queue.
TEST_F(LoopHelpTest, AGangThatLacksMembersBehindAHeadIsNotAdvised) {
  d_.Nodes(1, 8);
  Queue queue;
  queue.meta.name = "strict";
  queue.ordering = QueueOrdering::kStrictFifo;
  d_.api.Put(queue);
  d_.Submit({.gang = "before", .pods = 1, .min_member = 2, .queue = "strict", .priority = 3});
  d_.Submit({.gang = "after", .pods = 1, .min_member = 2, .queue = "strict"});
  d_.Settle();
  EXPECT_THAT(HelpFor("after"), ElementsAre("a quorum of 1 instead of 2"));
  d_.Submit({.gang = "other", .priority = 9});
  d_.Settle();
  d_.Submit({.gang = "head", .queue = "strict", .priority = 2});
  d_.Settle();
  EXPECT_NE(Question("before"), nullptr);
  EXPECT_EQ(Question("after"), nullptr);
}

TEST_F(LoopHelpTest, NothingIsAskedOfWhoRunsOrIsUnknownOrWaitsForItsQueue) {
  d_.Nodes(1, 8);
  d_.Submit({.gang = "runs", .pods = 1});
  d_.Submit({.gang = "lost", .pods = 1, .queue = "nowhere"});
  d_.Settle();
  for (const char* gang : {"runs", "lost", "unknown"}) {
    EXPECT_EQ(Question(gang), nullptr) << gang;
  }
}

TEST_F(LoopHelpTest, TheAnswerOutlivesWhatHappensToTheClusterMeanwhile) {
  d_.Nodes(1, 8);
  d_.Submit({.gang = "w", .pods = 2});
  d_.Settle();
  const auto question = Question("w");
  d_.Nodes(3, 8);
  d_.Settle();
  EXPECT_EQ(d_.Bound("w"), 2);
  const Help help = AnswerHelp(*question);
  ASSERT_THAT(help.entries, Not(IsEmpty()));
  EXPECT_THAT(HelpText(help.entries.front()), StartsWith("8 more nvidia.com/gpu"));
}

TEST_F(LoopHelpTest, AsManyStepsAsAreAllowedAndTheAnswerSaysThatItWasCutShort) {
  d_.Nodes(4, 8);
  d_.Submit({.gang = "w", .pods = 9});
  d_.Settle();
  const Help help = AnswerHelp(*Question("w"), 1);
  EXPECT_THAT(help.entries, IsEmpty());
  EXPECT_EQ(HelpNote(help), "the search was cut short: there may be more");
}

// The fears for the sentence in a status: it stays when it is not true any more, a new leader takes
// it away and says it again, or an answer to an old question is told.
class StatusHelpTest : public LoopHelpTest {
 protected:
  void SetUp() override {
    PutQueue("team", 8);
    d_.Nodes(4, 8);
    d_.Submit({.gang = "w", .pods = 3, .queue = "team"});
    d_.Settle();
  }
  // As the process does.
  bool AskAndTell() {
    const std::optional<GangKey> gang = d_.loop().TakeHelpDue(d_.now);
    if (!gang.has_value()) return false;
    const auto question = d_.loop().HelpFor(*gang, d_.now);
    d_.loop().TellHelp(*gang, question == nullptr ? "" : CheapHelp(AnswerHelp(*question)), d_.now);
    d_.Settle();
    return true;
  }
  void Wait(absl::Duration time) {
    d_.Settle();
    d_.now += time;
    d_.Settle(absl::Seconds(5));
  }
  [[nodiscard]] std::string Message() const { return d_.StatusOf("w").message; }

  static constexpr absl::string_view kNote =
      "; it would start with 16 more nvidia.com/gpu of quota for Queue team";
};

TEST_F(StatusHelpTest, SaysWhatIsCheapOnceTheGangHasWaitedForAWhile) {
  EXPECT_FALSE(AskAndTell());
  EXPECT_THAT(Message(), Not(HasSubstr("it would start with")));
  Wait(absl::Seconds(10));
  EXPECT_TRUE(AskAndTell());
  EXPECT_THAT(Message(), EndsWith(kNote));
  EXPECT_EQ(d_.ViewOf("w")->message.find("it would start"), std::string::npos)
      << "explain has all of it, in a place of its own";
  EXPECT_FALSE(AskAndTell());
  Wait(absl::Minutes(1));
  const int64_t written = d_.loop().counters().statuses_written;
  EXPECT_TRUE(AskAndTell());
  EXPECT_EQ(d_.loop().counters().statuses_written, written) << "nothing has changed";
}

TEST_F(StatusHelpTest, IsDroppedWithTheMessageAndWhenTheGangStarts) {
  Wait(absl::Seconds(10));
  EXPECT_TRUE(AskAndTell());
  PutQueue("team", 16);
  Wait(absl::Minutes(2));
  EXPECT_THAT(Message(), Not(HasSubstr("it would start with")));
  EXPECT_TRUE(AskAndTell());
  Wait(absl::Minutes(2));
  EXPECT_THAT(Message(),
              EndsWith("it would start with 8 more nvidia.com/gpu of quota for Queue team"));
  PutQueue("team", 24);
  Wait(absl::Minutes(2));
  EXPECT_EQ(d_.Bound("w"), 3);
  EXPECT_THAT(Message(), Not(HasSubstr("it would start with")));
  EXPECT_EQ(d_.loop().NextHelpDue(), absl::InfiniteFuture());
}

// The message speaks of quota, and does not change when others take the room.
TEST_F(StatusHelpTest, IsTakenBackSoonWhenItIsTrueNoMore) {
  Wait(absl::Seconds(10));
  EXPECT_TRUE(AskAndTell());
  EXPECT_THAT(Message(), EndsWith(kNote));
  d_.Submit({.gang = "others", .pods = 2});
  Wait(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("others"), 2);
  EXPECT_TRUE(AskAndTell());
  Wait(absl::Seconds(5));
  EXPECT_THAT(Message(), Not(HasSubstr("it would start with")));
}

TEST_F(StatusHelpTest, AnAnswerThatCameTooLateIsNotTold) {
  Wait(absl::Seconds(10));
  const std::optional<GangKey> gang = d_.loop().TakeHelpDue(d_.now);
  ASSERT_TRUE(gang.has_value());
  PutQueue("team", 16);
  d_.Settle();
  d_.loop().TellHelp(*gang, "16 more", d_.now);
  Wait(absl::Minutes(2));
  EXPECT_THAT(Message(), Not(HasSubstr("it would start with")));
}

TEST_F(StatusHelpTest, TheNextLeaderLeavesItStanding) {
  Wait(absl::Seconds(10));
  EXPECT_TRUE(AskAndTell());
  const std::string version = d_.api.FindGroup("w")->meta.resource_version;
  d_.Restart();
  Wait(absl::Minutes(2));
  EXPECT_EQ(d_.api.FindGroup("w")->meta.resource_version, version) << "it was written again";
  EXPECT_THAT(Message(), EndsWith(kNote));
}

TEST_F(StatusHelpTest, WhatCostsHardwareOrWorkIsLeftToExplain) {
  PutQueue("team", 80);
  d_.Submit({.gang = "x", .pods = 5, .queue = "team"});
  Wait(absl::Seconds(10));
  while (AskAndTell()) {
  }
  EXPECT_THAT(HelpFor("x"), Not(IsEmpty()));
  EXPECT_THAT(d_.StatusOf("x").message, Not(HasSubstr("it would start with")));
}

}  // namespace
}  // namespace maniple
