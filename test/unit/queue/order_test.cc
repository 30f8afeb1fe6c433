// The GangQueue with Queues and Cohorts. The fears: a gang, or surplus of one that runs, passes a
// blocked head of a StrictFIFO Queue; one waits for ever behind somebody who cannot be asked; a
// wake reaches another tree or misses its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "queue/gang_queue.h"

namespace maniple::queue_order_test {
namespace {

std::optional<QuotaNodeId> NotShort(QueueItem) { return std::nullopt; }

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr auto kAnyRoom = [](ShapeId) { return true; };
constexpr QuotaCellId kGpu(0);
const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

QueueItem Quorum(uint32_t gang) { return {GangId(gang), ItemKind::kQuorum}; }
QueueItem Repair(uint32_t gang) { return {GangId(gang), ItemKind::kRepair}; }
QueueItem Surplus(uint32_t gang) { return {GangId(gang), ItemKind::kSurplus}; }
Demand Gpus(int64_t units) { return {{kGpu, Amount(units)}}; }
OrderKey In(QuotaNodeId queue, int seconds, int32_t priority = 0, int64_t gpus = 1) {
  return {.priority = priority,
          .queued = kStart + absl::Seconds(seconds),
          .namespace_name = "default",
          .name = absl::StrCat("g", seconds),
          .queue = queue,
          .demand = Gpus(gpus)};
}
ParkFacts Waits(const std::string& class_key, uint32_t relief = kReliefRoom) {
  return {.class_key = class_key, .relief = relief};
}
ParkFacts NeverFits(const std::string& class_key) {
  return {.class_key = class_key, .relief = kReliefNodes, .blocks = false};
}
std::vector<QueueItem> Drain(GangQueue& queue) {
  std::vector<QueueItem> out;
  while (const auto item = queue.Pop(kStart)) out.push_back(*item);
  return out;
}

// Cohort 0 over the Queues `strict` and `loose` of 4 GPUs each; `far` is a tree of its own.
class QueueOrder : public ::testing::Test {
 protected:
  static QuotaNodeSpec Node(QuotaNodeId parent, int64_t nominal) {
    return {.parent = parent, .limits = {{.cell = kGpu, .nominal = Amount(nominal)}}};
  }
  QueueOrder() : tree({Node({}, 0), Node(cohort, 4), Node(cohort, 4), Node({}, 4)}, {0}) {
    queue.SetTree(&tree, Rules(QueueOrdering::kStrictFifo), FairSharing::kOn);
  }
  static std::vector<QueueRules> Rules(QueueOrdering of_strict) { return {{}, {of_strict}}; }
  void OfferAndPark(QueueItem item, const OrderKey& order, ParkFacts facts) {
    queue.Offer(item, order);
    ASSERT_EQ(queue.Pop(kStart), item);
    queue.Park(item, order, std::move(facts));
  }
  void Use(QuotaNodeId node, int64_t gpus) {
    tree.Add(node, Gpus(gpus));
    queue.UsageChanged(node);
  }

  const QuotaNodeId cohort = QuotaNodeId(0), strict = QuotaNodeId(1), loose = QuotaNodeId(2),
                    far = QuotaNodeId(3), none;
  QuotaTree tree;
  GangQueue queue;
};

TEST_F(QueueOrder, AQueueIsDrainedWhileItIsItsTurn) {
  Use(loose, 4);
  for (uint32_t i = 0; i < 3; ++i) queue.Offer(Quorum(i), In(strict, static_cast<int>(i + 5)));
  queue.Offer(Quorum(9), In(loose, 0, /*priority=*/50));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(0), Quorum(1), Quorum(2), Quorum(9)));
}

TEST_F(QueueOrder, WhatAQueueStartsCountsAgainstItsNext) {
  queue.Offer(Quorum(1), In(strict, 1, 0, 4));
  queue.Offer(Quorum(2), In(strict, 2, 9, 4));
  queue.Offer(Quorum(3), In(loose, 3, 0, 4));
  ASSERT_EQ(queue.Pop(kStart), Quorum(2));
  queue.Started(Quorum(2));
  Use(strict, 4);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(3), Quorum(1)));
}

