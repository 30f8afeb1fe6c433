// The fears: a Queue that borrows served before one that takes its own, a winner remembered after
// the usage that made it win has changed, and an order that depends on who came first.
#include "queue/tournament.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/oracle/queue/naive_tournament.h"
#include "test/oracle/queue/quota_forest.h"

namespace maniple::queue_tournament_test {
namespace {

constexpr QuotaCellId kGpu(0);
const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

Demand Gpus(int64_t units) { return {{kGpu, Amount(units)}}; }
QueueHead Head(int64_t gpus, int32_t priority = 0, int seconds = 0, const std::string& name = "g") {
  return {.priority = priority,
          .queued = kStart + absl::Seconds(seconds),
          .namespace_name = "default",
          .name = name,
          .demand = Gpus(gpus)};
}
QuotaNodeSpec Node(QuotaNodeId parent, int64_t nominal, int64_t weight_milli = 1000) {
  return {.parent = parent,
          .weight_milli = weight_milli,
          .limits = {{.cell = kGpu, .nominal = Amount(nominal)}}};
}

// One Cohort (node 0) over Queues of 4 GPUs each: nodes 1, 2 and 3.
class FlatTournament : public ::testing::Test {
 protected:
  explicit FlatTournament(FairSharing fair_sharing = FairSharing::kOn, int64_t weight_of_c = 1000)
      : tree({Node({}, 0), Node(root, 4), Node(root, 4), Node(root, 4, weight_of_c)}, {0}),
        tournament(tree, fair_sharing) {}

  void Use(QuotaNodeId queue, int64_t gpus) {
    tree.Add(queue, Gpus(gpus));
    tournament.Touch(queue);
  }
  void Free(QuotaNodeId queue, int64_t gpus) {
    tree.Remove(queue, Gpus(gpus));
    tournament.Touch(queue);
  }

