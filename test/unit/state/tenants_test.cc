// What pods may make the state work and remember: caps, numbers, sweeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "scheduler/state/cluster_state.h"
#include "scheduler/state/pod_caps.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StateTenants : public ::testing::Test {
 protected:
  void Apply(const ObjectEvent& event) { state_.Apply(event, absl::UnixEpoch(), delta_); }
  ShapeId ShapeOf(absl::string_view name) {
    return state_.FindPod(*state_.PodWithUid(absl::StrCat("uid-", name)))->shape;
  }
  const PodShape& Known(absl::string_view name) {
    last_ = state_.Publish();
    return last_->tables->ShapeOf(ShapeOf(name));
  }
  size_t ResourcesOfNodes() {
    size_t named = 0;
    for (const ResourceFacts& facts : state_.Publish()->tables->resources) {
      if (!facts.name.empty()) ++named;
    }
    return named;
  }
  void TearDown() override {
    EXPECT_TRUE(state_.CheckInvariants().ok()) << state_.CheckInvariants();
  }

  ClusterState state_{ClusterStateOptions{}};
  Delta delta_;
  SnapshotPtr last_;
};

MakePod WithTerms(absl::string_view name, int terms) {
  MakePod pod(name);
  for (int i = 0; i < terms; ++i) {
    pod.RatherApart(1, "zone", Labelled(absl::StrCat(name, "-", i), "x"));
  }
  return pod;
}

// ---- caps

TEST_F(StateTenants, APodOfOursBeyondACapIsRefusedWithLimitAndNumber) {
  Apply(WithTerms("p", 300).Cpu(1000));
  EXPECT_THAT(
      Known("p").constraints.unsupported,
      ElementsAre("spec.affinity with 300 terms on other pods and spread constraints (at most "
                  "128)"));
  EXPECT_EQ(Known("p").constraints.pod_terms.rather_apart.size(), kMostPodTerms);
  EXPECT_EQ(state_.counters().pod_parts_left_out, 0);  // nothing was left out in silence
}

TEST_F(StateTenants, WhatAPodOfOthersAsksBeyondACapIsLeftOutAndCounted) {
  Apply(MakeNode("n1").Gpu(8));
  MakePod pod = WithTerms("p", 300);
  for (int i = 0; i < 100; ++i) pod.Wants(absl::StrCat("a.example.com/r", i), 1);
  Apply(pod.Gpu(4).Scheduler("other").On("n1"));
  EXPECT_THAT(Known("p").constraints.unsupported, IsEmpty());
  EXPECT_EQ(state_.counters().pod_parts_left_out, (300 - 128) + (101 - 64));
  Apply(MakePod("q").Gpu(5));
  EXPECT_FALSE(state_.MayFit(ShapeOf("q"), *state_.NodeNamed("n1")));  // its GPUs still count
}

TEST_F(StateTenants, APodWithMoreVolumesThanTheCapIsRefusedAndOfOthersTheFirstCount) {
  MakePod ours("p"), theirs("q");
  for (int i = 0; i < 300; ++i) {
    ours.Claim(absl::StrCat("c", i));
    theirs.Claim(absl::StrCat("c", i));
  }
  Apply(ours);
  EXPECT_THAT(Known("p").constraints.unsupported,
              ElementsAre("spec.volumes with 300 claims and disks (at most 256)"));
  EXPECT_EQ(state_.counters().pod_parts_left_out, 0);
  Apply(theirs.Scheduler("other"));
  EXPECT_THAT(Known("q").constraints.unsupported, IsEmpty());
  EXPECT_EQ(state_.counters().pod_parts_left_out, 300 - 256);
}