TEST_F(QueueOrder, GangsWithoutAQueueAndOtherTreesCompareByPriorityAndTime) {
  queue.Offer(Quorum(1), In(strict, 4, 0, 100));  // borrows, and wins its tree all the same
  queue.Offer(Quorum(2), In(none, 3));
  queue.Offer(Quorum(3), In(far, 5));
  queue.Offer(Quorum(4), In(none, 9, 1));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(4), Quorum(2), Quorum(1), Quorum(3)));
}

TEST_F(QueueOrder, ARepairGoesBeforeTheWinnerOfTheSamePriorityOrLower) {
  queue.Offer(Quorum(1), In(strict, 1, 5));
  queue.Offer(Repair(2), In(loose, 9, 5));
  queue.Offer(Quorum(3), In(loose, 2, 6, 9));  // borrows
  queue.Offer(Repair(4), In(none, 9, 4));
  EXPECT_THAT(Drain(queue), ElementsAre(Repair(2), Quorum(1), Quorum(3), Repair(4)));
}

TEST_F(QueueOrder, SurplusHasATournamentOfItsOwnAfterEveryQuorum) {
  Use(loose, 4);
  queue.Offer(Surplus(1), In(loose, 1, 9));
  queue.Offer(Surplus(2), In(strict, 2));
  queue.Offer(Quorum(3), In(loose, 3));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(3), Surplus(2), Surplus(1)));
}

TEST_F(QueueOrder, NothingPassesABlockedHeadOfAStrictQueueOnly) {
  OfferAndPark(Quorum(1), In(strict, 1), Waits("big"));
  OfferAndPark(Quorum(2), In(loose, 1), Waits("big"));
  queue.Offer(Quorum(3), In(strict, 2));
  queue.Offer(Quorum(4), In(loose, 2));
  queue.Offer(Surplus(5), In(strict, 0, /*priority=*/9));
  queue.Offer(Surplus(8), In(loose, 3));
  queue.Offer(Repair(6), In(strict, 4));
  EXPECT_EQ(queue.ready(), 3u);
  EXPECT_THAT(Drain(queue), ElementsAre(Repair(6), Quorum(4), Surplus(8)));
  EXPECT_EQ(queue.ready(), 0u);
  EXPECT_THAT(queue.WaitingItems(), ElementsAre(Quorum(1), Quorum(2), Quorum(3), Surplus(5)));
  queue.Offer(Quorum(7), In(strict, 9, /*priority=*/1));  // comes before the head
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(7)));
}

TEST_F(QueueOrder, TheHoldEndsWhenTheHeadIsWokenRemovedOrChanged) {
  for (const int how : {0, 1, 2}) {
    OfferAndPark(Quorum(1), In(strict, 1), Waits("big"));
    queue.Offer(Quorum(2), In(strict, 2));
    queue.Offer(Surplus(3), In(strict, 0));
    ASSERT_TRUE(Drain(queue).empty());
    std::vector<QueueItem> expected{Quorum(1), Quorum(2), Surplus(3)};
    if (how == 0) queue.Wake(kReliefRoom, kAnyRoom, NotShort);
    if (how == 1) queue.Offer(Quorum(1), In(strict, 1));
    if (how == 2) {
      queue.RemoveGang(GangId(1));
      expected = {Quorum(2), Surplus(3)};
    }
    EXPECT_EQ(Drain(queue), expected) << how;
    for (uint32_t gang = 1; gang <= 3; ++gang) queue.RemoveGang(GangId(gang));
  }
}

TEST_F(QueueOrder, AHeadThatCanNeverStartBlocksNobody) {
  OfferAndPark(Quorum(1), In(strict, 1), NeverFits("huge"));
  queue.Offer(Quorum(2), In(strict, 2));
  queue.Offer(Surplus(3), In(strict, 3));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(2), Surplus(3)));
}

