// What operators see of rooms: what a gang asks for, who uses, leaves and holds what, and until
// when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "test/oracle/loop/reservation_world.h"
#include "test/unit/loop/producers_fixture.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kGpu[] = "nvidia.com/gpu";

const NodeRow& NodeOf(const ClusterView& view, absl::string_view name) {
  for (const NodeRow& row : view.nodes) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no node " << name;
  return view.nodes.front();
}

TEST(LoopView, AGangTellsWhatItsMembersAskForUntilTheyEnd) {
  LoopDriver d;
  d.Nodes(2, 8);
  d.Put(MakePodGroup("a").MinMember(3));
  d.Put(MakePod("a-0").Group("a").Gpu(2));
  d.Put(MakePod("a-1").Group("a").Gpu(8));
  d.Put(MakePod("a-2").Group("a").Gpu(2));
  d.Settle(absl::Seconds(1));
  const std::vector<GangAskView> asks = d.ViewOf("a")->asks;
  ASSERT_EQ(asks.size(), 2);
  EXPECT_EQ(asks[0].members, 2);
  EXPECT_EQ(asks[0].resource, kGpu);
  EXPECT_EQ(asks[0].amount, 2);
  EXPECT_EQ(asks[1].members, 1);
  EXPECT_EQ(asks[1].amount, 8);
  for (const char* pod : {"a-0", "a-1", "a-2"}) d.api.SetPhase(pod, PodPhase::kSucceeded);
  d.Settle(absl::Seconds(1));
  EXPECT_THAT(d.ViewOf("a")->asks, IsEmpty());
}

class LoopViewOfOthers : public LoopProducers {};

// The fear: a PyTorchJob of another API group is taken for it.
TEST_F(LoopViewOfOthers, TheOwnerOfAGroupIsToldWithItsApiGroup) {
  Put({.kind = kXk8s,
       .name = "train",
       .spec = R"({"minMember":2})",
       .metadata = R"(,"ownerReferences":[{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob",
                       "name":"big","uid":"u-big","controller":true}])"});
  SubmitXk8s("train", 0, 1);
  d_.Settle(absl::Seconds(5));
  const std::vector<PodGroup> groups = StandingFor("train");
  ASSERT_EQ(groups.size(), 1);
  const GangView* view = d_.ViewOf(groups[0].meta.name);
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->source.owner_kind, "PyTorchJob");
  EXPECT_EQ(view->source.owner_group, "kubeflow.org");
}

// It said "quorum is 1" beside "2 of 4 pods fit".
TEST(LoopView, TheQuorumOfAGangIsThatOfItsSubGroupsIfTheseAreMore) {
  LoopDriver d;
  d.Nodes(1, 8);
  PodGroup group = MakePodGroup("a").MinMember(1);
  group.spec.sub_groups = {{.name = "x", .min_member = 2}, {.name = "y", .min_member = 2}};
  d.Put(ObjectUpserted{group});
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.ViewOf("a")->min_member, 4);
  group.spec.min_member = 7;
  d.Put(ObjectUpserted{group});
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.ViewOf("a")->min_member, 7);
}

TEST(LoopView, AGangTellsWhichPodsItMeans) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Submit({.gang = "a", .pods = 1});
  d.Settle(absl::Seconds(1));
  const GangMemberView& pod = d.ViewOf("a")->pods.front();
  EXPECT_FALSE(pod.uid.empty());
  EXPECT_EQ(pod.uid, d.api.Pods().front()->meta.uid);
}

TEST(LoopView, WhoIsMadeToLeaveIsLeavingAndTheRoomIsHeldForWhoComes) {
  LoopDriver d;
  d.Nodes(1, 8);
  d.Submit({.gang = "low", .pods = 2, .gpu = 4, .priority = 1});
  d.Settle(absl::Seconds(1));
  d.api.KeepTerminating(absl::Seconds(30));
  d.Submit({.gang = "high", .pods = 1, .gpu = 8, .priority = 10});
  d.Settle(absl::Seconds(1));
  const ClusterViewPtr view = d.loop().View(d.now);
  const NodeRow& node = NodeOf(*view, "n1");
  EXPECT_THAT(node.uses, ElementsAre(NodeUseView{
                             .gang = "default/low", .resource = kGpu, .amount = 8, .leaving = 8}));
  EXPECT_THAT(node.held,
              ElementsAre(NodeUseView{.gang = "default/high", .resource = kGpu, .amount = 8}));
}