TEST_F(StateTenants, ANamespaceAsksSoManySelectorsAndNoMoreUntilOthersAreGone) {
  const int pods = static_cast<int>(kMostQueriesOfNamespace / 100);
  for (int i = 0; i < pods; ++i) Apply(WithTerms(absl::StrCat("p", i), 100).Scheduler("other"));
  Apply(WithTerms("late", 100));
  EXPECT_THAT(
      Known("late").constraints.unsupported,
      ElementsAre("spec.affinity with 100 terms beyond the 4096 distinct selectors that the pods "
                  "of one namespace may ask about"));
  Apply(WithTerms("elsewhere", 100).In("other"));
  EXPECT_THAT(Known("elsewhere").constraints.unsupported, IsEmpty());
  for (int i = 0; i < pods; ++i) Apply(DeletionOf(ResourceKind::kPod, absl::StrCat("p", i)));
  state_.Sweep({});
  Apply(MakePod("any"));
  EXPECT_THAT(Known("late").constraints.unsupported, IsEmpty());
  EXPECT_EQ(Known("late").constraints.pod_terms.rather_apart.size(), 100u);
}

// ---- numbers of resources

TEST_F(StateTenants, NamesThatOnlyPodsAskForTakeNothingFromNodesThatComeLater) {
  for (int i = 0; i < 30; ++i) {
    MakePod pod(absl::StrCat("bomb-", i));
    for (int r = 0; r < 50; ++r) pod.Wants(absl::StrCat("r", r, ".example.com/", i), 1);
    Apply(pod.Scheduler("other"));
  }
  EXPECT_EQ(ResourcesOfNodes(), 3u);
  Apply(MakeNode("g1").Gpu(8));
  EXPECT_EQ(ResourcesOfNodes(), 4u);
  Apply(MakePod("train").Gpu(8));
  EXPECT_TRUE(state_.MayFit(ShapeOf("train"), *state_.NodeNamed("g1")));
}

TEST_F(StateTenants, APodThatAsksForWhatNoNodeHasFitsTheFirstNodeThatHasIt) {
  Apply(MakeNode("bare"));
  Apply(MakePod("p").Wants("example.com/fpga", 1));
  Apply(MakePod("stays").Wants("example.com/fpga", 1).Scheduler("other").On("late"));
  const ShapeId shape = ShapeOf("p");
  EXPECT_FALSE(state_.MayFit(shape, *state_.NodeNamed("bare")));
  Apply(MakeNode("late").Has("example.com/fpga", 1));
  EXPECT_EQ(ShapeOf("p"), shape);
  EXPECT_FALSE(state_.MayFit(shape, *state_.NodeNamed("late")));  // the other one has it
  Apply(DeletionOf(ResourceKind::kPod, "stays"));
  EXPECT_TRUE(state_.MayFit(shape, *state_.NodeNamed("late")));
}

TEST_F(StateTenants, ANumberIsGivenBackWithTheLastNodeAndUsedAgain) {
  Apply(MakePod("p").Wants("example.com/fpga", 1));
  for (int i = 0; i < 3000; ++i) {
    Apply(MakeNode("n1").Has(absl::StrCat("example.com/r", i), 1));
    if (i % 100 == 0) state_.Sweep({});
  }
  EXPECT_LE(state_.Publish()->tables->resources.size(), 110u);
  Apply(MakeNode("n1").Has("example.com/fpga", 1));
  EXPECT_TRUE(state_.MayFit(ShapeOf("p"), *state_.NodeNamed("n1")));
  Apply(MakeNode("n1"));
  state_.Sweep({});
  EXPECT_FALSE(state_.MayFit(ShapeOf("p"), *state_.NodeNamed("n1")));
}

// A pod of a device that its node reports no more still has the device.
TEST_F(StateTenants, AResourceThatIsInDebtKeepsItsNumber) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("p").Gpu(8).On("n1"));
  Apply(MakeNode("n1"));
  state_.Sweep({});
  EXPECT_EQ(ResourcesOfNodes(), 4u);
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("q").Gpu(1));
  EXPECT_FALSE(state_.MayFit(ShapeOf("q"), *state_.NodeNamed("n1")));
}

