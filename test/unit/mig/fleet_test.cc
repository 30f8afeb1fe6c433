// Fears: labels from outside are believed when they contradict each other; a node is asked twice;
// what an earlier leader has begun is forgotten.
#include "scheduler/mig/mig_fleet.h"

#include "gmock/gmock.h"
#include "test/support/builders.h"
#include "test/support/mig_nodes.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

Node With(Node node, const char* annotation, const char* value) {
  node.meta.annotations.Set(annotation, value);
  return node;
}

class Fleet : public ::testing::Test {
 protected:
  bool Note(Node node) { return fleet.Note(ObjectUpserted{std::move(node)}); }
  const MigFleet::Node& At(const char* name) const { return fleet.nodes().at(name); }
  bool MayChange(const char* name) const { return fleet.MayChange(At(name), kNow); }

  MigOptions options;
  MigFleet fleet{options};
};

TEST_F(Fleet, ACapableNodeInOrderMayChange) {
  EXPECT_TRUE(Note(MigCapableNode("n1")));
  EXPECT_TRUE(MayChange("n1"));
  EXPECT_EQ(At("n1").table->model, "H100-80GB");
  EXPECT_EQ(At("n1").gpus, 8);
  EXPECT_FALSE(Note(MigCapableNode("n1"))) << "nothing has changed";
  EXPECT_FALSE(Note(MakeNode("cpu")));
  EXPECT_FALSE(fleet.nodes().contains("cpu"));
}

TEST_F(Fleet, WhatContradictsItselfOrIsNotKnownIsLeftAlone) {
  const auto why = [&](MakeNode node) {
    (void)Note(node);
    EXPECT_FALSE(MayChange("n1"));
    return At("n1").why_not;
  };
  EXPECT_THAT(why(MigCapableNode("n1").Label("nvidia.com/mig.strategy", "single")),
              HasSubstr("mixed"));
  EXPECT_THAT(why(MigCapableNode("n1").Label("nvidia.com/gpu.product", "NVIDIA-Z900")),
              HasSubstr("\"NVIDIA-Z900\""));
  EXPECT_THAT(why(MigCapableNode("n1").Label("nvidia.com/gpu.product",
                                             "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb")),
              HasSubstr("nothing is known"));
  EXPECT_THAT(why(MigCapableNode("n1").Label("nvidia.com/gpu.memory", "12")), HasSubstr("12 MiB"));
  EXPECT_THAT(why(MigCapableNode("n1").Label("nvidia.com/gpu.sharing-strategy", "time-slicing")),
              HasSubstr("shared"));
  for (const char* count : {"", "0", "-3", "65", "eight", "99999999999999999999"}) {
    EXPECT_THAT(why(MigCapableNode("n1").Label("nvidia.com/gpu.count", count)), HasSubstr("count"))
        << count;
  }
  EXPECT_THAT(why(MigCapableNode("n1").Gpu(9)), HasSubstr("more GPUs"));
}

TEST_F(Fleet, NodesUnderChangeFailedCordonedOrForbiddenAreLeftAlone) {
  for (const char* state : {"pending", "rebooting", "failed", "what?"}) {
    (void)Note(MigCapableNode("n1").Label("nvidia.com/mig.config.state", state));
    EXPECT_FALSE(MayChange("n1")) << state;
  }
  (void)Note(MigCapableNode("n1").Cordoned());
  EXPECT_FALSE(MayChange("n1"));
  (void)Note(With(MigCapableNode("n1"), kMigReconfigure, "never"));
  EXPECT_FALSE(MayChange("n1"));
  (void)Note(MigCapableNode("n1").Label("nvidia.com/mig.config.state", ""));
  EXPECT_TRUE(MayChange("n1")) << "nobody has said anything yet";
}