TEST(LoopView, ANodeTellsItsNvlinkDomain) {
  LoopDriver d;
  d.Put(MakeNode("in").Gpu(8).Label("nvidia.com/gpu.clique", "uuid.3"));
  d.Put(MakeNode("out").Gpu(8));
  d.Settle();
  const ClusterViewPtr view = d.loop().View(d.now);
  EXPECT_EQ(NodeOf(*view, "in").nvlink, "uuid.3");
  EXPECT_EQ(NodeOf(*view, "out").nvlink, "");
}

TEST(LoopView, ANodeTellsWhatItsGpusAre) {
  LoopDriver d;
  const char* kProduct = "nvidia.com/gpu.product";
  d.Put(MakeNode("whole").Gpu(8).Label(kProduct, "NVIDIA-H100-80GB-HBM3"));
  d.Put(MakeNode("sliced").Gpu(7).Label(kProduct, "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"));
  d.Settle();
  const ClusterViewPtr view = d.loop().View(d.now);
  const auto one_each = [&view](const char* name) {
    const auto& all = NodeOf(*view, name).resources;
    return std::ranges::find(all, kGpu, &NodeResourceView::resource)->one_per_container;
  };
  EXPECT_EQ(NodeOf(*view, "whole").gpu_model, "H100-80GB-HBM3");
  EXPECT_EQ(NodeOf(*view, "sliced").gpu_model, "H100-80GB-HBM3 MIG 1g.10gb");
  EXPECT_FALSE(one_each("whole"));
  EXPECT_TRUE(one_each("sliced"));
}

TEST(LoopView, ANodeOnWhichNoPodWithGpusStartsTellsWhy) {
  LoopDriver d;
  const char* kProduct = "nvidia.com/gpu.product";
  d.Put(MakeNode("open").Gpu(8).Label(kProduct, "H100"));
  d.Put(MakeNode("cordoned").Gpu(8).Cordoned());
  d.Put(MakeNode("away").Gpu(8).WithTaint("node.kubernetes.io/not-ready"));
  d.Put(MakeNode("kept").Gpu(8).WithTaint("team", "a"));
  d.Put(MakeNode("changing").Gpu(8).Label("nvidia.com/mig.config.state", "pending"));
  d.Put(MakeNode("invalid").Gpu(8).Label(kProduct, "H100-MIG-INVALID"));
  d.Put(MakeNode("full").Gpu(8).Pods(1).Label("alone", "yes"));
  d.Put(MakePod("one").Gpu(1).Selector("alone", "yes"));
  d.Settle(absl::Seconds(1));
  const ClusterViewPtr view = d.loop().View(d.now);
  const auto closed = [&view](const char* name) { return NodeOf(*view, name).closed; };
  EXPECT_EQ(closed("open"), "");
  EXPECT_EQ(closed("kept"), "") << "whoever tolerates the taint starts";
  EXPECT_EQ(closed("cordoned"), "cordoned");
  EXPECT_EQ(closed("away"), "not ready");
  EXPECT_EQ(closed("changing"), "its GPUs are being repartitioned");
  EXPECT_EQ(closed("invalid"), "its GPUs are sliced in a way that their plugin refuses");
  EXPECT_EQ(closed("full"), "no room for another pod");
}

TEST(LoopView, AGangThatSaysHowLongItRunsHasAnEndAndItsSuccessorAStart) {
  ReservationWorld w(2);
  w.Queue("q", 16);
  w.Submit({.name = "first", .pods = 2, .queue = "q", .says = absl::Hours(2)});
  w.Play(absl::Seconds(1));
  w.Submit({.name = "next", .pods = 2, .queue = "q", .says = absl::Hours(1)});
  w.Play(absl::Minutes(10));
  const std::optional<ExpectedEndView> end = w.d.ViewOf("first")->expected_end;
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->at, w.begin() + absl::Hours(2));
  EXPECT_FALSE(end->estimated);
  EXPECT_FALSE(w.d.ViewOf("next")->expected_end.has_value());
  ASSERT_TRUE(w.PlannedStartOf("next").has_value());
  const ClusterViewPtr view = w.d.loop().View(w.d.now);
  EXPECT_THAT(NodeOf(*view, "n1").held,
              ElementsAre(NodeUseView{.gang = "default/next", .resource = kGpu, .amount = 8}));
}

