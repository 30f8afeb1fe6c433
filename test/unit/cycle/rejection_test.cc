// Why nodes take no further pod, as an operator reads it. Fears: a node is counted twice or not at
// all; the numbers told are not those of the best node; a node with room for some members is told
// as one without; the order depends on which node came first.
#include "scheduler/cycle/rejection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_rejection_test {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class RejectionTest : public ::testing::Test {
 protected:
  // Reasons against pods like the one that was submitted; `within` null: anywhere.
  std::vector<NodeReasonCount> Reasons(const NodeSet* within = nullptr) {
    const GangRequest request = cluster_.RequestOf("g");
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const PodShape& shape = snapshot->tables->ShapeOf(request.wants.front().shape);
    auto bound =
        BoundShape::Bind({.snapshot = *snapshot, .now = cluster_.now}, shape, cluster_.profile());
    EXPECT_TRUE(bound.ok());
    return ReasonsOf(*bound, Overlay(*snapshot, Overlay::View::kNow), within);
  }
  void Submit(MakePod pod) {
    cluster_.Add(MakePodGroup("g").MinMember(1));
    cluster_.Add(pod.Group("g"));
  }
  NodeSet SetOf(const std::vector<std::string>& names) {
    NodeSet set(cluster_.state().Publish()->blocks.size());
    for (const std::string& name : names) {
      const NodeId node = cluster_.state().NodeNamed(name).value();
      set[BlockOf(node)].Set(RowOf(node));
    }
    return set;
  }

  // Why it takes no further pod of four GPUs, and what it has.
  std::pair<ReasonId, int64_t> AddRandomNode(Random& random, const std::string& name) {
    const auto gpus = static_cast<int64_t>(random.Below(12));
    const bool cordoned = random.OneIn(4);
    MakeNode node(name);
    if (cordoned) node.Cordoned();
    cluster_.Add(node.Gpu(gpus));
    if (cordoned) return {kReasonUnschedulable, 0};
    return gpus < 4 ? std::pair(kReasonInsufficient, gpus)
                    : std::pair(kReasonFilledByGang, gpus / 4);
  }

  TestCluster cluster_;
};

// What stands in the way on each node is chosen, so that it can be counted by hand.
TEST_F(RejectionTest, EveryNodeIsCountedOnceUnderItsReasonWithTheNumbersOfTheBest) {
  Random random(1);
  Submit(MakePod("g-0").Gpu(4).Cpu(0));
  for (int round = 0; round < 40; ++round) {
    std::map<ReasonId, std::pair<int64_t, int64_t>> expected;  // nodes, and what the best has
    std::vector<std::string> inside;
    for (int i = 0; i < 12; ++i) {
      const std::string name = absl::StrCat("n", i);
      auto [reason, has] = AddRandomNode(random, name);
      if (random.OneIn(4)) {
        std::tie(reason, has) = std::pair(kReasonOutsideDomain, 0);
      } else {
        inside.push_back(name);
      }
      auto& [nodes, best] = expected[reason];
      ++nodes;
      best = std::max(best, has);
    }
    const NodeSet within = SetOf(inside);
    const std::vector<NodeReasonCount> reasons = Reasons(&within);
    for (const NodeReasonCount& count : reasons) {
      EXPECT_EQ(std::pair(count.nodes, count.reason.have), expected[count.reason.id])
          << "reason " << count.reason.id;
    }
    EXPECT_EQ(reasons.size(), expected.size());
    EXPECT_TRUE(std::ranges::is_sorted(reasons, {}, [](const NodeReasonCount& count) {
      return std::tuple(-count.nodes, count.reason.id);
    }));
  }
}