TEST_F(QueueOrder, ParkedSurplusIsAskedAgainWhenTheHeadThatHeldItUpIsGone) {
  OfferAndPark(Surplus(1), In(strict, 1), Waits("small"));
  OfferAndPark(Quorum(2), In(strict, 2), Waits("big"));
  EXPECT_THAT(queue.HeldUp(strict), ElementsAre(Surplus(1)));
  EXPECT_EQ(queue.BlockerOf(Surplus(1)), Quorum(2));
  queue.Wake(kReliefRoom, kAnyRoom, NotShort);
  ASSERT_EQ(queue.Pop(kStart), Quorum(2));
  queue.Park(Quorum(2), In(strict, 2), Waits("big"));
  EXPECT_TRUE(Drain(queue).empty());
  EXPECT_THAT(queue.ParkedItems(), ElementsAre(Quorum(2)));
  queue.RemoveGang(GangId(2));
  EXPECT_EQ(queue.BlockerOf(Surplus(1)), std::nullopt);
  EXPECT_THAT(Drain(queue), ElementsAre(Surplus(1)));
}

TEST_F(QueueOrder, SurplusThatFailsAfterAHeadHasBlockedItsQueueStandsBehindThatHead) {
  queue.Offer(Surplus(1), In(strict, 1));
  ASSERT_EQ(queue.Pop(kStart), Surplus(1));
  OfferAndPark(Quorum(2), In(strict, 2), Waits("big"));
  queue.Park(Surplus(1), In(strict, 1), Waits("small"));
  EXPECT_THAT(queue.HeldUp(strict), ElementsAre(Surplus(1)));
  EXPECT_TRUE(Drain(queue).empty());
}

TEST_F(QueueOrder, ABlockedHeadThatIsPassedByPriorityIsAskedAgainWhenItsTurnComes) {
  OfferAndPark(Quorum(1), In(strict, 1), Waits("a"));
  OfferAndPark(Quorum(2), In(strict, 2, /*priority=*/5), Waits("b"));
  EXPECT_EQ(queue.parked(), 1u);
  EXPECT_TRUE(Drain(queue).empty());
  queue.RemoveGang(GangId(2));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(1)));
}

TEST_F(QueueOrder, AQuestionHeldUpInAStrictQueueIsPassedOnToAnother) {
  OfferAndPark(Quorum(1), In(strict, 1), Waits("same"));
  OfferAndPark(Quorum(2), In(loose, 2), Waits("same"));
  queue.Wake(kReliefRoom, kAnyRoom, NotShort);  // wakes 1, for both
  queue.Offer(Quorum(3), In(strict, 3, /*priority=*/5));
  ASSERT_EQ(queue.Pop(kStart), Quorum(3));
  queue.Park(Quorum(3), In(strict, 3, 5), Waits("other"));  // holds up 1
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(2)));
}

TEST_F(QueueOrder, SurplusThatIsHeldUpPassesItsQuestionOnToAnotherQueue) {
  OfferAndPark(Surplus(1), In(strict, 1), Waits("same"));
  OfferAndPark(Surplus(2), In(loose, 2), Waits("same"));
  queue.Wake(kReliefRoom, kAnyRoom, NotShort);  // wakes 1, for both
  OfferAndPark(Quorum(3), In(strict, 3), Waits("big"));
  EXPECT_THAT(Drain(queue), ElementsAre(Surplus(2)));
}

TEST_F(QueueOrder, SurplusThatIsHeldUpDoesNotSpeakForAnotherQueue) {
  OfferAndPark(Surplus(1), In(strict, 1), Waits("same"));
  OfferAndPark(Surplus(2), In(loose, 2), Waits("same"));
  OfferAndPark(Quorum(3), In(strict, 3), Waits("big", kReliefVolumes));
  queue.Wake(kReliefRoom, kAnyRoom, NotShort);
  EXPECT_THAT(Drain(queue), ElementsAre(Surplus(2)));
}