// ---- sweeps

TEST_F(StateTenants, WhatNoPodUsesAnyMoreIsGivenBackAndItsNumbersAreUsedAgain) {
  Apply(MakeNode("n1").Image("image-7", 100));
  for (int i = 0; i < 6000; ++i) {
    const std::string name = absl::StrCat("p", i);
    MakePod pod(name);
    pod.Cpu(1 + i).Runs(absl::StrCat("image-", i)).Selector(name, "x").Port(1 + i);
    pod.Apart("zone", Labelled(name, "x")).Wants(name + ".example.com/r", 1);
    Apply(pod);
    Apply(DeletionOf(ResourceKind::kPod, name));
    if (state_.WantsSweep()) state_.Sweep({});
  }
  const Tables& tables = *state_.Publish()->tables;
  EXPECT_LT(tables.shapes.size(), 3000u);
  EXPECT_LT(tables.host_ports.size(), 3000u);
  EXPECT_LT(tables.pod_resources.size(), 3000u);
  EXPECT_LT(state_.Publish()->images->size(), 3000u);
  EXPECT_GT(state_.counters().sweeps, 5);
}

TEST_F(StateTenants, AShapeThatSomebodyKnowsByItsNumberStays) {
  Apply(MakeNode("n1"));
  Apply(MakePod("held").Cpu(7));
  Apply(MakePod("kept").Cpu(8).Runs("image"));
  const ShapeId held = ShapeOf("held"), kept = ShapeOf("kept");
  (void)state_.Hold(*state_.NodeNamed("n1"), held);
  Apply(DeletionOf(ResourceKind::kPod, "held"));
  Apply(DeletionOf(ResourceKind::kPod, "kept"));
  state_.Sweep(std::array{kept});
  const SnapshotPtr snapshot = state_.Publish();
  EXPECT_EQ(snapshot->tables->ShapeOf(held).constraints.requests[0].amount, Amount(7));
  EXPECT_EQ(snapshot->tables->ShapeOf(kept).constraints.requests[0].amount, Amount(8));
  EXPECT_NE(state_.RoomShapeOf(kept), kept);
  EXPECT_TRUE(state_.MayFit(state_.RoomShapeOf(kept), *state_.NodeNamed("n1")));
}

TEST_F(StateTenants, ALabelThatOnlyWaitingPodsAskForIsTrackedAfterASweep) {
  Apply(MakePod("p").Selector("rare", "yes"));
  Apply(MakePod("q").Near("cabinet", Labelled("app", "x")));
  state_.Sweep({});
  Apply(MakeNode("n1").Label("rare", "yes").Label("cabinet", "c"));
  const SnapshotPtr snapshot = state_.Publish();
  EXPECT_THAT(snapshot->tables->label_columns, ElementsAre("cabinet"));
  EXPECT_EQ(snapshot->tables->classes[0]->labels.Get("rare"), "yes");
}

TEST_F(StateTenants, PodsForgetSelectorsThatNobodyAsksAboutAnyMore) {
  Apply(MakeNode("n1"));
  Apply(MakePod("asks").Apart("zone", Labelled("app", "x")));
  Apply(MakePod("x").Label("app", "x").On("n1"));
  Apply(MakePod("plain").On("n1"));
  EXPECT_NE(ShapeOf("x"), ShapeOf("plain"));
  Apply(DeletionOf(ResourceKind::kPod, "asks"));
  state_.Sweep({});
  EXPECT_THAT(Known("x").matches, IsEmpty());
  EXPECT_THAT(state_.Publish()->blocks[0]->pod_counts().entries(), IsEmpty());
  Apply(MakePod("asks").Apart("zone", Labelled("app", "x")).Uid("another"));
  EXPECT_EQ(Known("x").matches.size(), 2u);  // who is there, and who keeps away from it
}

}  // namespace
}  // namespace maniple