TEST_F(Fleet, AChangeOfAnEarlierLeaderHoldsOffTheNext) {
  (void)Note(With(MigCapableNode("n1"), kMigChangedAt, "2023-11-14T22:10:00Z"));
  EXPECT_EQ(At("n1").changed_at, kNow - absl::Seconds(200));
  EXPECT_FALSE(MayChange("n1"));
  EXPECT_EQ(fleet.Becoming(At("n1"), kNow), "all-disabled") << "the kubelet may not know yet";
  EXPECT_EQ(fleet.NextChange(kNow), kNow + absl::Seconds(400));
  EXPECT_TRUE(fleet.MayChange(At("n1"), kNow + absl::Seconds(400)));
  (void)Note(With(MigCapableNode("n1"), kMigChangedAt, "yesterday"));
  EXPECT_TRUE(MayChange("n1"));
  (void)Note(With(MigCapableNode("n1"), kMigChangedAt, "infinite-future"));
  EXPECT_TRUE(MayChange("n1")) << "nobody writes such a thing";
}

TEST_F(Fleet, AWriteUnderWayKeepsHandsOffUntilItShowsOrFails) {
  (void)Note(MigCapableNode("n1"));
  fleet.Asked("n1", "all-1g.10gb", kNow + absl::Minutes(1));
  EXPECT_FALSE(MayChange("n1"));
  EXPECT_EQ(fleet.Becoming(At("n1"), kNow), "all-1g.10gb");
  (void)Note(MigCapableNode("n1").Label("unrelated", "x"));
  EXPECT_FALSE(MayChange("n1"));
  EXPECT_THAT(fleet.TakeShown(), IsEmpty());
  (void)Note(With(MigCapableNode("n1").Label("nvidia.com/mig.config.state", "pending"),
                  kMigChangedAt, "2023-11-14T22:13:20Z"));
  EXPECT_THAT(fleet.TakeShown(), ElementsAre("n1"));
  EXPECT_FALSE(MayChange("n1"));

  (void)Note(MigCapableNode("n2"));
  fleet.Asked("n2", "all-1g.10gb", kNow + absl::Minutes(1));
  fleet.Failed("n2", kNow + absl::Seconds(30));
  EXPECT_FALSE(MayChange("n2"));
  EXPECT_EQ(fleet.Becoming(At("n2"), kNow), std::nullopt);
  EXPECT_TRUE(fleet.MayChange(At("n2"), kNow + absl::Seconds(30)));
  fleet.Failed("gone", kNow);
}

TEST_F(Fleet, AnotherNodeOfTheNameInheritsNothing) {
  (void)Note(MigCapableNode("n1").Uid("u1"));
  fleet.Asked("n1", "all-1g.10gb", kNow + absl::Minutes(1));
  (void)Note(MigCapableNode("n1").Uid("u2"));
  EXPECT_TRUE(MayChange("n1"));
  EXPECT_TRUE(fleet.Note(DeletionOf(ResourceKind::kNode, "n1", "u2", "")));
  EXPECT_TRUE(fleet.nodes().empty());
}

TEST_F(Fleet, WhatNobodyCarriesOutIsOverdue) {
  const Node pending = With(MigCapableNode("n1").Label("nvidia.com/mig.config.state", "pending"),
                            kMigChangedAt, "2023-11-14T22:13:20Z");
  (void)Note(pending);
  EXPECT_EQ(fleet.Overdue(kNow + absl::Minutes(14)), "");
  EXPECT_EQ(fleet.Overdue(kNow + absl::Minutes(15)), "n1");
  (void)Note(MigCapableNode("n1").Label("nvidia.com/mig.config.state", "pending"));
  EXPECT_EQ(fleet.Overdue(kNow + absl::Hours(9)), "") << "somebody else's";
}

TEST_F(Fleet, TheSameIsNotToldTwiceInARow) {
  (void)Note(MigCapableNode("n1"));
  EXPECT_TRUE(fleet.Tell("n1", "all-1g.10gb", kNow));
  EXPECT_FALSE(fleet.Tell("n1", "all-1g.10gb", kNow + absl::Minutes(9)));
  EXPECT_TRUE(fleet.Tell("n1", "all-2g.20gb", kNow + absl::Minutes(9)));
  EXPECT_TRUE(fleet.Tell("n1", "all-2g.20gb", kNow + absl::Minutes(20)));
}

}  // namespace
}  // namespace maniple