TEST_F(QueueOrder, AFailureOfTheSameClassAnswersAQuestionThatItHoldsUp) {
  OfferAndPark(Quorum(1), In(strict, 1), Waits("same"));
  OfferAndPark(Quorum(2), In(loose, 2), Waits("same"));
  queue.Wake(kReliefRoom, kAnyRoom, NotShort);
  queue.Offer(Quorum(3), In(strict, 3, /*priority=*/5));
  ASSERT_EQ(queue.Pop(kStart), Quorum(3));
  queue.Park(Quorum(3), In(strict, 3, 5), Waits("same"));
  EXPECT_TRUE(Drain(queue).empty());
  queue.Wake(kReliefRoom, kAnyRoom, NotShort);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(3), Quorum(1)));
}

TEST_F(QueueOrder, OneThatIsHeldUpKeepsNobodyOfItsClassFromBeingAsked) {
  OfferAndPark(Quorum(1), In(strict, 2), NeverFits("huge"));
  OfferAndPark(Quorum(2), In(strict, 1), Waits("big"));
  queue.Wake(kReliefNodes, kAnyRoom, NotShort);  // wakes 1, which stands behind 2
  OfferAndPark(Quorum(3), In(strict, 0), NeverFits("huge"));
  ASSERT_TRUE(Drain(queue).empty());
  queue.Wake(kReliefNodes, kAnyRoom, NotShort);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(3)));
}

TEST_F(QueueOrder, UsageWakesOneOfEachClassThatWaitsForQuotaOfThatTreeOnly) {
  OfferAndPark(Quorum(1), In(loose, 1), Waits("q", kReliefQuota));
  OfferAndPark(Quorum(2), In(loose, 2), Waits("q", kReliefQuota));
  OfferAndPark(Quorum(3), In(loose, 3), Waits("both", kReliefQuota | kReliefRoom));
  OfferAndPark(Quorum(4), In(loose, 4), Waits("room"));
  OfferAndPark(Quorum(5), In(far, 5), Waits("q", kReliefQuota));
  OfferAndPark(Quorum(6), In(none, 6), Waits("q", kReliefQuota));
  queue.WakeQuota(cohort, NotShort);
  EXPECT_THAT(Drain(queue), UnorderedElementsAre(Quorum(1), Quorum(3)));
  const uint64_t before = queue.touched();
  queue.WakeQuota(far, NotShort);
  EXPECT_EQ(queue.touched() - before,
            3u);  // the class, the item out of it, the item among the ready
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(5)));
  queue.WakeQuota(loose, NotShort);  // no root
  EXPECT_TRUE(Drain(queue).empty());
}

// The fear: work for each of thousands that wait, whenever anybody of another team ends.
TEST_F(QueueOrder, WhoIsShortInItsOwnQueueCostsNothingWhenUsageFallsElsewhere) {
  OfferAndPark(Quorum(1), In(loose, 1), Waits("q", kReliefQuota));
  const auto in_its_queue = [this](QueueItem) { return std::optional(loose); };
  queue.WakeQuota(cohort, in_its_queue);
  const uint64_t before = queue.touched();
  queue.WakeQuota(strict, NotShort);
  queue.WakeQuota(cohort, NotShort);
  EXPECT_EQ(queue.touched(), before);
  queue.WakeQuota(loose, NotShort);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(1)));
}

TEST_F(QueueOrder, WhatWasSaidOfTheFirstOfAClassIsNotSaidOfTheNext) {
  const auto in_its_queue = [this](QueueItem) { return std::optional(loose); };
  OfferAndPark(Quorum(2), In(loose, 2), Waits("q", kReliefQuota));
  queue.WakeQuota(cohort, in_its_queue);
  OfferAndPark(Quorum(1), In(loose, 1), Waits("q", kReliefQuota));
  queue.WakeQuota(cohort, in_its_queue);
  queue.Remove(Quorum(1));
  queue.WakeQuota(cohort, NotShort);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(2)));
}

