// Surplus of gangs that run, in a StrictFIFO Queue. Fears: it takes the node or the quota that the
// head of its Queue waits for; it tells another reason than that head; it is forgotten when the
// head is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "test/support/loop_driver.h"

namespace maniple::loop_strict_order_test {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kSoon = absl::Seconds(20);

// The gang "elastic" runs at its quorum of two on two of three nodes; two more of it wait.
class LoopStrictOrderTest : public ::testing::Test {
 protected:
  LoopStrictOrderTest() {
    d_.Nodes(3, 8);
    Queue queue;
    queue.meta.name = "q";
    queue.ordering = QueueOrdering::kStrictFifo;
    d_.api.Put(queue);
    d_.Submit({.gang = "elastic", .pods = 4, .min_member = 2, .queue = "q"});
    d_.Submit({.gang = "other"});
    d_.Settle(kSoon);
  }
  void SubmitHead() {
    d_.Submit({.gang = "head", .pods = 3, .queue = "q"});
    d_.Settle(kSoon);
  }
  void DeletePodsOfHead() {
    for (int i = 0; i < 3; ++i) d_.api.Delete(ResourceKind::kPod, absl::StrCat("head-", i));
    d_.Settle(kSoon);
  }
  [[nodiscard]] std::string Message() const { return d_.StatusOf("elastic").message; }

  LoopDriver d_;
};

constexpr char kBehindHead[] =
    "; the rest waits: it comes after default/head, which waits at the head of queue \"q\"";

TEST_F(LoopStrictOrderTest, SurplusLeavesANodeToTheHeadAndSaysSo) {
  ASSERT_EQ(d_.Bound("elastic"), 2);
  ASSERT_THAT(Message(), HasSubstr("; the rest waits: 0 of 2 pods fit"));
  SubmitHead();
  EXPECT_THAT(Message(), HasSubstr(kBehindHead));
  EXPECT_EQ(d_.api.FindPod("elastic-2")->scheduled_condition->reason, "HeldByReservation");
  d_.Nodes(1, 8, "late-");
  d_.Settle(kSoon);
  EXPECT_EQ(d_.Bound("elastic"), 2);
  EXPECT_THAT(Message(), HasSubstr(kBehindHead));
}

// The fear: whoever shares a Queue reads the names of others' gangs.
TEST_F(LoopStrictOrderTest, AGangOfAnotherNamespaceIsNotNamed) {
  SubmitHead();
  PodGroup group = MakePodGroup("theirs").In("other").MinMember(1);
  Pod pod = MakePod("theirs-0").In("other").Group("theirs").Gpu(8);
  group.spec.queue = "q";
  group.meta.created = pod.meta.created = d_.now;
  d_.api.Put(group);
  d_.api.Put(pod);
  d_.Settle(kSoon);
  const GangView* theirs = d_.ViewOf("theirs");
  ASSERT_NE(theirs, nullptr);
  EXPECT_EQ(theirs->message,
            "it comes after a gang of another namespace, which waits at the head of queue \"q\", "
            "and that is StrictFIFO");
  EXPECT_EQ(theirs->unnamed, "default/head") << "for who may see all";
  EXPECT_EQ(d_.ViewOf("elastic")->unnamed, "");
}

TEST_F(LoopStrictOrderTest, SurplusStartsOrSaysWhatItLacksOnceTheHeadIsGone) {
  SubmitHead();
  d_.Nodes(1, 8, "late-");
  d_.Settle(kSoon);
  DeletePodsOfHead();
  EXPECT_EQ(d_.Bound("elastic"), 3);
  EXPECT_THAT(Message(), HasSubstr("; the rest waits: 0 of 1 pods fit"));
}

TEST_F(LoopStrictOrderTest, SurplusThatWasAskedMeanwhileHearsOfTheSameHeadAgain) {
  SubmitHead();
  d_.Nodes(3, 8, "late-");
  d_.Submit({.gang = "rival", .pods = 3});
  d_.Settle(kSoon);
  ASSERT_EQ(d_.Bound("head"), 3);
  DeletePodsOfHead();
  ASSERT_EQ(d_.Bound("rival"), 3);
  ASSERT_THAT(Message(), HasSubstr("; the rest waits: 0 of 2 pods fit"));
  SubmitHead();
  EXPECT_THAT(Message(), HasSubstr(kBehindHead));
}

}  // namespace
}  // namespace maniple::loop_strict_order_test