TEST_F(RejectionTest, EachResourceAndEachTaintIsAReasonOfItsOwn) {
  Submit(MakePod("g-0").Gpu(4).Cpu(8000));
  cluster_.Add(MakeNode("n1").Gpu(2));
  cluster_.Add(MakeNode("n2").Gpu(8).Cpu(4));
  cluster_.Add(MakeNode("n3").Gpu(8).WithTaint("red"));
  cluster_.Add(MakeNode("n4").Gpu(8).WithTaint("blue"));
  cluster_.Add(MakeNode("n5").Gpu(3));
  const std::vector<NodeReasonCount> reasons = Reasons();
  ASSERT_EQ(reasons.size(), 4u);
  EXPECT_EQ(reasons[0].nodes, 2);
  EXPECT_EQ(reasons[0].reason.have, 3);
  EXPECT_EQ(reasons[0].reason.want, 4);
  EXPECT_EQ(reasons[1].reason.id, kReasonTaint) << "equal counts: as in the table of reasons";
  EXPECT_EQ(reasons[2].reason.id, kReasonTaint);
  EXPECT_NE(reasons[1].reason.taint, reasons[2].reason.taint);
}

TEST_F(RejectionTest, ANodeThatTheGangFillsNamesWhatRunsOutFirst) {
  Submit(MakePod("g-0").Gpu(2).Cpu(1000).Port(9000));
  cluster_.Add(MakeNode("gpus").Gpu(2).Cpu(64));
  cluster_.Add(MakeNode("cores").Gpu(8).Cpu(1));
  cluster_.Add(MakeNode("port").Gpu(8).Cpu(64));
  const std::vector<NodeReasonCount> reasons = Reasons();
  ASSERT_EQ(reasons.size(), 3u);
  const SnapshotPtr snapshot = cluster_.state().Publish();
  std::vector<std::string> scarce;
  for (const NodeReasonCount& count : reasons) {
    EXPECT_EQ(count.reason.id, kReasonFilledByGang);
    const ResourceId resource = count.reason.resource;
    scarce.push_back(resource.valid() ? snapshot->tables->FactsOf(resource).name
                                      : ReasonText(count.reason, *snapshot->tables));
  }
  EXPECT_THAT(scarce, UnorderedElementsAre("nvidia.com/gpu", "cpu",
                                           "room for only 1 of this gang's pods, then a host port "
                                           "of the pod is taken"));
}

// The filters that look around are asked on another overlay, and then look at theirs again.
TEST_F(RejectionTest, TheSameQuestionTwiceGetsTheSameReasons) {
  Submit(MakePod("g-0")
             .Gpu(1)
             .Cpu(0)
             .Label("app", "a")
             .Apart("kubernetes.io/hostname", Labelled("app", "a")));
  cluster_.Add(MakeNode("n1").Gpu(8).Label("kubernetes.io/hostname", "n1"));
  cluster_.Add(MakeNode("n2").Gpu(8).Label("kubernetes.io/hostname", "n2"));
  const SnapshotPtr snapshot = cluster_.state().Publish();
  const PodShape& shape = snapshot->tables->ShapeOf(cluster_.RequestOf("g").wants.front().shape);
  auto bound =
      BoundShape::Bind({.snapshot = *snapshot, .now = cluster_.now}, shape, cluster_.profile());
  ASSERT_TRUE(bound.ok());
  const Overlay overlay(*snapshot, Overlay::View::kNow);
  const auto first = ReasonsOf(*bound, overlay, nullptr);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].reason.then, kReasonPodAntiAffinity);
  EXPECT_EQ(bound->RoomOn(overlay, nullptr).nodes.size(), 2u);
  EXPECT_EQ(ReasonsOf(*bound, overlay, nullptr)[0].reason, first[0].reason);
}

TEST_F(RejectionTest, WithoutNodesThereAreNoReasons) {
  Submit(MakePod("g-0").Gpu(4));
  EXPECT_THAT(Reasons(), IsEmpty());
  cluster_.Add(MakeNode("n1").Gpu(8));
  const NodeSet nowhere = SetOf({});
  ASSERT_EQ(Reasons(&nowhere).size(), 1u);
  EXPECT_EQ(Reasons(&nowhere)[0].reason.id, kReasonOutsideDomain);
}

}  // namespace
}  // namespace maniple::cycle_rejection_test