TEST_F(QueueOrder, ShortagesForgottenAreAskedAfterAtTheRoot) {
  OfferAndPark(Quorum(1), In(loose, 1), Waits("q", kReliefQuota));
  queue.WakeQuota(cohort, [this](QueueItem) { return std::optional(loose); });
  queue.ForgetShortages();
  queue.WakeQuota(cohort, NotShort);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(1)));
}

TEST_F(QueueOrder, AQueueThatMovesToAnotherTreeIsWokenWithThat) {
  OfferAndPark(Quorum(1), In(loose, 1), Waits("q", kReliefQuota));
  const QuotaTree moved(
      {Node({}, 0), Node(cohort, 4), Node(QuotaNodeId(4), 4), Node({}, 4), Node({}, 0)}, {0});
  queue.SetTree(&moved, Rules(QueueOrdering::kStrictFifo), FairSharing::kOn);
  queue.WakeQuota(cohort, NotShort);
  EXPECT_TRUE(Drain(queue).empty());
  queue.WakeQuota(QuotaNodeId(4), NotShort);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(1)));
}

TEST_F(QueueOrder, AnOrderingThatChangesHoldsUpOrLetsGoAtOnce) {
  OfferAndPark(Quorum(1), In(strict, 1), Waits("a"));
  queue.Offer(Quorum(2), In(strict, 2));
  queue.SetTree(&tree, Rules(QueueOrdering::kBestEffortFifo), FairSharing::kOn);
  ASSERT_EQ(queue.Pop(kStart), Quorum(2));
  queue.Park(Quorum(2), In(strict, 2), Waits("b"));
  OfferAndPark(Surplus(4), In(strict, 4), Waits("c"));
  queue.Offer(Quorum(3), In(strict, 3));
  queue.SetTree(&tree, Rules(QueueOrdering::kStrictFifo), FairSharing::kOn);
  EXPECT_TRUE(Drain(queue).empty());
  EXPECT_EQ(queue.parked(), 1u);
  queue.RemoveGang(GangId(1));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(2), Quorum(3), Surplus(4)));
}

TEST_F(QueueOrder, AGangWhoseQueueIsNotKnownYetCountsAsOneWithout) {
  const QuotaNodeId later(4);
  queue.Offer(Quorum(1), In(later, 1, 0, 9));
  OfferAndPark(Quorum(2), In(later, 0), Waits("a"));
  queue.Offer(Quorum(3), In(loose, 2));
  ASSERT_EQ(queue.Pop(kStart), Quorum(1));
  queue.Offer(Quorum(1), In(later, 1, 0, 9));
  const QuotaTree grown(
      {Node({}, 0), Node(cohort, 4), Node(cohort, 4), Node({}, 4), Node(cohort, 1)}, {0});
  std::vector<QueueRules> rules(5);
  queue.SetTree(&grown, rules, FairSharing::kOn);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(3), Quorum(1)));
  queue.Offer(Quorum(1), In(later, 1, 0, 9));
  queue.Offer(Quorum(3), In(loose, 2));
  rules[4].ordering = QueueOrdering::kStrictFifo;
  queue.SetTree(&grown, rules, FairSharing::kOn);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(3)));
  queue.SetTree(nullptr, {}, FairSharing::kOn);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(1)));
}

TEST_F(QueueOrder, AHeadThatFailsAgainAndAgainCostsNothingForTheThousandsBehindIt) {
  OfferAndPark(Quorum(0), In(strict, 0), Waits("a"));
  for (uint32_t i = 1; i < 10'000; ++i) {
    queue.Offer(i % 2 == 0 ? Quorum(i) : Surplus(i), In(strict, static_cast<int>(i)));
  }
  const uint64_t before = queue.touched();
  for (int turn = 0; turn < 100; ++turn) {
    queue.Wake(kReliefRoom, kAnyRoom, NotShort);
    ASSERT_EQ(queue.Pop(kStart), Quorum(0));
    queue.Park(Quorum(0), In(strict, 0), Waits("a"));
    ASSERT_EQ(queue.Pop(kStart), std::nullopt);
  }
  EXPECT_LE(queue.touched() - before, 500u);
}

}  // namespace
}  // namespace maniple::queue_order_test