  const QuotaNodeId root = QuotaNodeId(0), a = QuotaNodeId(1), b = QuotaNodeId(2),
                    c = QuotaNodeId(3);
  QuotaTree tree;
  Tournament tournament;
};
class FlatTournamentWithoutFairSharing : public FlatTournament {
 protected:
  FlatTournamentWithoutFairSharing() : FlatTournament(FairSharing::kOff) {}
};
class FlatTournamentOfWeights : public FlatTournament {
 protected:
  FlatTournamentOfWeights() : FlatTournament(FairSharing::kOn, 3000) {}
};

TEST_F(FlatTournament, NobodyWinsWhereNoQueueHasAHead) {
  EXPECT_EQ(tournament.Winner(), std::nullopt);
  tournament.SetHead(a, Head(1));
  EXPECT_EQ(tournament.Winner(), a);
  EXPECT_EQ(tournament.HeadOf(a).demand, Gpus(1));
  tournament.SetHead(a, std::nullopt);
  EXPECT_EQ(tournament.Winner(), std::nullopt);
}

TEST_F(FlatTournament, WhoDoesNotBorrowGoesBeforeAnyPriority) {
  tournament.SetHead(a, Head(5, /*priority=*/100));
  tournament.SetHead(b, Head(4));
  EXPECT_EQ(tournament.Winner(), b);
}

TEST_F(FlatTournament, OfTwoThatBorrowTheLowerShareWithTheCandidateWins) {
  Use(a, 4);
  Use(b, 5);
  tournament.SetHead(a, Head(3, /*priority=*/9));  // would borrow 3
  tournament.SetHead(b, Head(1));                  // would borrow 2
  EXPECT_EQ(tournament.Winner(), b);
  Use(b, 2);  // would borrow 4
  EXPECT_EQ(tournament.Winner(), a);
  Free(b, 2);
  EXPECT_EQ(tournament.Winner(), b);
}

TEST_F(FlatTournamentOfWeights, AWeightOfThreeBorrowsThriceAsMuchAtTheSameShare) {
  Use(a, 4);
  Use(c, 4);
  tournament.SetHead(a, Head(1, /*priority=*/9));
  tournament.SetHead(c, Head(2));
  EXPECT_EQ(tournament.Winner(), c);
  tournament.SetHead(c, Head(4));
  EXPECT_EQ(tournament.Winner(), a);
}

TEST_F(FlatTournament, EqualSharesGoByPriorityThenTimeThenNameThenQueue) {
  tournament.SetHead(a, Head(1, 0, 5, "m"));
  tournament.SetHead(b, Head(1, 1, 9, "z"));
  EXPECT_EQ(tournament.Winner(), b);
  tournament.SetHead(b, Head(1, 0, 4, "z"));
  EXPECT_EQ(tournament.Winner(), b);
  tournament.SetHead(b, Head(1, 0, 5, "b"));
  EXPECT_EQ(tournament.Winner(), b);
  tournament.SetHead(b, Head(1, 0, 5, "m"));
  EXPECT_EQ(tournament.Winner(), a);
}

TEST_F(FlatTournamentWithoutFairSharing, TheLowerHeightWinsWhateverTheShares) {
  Use(a, 3);
  tournament.SetHead(a, Head(1));
  tournament.SetHead(b, Head(5, /*priority=*/9));
  EXPECT_EQ(tournament.Winner(), a);
  tournament.SetHead(a, Head(2));  // now both borrow at the root
  EXPECT_EQ(tournament.Winner(), b);
}

// Cohort 0 has 10 of its own; below it the Cohorts 1 and 2, and Queues of 1 GPU each: 3 and 4 in
// the one, 5 in the other. Cohort 1 has 2 more, so 4 in all.
QuotaTree TwoLevels() {
  const QuotaNodeId top(0), left(1), right(2);
  return {{Node({}, 10), Node(top, 2), Node(top, 0), Node(left, 1), Node(left, 1), Node(right, 1)},
          {0}};
}

TEST(Tournament, ACohortIsJudgedByItsOwnUsageNotByThatOfItsWinner) {
  QuotaTree tree = TwoLevels();
  Tournament tournament(tree, FairSharing::kOn);
  const QuotaNodeId greedy(3), modest(4), other(5);
  tree.Add(greedy, Gpus(4));
  tournament.SetHead(modest,
                     Head(1));  // within its own, but its Cohort lends all it has to `greedy`
  tournament.SetHead(other, Head(1));
  EXPECT_EQ(tournament.Winner(), other);
  tree.Remove(greedy, Gpus(1));
  tournament.Touch(greedy);
  tournament.SetHead(other, Head(2));
  EXPECT_EQ(tournament.Winner(), modest);
}

TEST(Tournament, WithoutFairSharingUsageElsewhereRaisesAndLowersAHeight) {
  QuotaTree tree = TwoLevels();
  Tournament tournament(tree, FairSharing::kOff);
  const QuotaNodeId first(3), second(4), other(5);
  tournament.SetHead(first, Head(2));                  // from its Cohort: height 1
  tournament.SetHead(other, Head(2, /*priority=*/9));  // from the root: height 2
  EXPECT_EQ(tournament.Winner(), first);
  tree.Add(second, Gpus(3));
  tournament.Touch(second);
  EXPECT_EQ(tournament.Winner(), other);  // the Cohort of `first` has nothing left
  tree.Remove(second, Gpus(3));
  tournament.Touch(second);
  EXPECT_EQ(tournament.Winner(), first);
}

TEST(Tournament, TreesCompareByPriorityOnlyWhateverTheyBorrow) {
  const QuotaNodeId top(0), borrower(1), alone(2);
  for (const FairSharing fair_sharing : {FairSharing::kOn, FairSharing::kOff}) {
    QuotaTree tree({Node({}, 10), Node(top, 0), Node({}, 10)}, {0});
    Tournament tournament(tree, fair_sharing);
    tournament.SetHead(borrower, Head(5, 1));
    tournament.SetHead(alone, Head(1, 0));
    EXPECT_EQ(tournament.Winner(), borrower);
    tournament.SetHead(alone, Head(1, 2));
    EXPECT_EQ(tournament.Winner(), alone);
  }
}

TEST(Tournament, ATreeOfNothingHasNoWinner) {
  const QuotaTree tree;
  EXPECT_EQ(Tournament(tree, FairSharing::kOn).Winner(), std::nullopt);
  EXPECT_EQ(Tournament(tree, FairSharing::kOff).Winner(), std::nullopt);
}

TEST(TournamentModel, AgreesWithMatchesPlayedFromScratch) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    QuotaForest forest(random);
    if (random.OneIn(4)) forest.Grow(random, 2, 8);
    QuotaTree tree = forest.Tree();
    const FairSharing fair_sharing = random.OneIn(2) ? FairSharing::kOn : FairSharing::kOff;
    Tournament tournament(tree, fair_sharing);
    QueueHeads heads;
    std::vector<std::pair<QuotaNodeId, Demand>> charged;
    for (int step = 0; step < 60; ++step) {
      const QuotaNodeId queue = forest.PickQueue(random);
      if (random.OneIn(3)) {
        charged.emplace_back(queue, QuotaForest::PickDemand(random));
        tree.Add(queue, charged.back().second);
        tournament.Touch(queue);
      } else if (random.OneIn(3) && !charged.empty()) {
        std::swap(charged[random.Below(charged.size())], charged.back());
        tree.Remove(charged.back().first, charged.back().second);
        tournament.Touch(charged.back().first);
        charged.pop_back();
      } else if (random.OneIn(4)) {
        tournament.SetHead(queue, std::nullopt);
        heads.erase(queue);
      } else {
        QueueHead head = Head(0, static_cast<int32_t>(random.Below(2)),
                              static_cast<int>(random.Below(2)), absl::StrCat(random.Below(2)));
        head.demand = QuotaForest::PickDemand(random);
        tournament.SetHead(queue, head);
        heads[queue] = head;
      }
      if (random.OneIn(3)) continue;  // several changes between two questions
      ASSERT_EQ(tournament.Winner(), NaiveWinner(tree, fair_sharing, heads)) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace maniple::queue_tournament_test