TEST(LoopView, AnEndThatNobodyToldIsAnEstimate) {
  ReservationWorld w(1);
  w.Submit({.name = "a"});
  w.Play(absl::Minutes(10));
  const std::optional<ExpectedEndView> end = w.d.ViewOf("a")->expected_end;
  ASSERT_TRUE(end.has_value());
  EXPECT_TRUE(end->estimated);
  EXPECT_GE(end->at, w.begin() + absl::Minutes(20));
}

// Puts a view together piece by piece; `between` each two of them.
std::unique_ptr<ClusterView> InPieces(LoopDriver& d, const std::function<void(int)>& between) {
  for (int piece = 1;; ++piece) {
    if (std::unique_ptr<ClusterView> view = d.loop().MoreView(d.now)) return view;
    between(piece);
  }
}

TEST(LoopView, APieceAtATimeComesToTheSame) {
  LoopDriver d;
  d.Nodes(700, 8);
  for (int i = 0; i < 1500; ++i) d.Put(MakePod(absl::StrCat("p", i)).Gpu(2));
  d.Submit({.gang = "waits", .pods = 2, .gpu = 16});
  d.Settle(absl::Seconds(1));
  int pieces = 0;
  const auto made = InPieces(d, [&pieces](int piece) { pieces = piece; });
  EXPECT_GE(pieces, 6) << "a beginning, two of nodes, some of gangs, before that of Queues";
  Arrange(*made);
  const ClusterViewPtr whole = d.loop().View(d.now);
  ASSERT_EQ(made->gangs.size(), whole->gangs.size());
  for (size_t i = 0; i < whole->gangs.size(); ++i) {
    EXPECT_EQ(made->gangs[i].name, whole->gangs[i].name);
    EXPECT_EQ(made->gangs[i].nodes, whole->gangs[i].nodes);
    EXPECT_EQ(made->gangs[i].position, whole->gangs[i].position);
    EXPECT_EQ(made->gangs[i].message, whole->gangs[i].message);
  }
  ASSERT_EQ(made->nodes.size(), whole->nodes.size());
  for (size_t i = 0; i < whole->nodes.size(); ++i) {
    EXPECT_EQ(made->nodes[i].name, whole->nodes[i].name);
    EXPECT_EQ(made->nodes[i].gangs, whole->nodes[i].gangs);
    EXPECT_EQ(made->nodes[i].uses, whole->nodes[i].uses);
  }
  EXPECT_EQ(made->queues.size(), whole->queues.size());
}

TEST(LoopView, WhatComesAndGoesWhileItIsMadeDoesNoHarm) {
  LoopDriver d;
  d.Nodes(600, 8);
  for (int i = 0; i < 1200; ++i) d.Put(MakePod(absl::StrCat("p", i)).Gpu(4));
  d.Settle(absl::Seconds(1));
  const auto made = InPieces(d, [&d](int piece) {
    d.api.Delete(ResourceKind::kPod, absl::StrCat("p", 1199 - piece));
    d.Put(MakeNode(absl::StrCat("a", piece)).Gpu(8));             // before the others, by name
    d.Put(MakePod(absl::StrCat("new", piece)).Cpu(1000).Gpu(1));  // of a new shape
    d.Settle();
  });
  Arrange(*made);
  EXPECT_GE(made->nodes.size(), 600);
  EXPECT_GE(made->gangs.size(), 1190);
}

TEST(LoopView, OneThatIsBeingMadeIsGivenUpWithTheLead) {
  LoopDriver d;
  d.Nodes(3, 8);
  d.Submit({.gang = "a", .pods = 1});
  d.Settle(absl::Seconds(1));
  EXPECT_EQ(d.loop().MoreView(d.now), nullptr);
  d.loop().SetRole(SchedulingLoop::Role::kStandby);
  const auto made = InPieces(d, [](int) {});
  EXPECT_FALSE(made->leader);
  EXPECT_EQ(made->gangs.size(), 1);
}

}  // namespace
}  // namespace maniple
