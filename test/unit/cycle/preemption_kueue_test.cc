// Kueue's own cases of preemption, as far as they are about quota alone: users who know its
// policies must meet them again here. Where the answers differ on purpose, the case says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/oracle/cycle/preemption_world.h"

namespace maniple::cycle_preemption_kueue_test {
namespace {

using Within = WithinQueuePreemption;
using Reclaim = ReclaimWithinCohort;

struct Case {
  std::string name;
  std::string tree;
  PreemptionPolicy policy;
  std::string running;
  std::string in;
  std::string victims;
  std::vector<FairStrategy> strategies = {FairStrategy::kLessThanOrEqualToFinalShare,
                                          FairStrategy::kLessThanInitialShare};
  size_t resources = 1;
};

void Expect(const Case& c, FairSharing fair_sharing) {
  PreemptionWorld world(c.tree, c.resources);
  world.policy = c.policy;
  world.strategies = c.strategies;
  world.fair_sharing = fair_sharing;
  world.Run(c.running);
  EXPECT_EQ(world.Preempt(c.in), c.victims) << c.name << ": " << world.message;
}

constexpr char kOne[] = "s 6";                    // a Queue without a Cohort
constexpr char kTwo[] = "r; c1:r 6+6; c2:r 6+6";  // two that lend to each other
constexpr char kThrifty[] = "r 10; a_std:r 1+12; b_std:r 1+12; a_be:r 1+12; b_be:r 0+13";
constexpr char kThree[] = "r; a:r 2; b:r 2; c:r 2";
constexpr PreemptionPolicy kLower = {.within = Within::kLowerPriority};
constexpr PreemptionPolicy kLowerLower = {.within = Within::kLowerPriority,
                                          .reclaim = Reclaim::kLowerPriority};
constexpr PreemptionPolicy kLowerAny = {.within = Within::kLowerPriority, .reclaim = Reclaim::kAny};
constexpr PreemptionPolicy kNeverAny = {.reclaim = Reclaim::kAny};
constexpr PreemptionPolicy kWhileBorrowing = {.within = Within::kLowerPriority,
                                              .reclaim = Reclaim::kLowerPriority,
                                              .borrowing_preempts_lower = true,
                                              .borrow_threshold = 0};

TEST(KueueClassical, ChoosesTheVictimsThatKueueChooses) {
  const std::vector<Case> cases = {
      {"17 lowest priority", kOne, kLower, "x s 2@-1; y s 2@0; z s 2@1", "s 2@1", "x(Q)"},
      {"19 none for low priority", kOne, kLower, "x s 3@-1; y s 3@0", "s 1@-1", "none"},
      {"21 smallest set", kOne, kLower, "x s 1@-1; y s 2@0; z s 3@1", "s 2@1", "y(Q)"},
      {"21 some free quota", kOne, kLower, "x s 1@-1; y s 1@0; z s 3@1", "s 2@1", "x(Q)"},
      {"23 reclaim from the borrower", kTwo, kLowerLower, "o c1 3@-1; x c2 3@0; y c2 6@1", "c1 3@1",
       "x(R)"},
      {"25 nobody borrows", kTwo, kLowerLower, "x c1 4@1; y c2 4@-1", "c1 4@1", "none"},
      {"27 own queue, while another resource is borrowed",
       "r; c1:r 6+6,3+3; c2:r 6+6,3+3",
       kLowerLower,
       "x c1 4,0@-1; y c2 4,0@-1; z c2 4,0@1",
       "c1 4,5@1",
       "x(Q)",
       {},
       2},
      {"29 no wasteful second victim", "r; s:r 6+12", kLower, "x s 4@0; y s 2@-1", "s 4@1", "x(Q)"},
      {"31 reclaim any priority", kTwo, kNeverAny, "x c1 4@0; y c1 4@1; z c2 2@0", "c2 4@0",
       "x(R)"},
      {"33 never within the queue", kTwo, kNeverAny, "x c2 3@-1; y c1 6@0", "c2 4@1", "none"},
      {"37 above the threshold while borrowing", kThrifty, kWhileBorrowing, "x b_std 10@1",
       "a_std 10@2", "none"},
      {"39 never within the queue while borrowing",
       kThrifty,
       {.reclaim = Reclaim::kLowerPriority,
        .borrowing_preempts_lower = true,
        .borrow_threshold = 0},
       "x a_std 13@1",
       "a_std 1@2",
       "none"},
      {"41 own and while borrowing", kThrifty, kWhileBorrowing,
       "w b_std 10@2; x b_std 1@1; y a_be 1@-1; z a_be 1@-2", "b_std 2@2", "x(Q) z(W)"},
      {"43 beyond what is lent", "r; lend1:r 6/4; lend2:r 6/2", kLowerLower, "x lend2 10@-1",
       "lend1 9@0", "none"},
      {"45 own work first makes room within nominal", kThree, kLowerAny,
       "o a 1@-1; v b 1@0; w b 1@0; x b 1@0; y b 1@0; z b 1@-1", "a 2@0", "o(Q) z(R)"},
  };
  for (const Case& c : cases) Expect(c, FairSharing::kOff);
}

TEST(KueueClassical, TakesTheNewestOfEqualPriority) {
  PreemptionWorld world("s 6");
  world.policy = {.within = Within::kLowerOrNewerEqualPriority};
  world.Run("x s 2@2; y s 2@1; z s 2@1");
  EXPECT_EQ(world.Preempt("s 2@1"), "none") << "all are older";
  world.queued = world.running()[0].queued;
  EXPECT_EQ(world.Preempt("s 2@1"), "z(Q)");
}

TEST(KueueHierarchical, WhatBelongsToANearerCohortIsReclaimedWhateverItsPriority) {
  const std::vector<Case> cases = {
      {"47 advantage", "r; C:r 2; q:C 0; b:r 0", kLowerAny, "x b 2@0", "q 2@0", "x(R)"},
      {"49 both", "r; C:r 2; q:C 0; b:r 0", kLowerAny, "x b 1@1; y b 1@2", "q 2@0", "x(R) y(R)"},
      {"51 hierarchy beats priority", "r; C:r 2; q:C 0; b:r 0", kLowerAny, "o q 1@-2; x b 1@1",
       "q 1@0", "x(R)"},
      {"53 from a sibling as well", "r; C:r 2; q:C 4; s:C 0; b:r 0", kLowerAny,
       "x b 3@10; y s 3@10", "q 4@0", "x(R) y(R)"},
      {"55 own queue where the others are too important", "r 1; C:r 4; q:C 0; b:r 0", kLowerLower,
       "o q 1@-1; x b 2@-1; y b 2@1", "q 3@0", "o(Q) x(R)"},
      {"57 not from a queue within nominal", "r; C:r 3; q:C 0; n:C 2; b:r 0", kLowerAny,
       "w n 2@-2; x b 1@8; y b 1@9; z b 1@9", "q 1@0", "x(R)"},
  };
  for (const Case& c : cases) Expect(c, FairSharing::kOff);
}

// Kueue knows no such work.
TEST(WithoutAQueue, AGangFreesNoQuotaAndStaysWhereQuotaAloneIsShort) {
  PreemptionWorld world("s 6");
  world.policy = kLower;
  world.Run("x - 3@-5; y s 6@0");
  EXPECT_EQ(world.Preempt("s 3@1"), "y(Q)");
  world.policy = {};
  EXPECT_EQ(world.Preempt("s 3@1"), "none");
  EXPECT_EQ(world.message, "1 gang may be evicted, and even without them quota would be lacking");
}

constexpr char kFair[] = "r; a:r 3; b:r 3; c:r 3; pre:r 0";

TEST(KueueFairSharing, ChoosesTheVictimsThatKueueChooses) {
  const std::vector<Case> cases = {
      {"63 from the one with the highest share", kFair, kLowerAny,
       "a1 a 1; a2 a 1; a3 a 1; b1 b 1; b2 b 1; b3 b 1; b4 b 1; b5 b 1; c1 c 1", "a 1", "b5(F)"},
      {"67 would flip the imbalance", kFair, kLowerAny,
       "a1 a 1; a2 a 1; a3 a 1; b1 b 1; b2 b 1; b3 b 1; b4 b 1; b5 b 1; c1 c 1", "a 2", "none"},
      {"69 own work as well", kFair, kLowerAny,
       "a1 a 1@-1; a2 a 1; a3 a 1; b1 b 1; b2 b 1; b3 b 1; b4 b 1; b5 b 1; b6 b 1", "a 2",
       "a1(Q) b6(F)"},
      {"71 nominal entitlement takes all", kFair, kLowerAny, "b1 b 9", "a 2", "b1(R)"},
      {"73 none that is enough", kFair, kLowerAny, "b1 b 2; b2 b 2; b3 b 3", "a 6", "none"},
      {"75 one of each", kFair, kLowerAny, "b1 b 2; b2 b 2.5; c1 c 2; c2 c 2.5", "a 3.5",
       "b1(F) c1(F)"},
      {"77 none above nominal that helps", kFair, kLowerAny, "b1 b 3; b2 b 3; c1 c 3", "a 4",
       "none"},
      {"79 only the initial share",
       kFair,
       kLowerAny,
       "a1 a 3; b1 b 5; b2 b 1@1",
       "a 1",
       "b1(F)",
       {FairStrategy::kLessThanInitialShare}},
      {"81 weight", "r; a:r 3~2; b:r 3; c:r 3", kLowerAny,
       "a1 a 3; b1 b 1; b2 b 1; b3 b 1; b4 b 1; b5 b 1; b6 b 1", "a 2", "b5(F) b6(F)"},
      {"83 within nominal at weight 0", "r; a:r 3; b:r 3~0", kLowerAny, "a1 a 3@1; b1 b 3", "a 1@1",
       "none"},
      {"85 without a Cohort", "s 1", kLowerAny, "x s 1@0", "s 1@1000", "x(Q)"},
      {"87 a Cohort that does not borrow", "r; a:r 5~10; R:r 1~0.1; b:R 0", kLowerAny,
       "a1 a 1@-1; a2 a 1@-1; a3 a 1@-1; b1 b 1", "a 5", "a1(Q) a2(Q) a3(Q)"},
      {"89 a deep tree", "r; A:r 0~1.01; A1:A; A2:A1; a:A2; B:r 0~0.99; B1:B; B2:B1; b:B2; n:r 1",
       kLowerAny, "b1 b 1", "a 1", "b1(F)"},
      {"91 contested flavor only", "r; a:r 3,0; b:r 0,6", kLowerAny, "a1 a 2,5; b1 b 1,0", "a 1,0",
       "b1(R)"},
  };
  for (const Case& c : cases) Expect(c, FairSharing::kOn);
}

// Kueue takes one half of each, in its order of candidates; the cost counts gangs first.
TEST(KueueFairSharing, OneGangGoesWhereKueueTakesTwo) {
  Expect({"65", kFair, kLowerAny, "a1 a .5; a2 a .5; a3 a 3; b1 b .5; b2 b .5; b3 b 3", "c 2",
          "b3(R)"},
         FairSharing::kOn);
}

// 93: what rule (a) refuses stays available to rule (b), once for each Queue.
TEST(KueueFairSharing, WhatTheFirstRuleRefusesTheSecondMayTake) {
  PreemptionWorld world("r; a:r 1; b:r 1; c:r 1");
  world.fair_sharing = FairSharing::kOn;
  world.Run("b1 b 2; c1 c 1");
  EXPECT_EQ(world.Preempt("a 1.5"), "b1(F)");
  EXPECT_TRUE(world.used_initial_share);
  world.strategies = {FairStrategy::kLessThanOrEqualToFinalShare};
  EXPECT_EQ(world.Preempt("a 1.5"), "none");
}

}  // namespace
}  // namespace maniple::cycle_preemption_kueue_test
