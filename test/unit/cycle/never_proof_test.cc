// The proof that a gang fits at no time. Fears: what passes by itself (pods, cordons) is taken for
// an obstacle that stays; quota and nodes are proven one by one, though no flavor has both; a proof
// that ran out of work is taken for one; the search is not left as it was.
#include "scheduler/cycle/never_proof.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_never_proof_test {
namespace {

// Two flavors, each with its cell: "a" has the first nodes, "b" the others.
constexpr uint32_t kA = 0, kB = 1;

class NeverProofTest : public ::testing::Test {
 protected:
  void Submit(int pods, int64_t gpus) {
    cluster_.Add(MakePodGroup("g").MinMember(pods));
    for (int i = 0; i < pods; ++i) {
      cluster_.Add(MakePod("g-" + std::to_string(i)).Group("g").Gpu(gpus));
    }
  }
  static QuotaTree TreeOf(int64_t of_a, int64_t of_b) {
    QuotaNodeSpec queue;
    queue.limits = {{.cell = QuotaCellId(kA), .nominal = Amount(of_a)},
                    {.cell = QuotaCellId(kB), .nominal = Amount(of_b)}};
    return QuotaTree({queue}, {0, 0});
  }
  // Of each flavor a pod costs `gpus`; the nodes below `first_of_b` are those of "a".
  static QuotaAsk AskOf(const QuotaTree& tree, const GangRequest& request, int64_t gpus,
                        uint32_t first_of_b, uint32_t nodes) {
    NodeSet a(1), b(1);
    for (uint32_t node = 0; node < nodes; ++node) (node < first_of_b ? a : b)[0].Set(node);
    QuotaAsk ask{.tree = &tree, .queue = QuotaNodeId(0), .options = {}};
    for (const Want& want : request.wants) {
      ask.options[want.shape] = {
          {.nodes = a, .each = {{QuotaCellId(kA), Amount(gpus)}}, .flavor = "a"},
          {.nodes = b, .each = {{QuotaCellId(kB), Amount(gpus)}}, .flavor = "b"}};
    }
    return ask;
  }

  std::optional<Rejection> Prove(const QuotaAsk* quota = nullptr, SearchWork* work = nullptr) {
    const GangRequest request = cluster_.RequestOf("g");
    const SnapshotPtr snapshot = cluster_.state().Publish();
    Overlay now(*snapshot, Overlay::View::kNow, work);
    const BoundRequest bound({.snapshot = *snapshot, .now = cluster_.now, .seed = 1}, request,
                             cluster_.profile());
    BoundKinds today = bound.Bind(Question::kNow, now);
    GangSearch search(*snapshot, request, bound.problem());
    LevelStore levels;
    EXPECT_TRUE(search.Resolve(levels).ok());
    const Refusals refusals(bound, search, today);
    std::optional<QuotaChoices> choices;
    if (quota != nullptr) choices.emplace(*quota, request, bound.shapes());
    const uint64_t before = now.Fingerprint();
    std::optional<Rejection> proof =
        NeverProof(bound, search, choices.has_value() ? &*choices : nullptr, refusals,
                   Refusals::Quota::kNotInTheWay)
            .Find(now);
    EXPECT_EQ(now.Fingerprint(), before);
    return proof;
  }

  TestCluster cluster_;
};

TEST_F(NeverProofTest, NoNodeIsLargeEnough) {
  cluster_.Add(MakeNode("n1").Gpu(4));
  Submit(1, 8);
  const std::optional<Rejection> proof = Prove();
  ASSERT_TRUE(proof.has_value());
  EXPECT_EQ(proof->code, RejectionCode::kNeverFits);
  EXPECT_EQ(proof->wanted, 1);
  EXPECT_EQ(proof->nodes, 1);
}

TEST_F(NeverProofTest, WhatRunsAndWhatIsCordonedGoesSomeDay) {
  cluster_.Add(MakeNode("n1").Gpu(8).Cordoned());
  cluster_.Add(MakeNode("n2").Gpu(8));
  cluster_.Add(MakePod("busy").Gpu(8).On("n2"));
  Submit(2, 8);
  EXPECT_FALSE(Prove().has_value());
}

TEST_F(NeverProofTest, MembersThatStandKeepTheirRoomForEver) {
  cluster_.Add(MakeNode("n1").Gpu(8));
  Submit(2, 8);
  EXPECT_TRUE(Prove().has_value());
  cluster_.Add(MakeNode("n2").Gpu(8));
  EXPECT_FALSE(Prove().has_value());
  cluster_.Add(MakePod("g-0").Group("g").Gpu(4).On("n2"));
  cluster_.Add(MakePod("g-1").Group("g").Gpu(8).Selector("kubernetes.io/hostname", "n2"));
  EXPECT_TRUE(Prove().has_value());
}

TEST_F(NeverProofTest, AProofThatRanOutOfWorkIsNone) {
  cluster_.Add(MakeNode("n1").Gpu(4));
  Submit(1, 8);
  SearchWork none(-1);
  EXPECT_FALSE(Prove(nullptr, &none).has_value());
}

TEST_F(NeverProofTest, OneFlavorHasTheNodesAndNeverTheQuotaTheOtherTheQuotaAndNeverTheNodes) {
  cluster_.Add(MakeNode("n1").Gpu(8));
  cluster_.Add(MakeNode("n2").Gpu(8));
  cluster_.Add(MakeNode("n3").Gpu(4));
  Submit(2, 8);
  const QuotaTree tree = TreeOf(8, 16);
  const QuotaAsk ask = AskOf(tree, cluster_.RequestOf("g"), 8, 2, 3);
  const std::optional<Rejection> proof = Prove(&ask);
  ASSERT_TRUE(proof.has_value());
  EXPECT_EQ(proof->code, RejectionCode::kExceedsMaxQuota);
  EXPECT_TRUE(proof->nodes_in_the_way);
  ASSERT_TRUE(proof->quota.has_value());
  EXPECT_EQ(proof->quota->cell, QuotaCellId(kA));
  EXPECT_EQ(proof->quota->needs, Amount(16));
  EXPECT_EQ(proof->quota->potential, Amount(8));
}

TEST_F(NeverProofTest, AFlavorThatHasBothDisprovesIt) {
  cluster_.Add(MakeNode("n1").Gpu(8));
  cluster_.Add(MakeNode("n2").Gpu(8));
  cluster_.Add(MakeNode("n3").Gpu(4));
  Submit(2, 8);
  QuotaTree tree = TreeOf(16, 16);
  const Demand all_of_it = {{QuotaCellId(kA), Amount(16)}};
  tree.Add(QuotaNodeId(0), all_of_it);  // today, by others
  const QuotaAsk ask = AskOf(tree, cluster_.RequestOf("g"), 8, 2, 3);
  EXPECT_FALSE(Prove(&ask).has_value());
}

TEST_F(NeverProofTest, QuotaIsNoReasonWhereNoFlavorHasTheNodes) {
  cluster_.Add(MakeNode("n1").Gpu(4));
  cluster_.Add(MakeNode("n2").Gpu(4));
  Submit(1, 8);
  const QuotaTree tree = TreeOf(4, 4);
  const QuotaAsk ask = AskOf(tree, cluster_.RequestOf("g"), 8, 1, 2);
  const std::optional<Rejection> proof = Prove(&ask);
  ASSERT_TRUE(proof.has_value());
  EXPECT_EQ(proof->code, RejectionCode::kNeverFits);
}

}  // namespace
}  // namespace maniple::cycle_never_proof_test
