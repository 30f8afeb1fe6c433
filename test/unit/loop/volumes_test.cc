// Fear: while the volumes of a plan are being bound the gang is as good as forgotten.
#include <gtest/gtest.h>

#include <string>

#include "test/support/loop_driver.h"
#include "test/support/storage_builders.h"

namespace maniple {
namespace {

class LoopVolumesTest : public ::testing::Test {
 protected:
  LoopVolumesTest() {
    d_.Put(MakeClass("fast", "csi.example.com"));
    d_.Put(Data());
  }
  // What is written of claims; with 200 the answer comes, and the watch shows nothing yet.
  void ClaimsAreAnswered(int code) {
    d_.api.Break({.on = "persistentvolumeclaims", .times = -1, .code = code});
  }
  static MakeClaim Data() { return MakeClaim("data").Class("fast").Size(10); }
  void VolumeIsMade() {
    d_.Put(MakeVolume("pv").Class("fast").Size(10).For("data", "uid-claim-data"));
    d_.Put(Data().BoundTo("pv"));
  }
  void PutMember(Pod pod) {
    pod.meta.created = d_.now;
    d_.api.Put(std::move(pod));
  }
  // Two members run, and the volume of a third is being made.
  void SurplusWaitsForItsVolume() {
    d_.Nodes(4, 8);
    ClaimsAreAnswered(503);
    d_.Submit({.gang = "a", .pods = 2});
    d_.Settle();
    PutMember(MakePod("a-2").Group("a").Gpu(8).Claim("data"));
    d_.Settle(absl::Seconds(1));
    ASSERT_EQ(d_.Bound("a"), 2);
  }

  LoopDriver d_;
};

TEST_F(LoopVolumesTest, AGangWhoseSurplusWaitsForAVolumeRuns) {
  SurplusWaitsForItsVolume();
  d_.Settle(absl::Seconds(15));
  EXPECT_EQ(d_.StatusOf("a").phase, "Running");
  EXPECT_EQ(d_.StatusOf("a").reason, "Bound");
}

TEST_F(LoopVolumesTest, SurplusThatWaitsForAVolumeGivesWayToAReplacement) {
  SurplusWaitsForItsVolume();
  d_.api.Delete(ResourceKind::kPod, "a-1");
  d_.Settle(absl::Seconds(1));
  EXPECT_EQ(d_.StatusOf("a").reason, "QuorumLost");
  PutMember(MakePod("a-3").Group("a").Gpu(8));
  d_.Settle(absl::Seconds(1));
  EXPECT_NE(d_.NodeOf("a-3"), "");
  EXPECT_EQ(d_.StatusOf("a").reason, "Bound");
}

TEST_F(LoopVolumesTest, SurplusThatGotItsVolumeMayBeTheReplacement) {
  SurplusWaitsForItsVolume();
  d_.api.Delete(ResourceKind::kPod, "a-1");
  d_.Settle(absl::Seconds(1));
  VolumeIsMade();
  d_.Settle(absl::Seconds(10));
  EXPECT_NE(d_.NodeOf("a-2"), "");
  EXPECT_EQ(d_.StatusOf("a").reason, "Bound");
}

// The volume of one who could replace the lost member cannot be made, and the other asks for none.
TEST_F(LoopVolumesTest, AMemberWhoseVolumeFailsKeepsNobodyFromTheRepair) {
  d_.Nodes(4, 8);
  ClaimsAreAnswered(422);
  d_.Submit({.gang = "a", .pods = 2});
  d_.Settle();
  PutMember(MakePod("a-2").Group("a").Gpu(8).Claim("data"));
  d_.Settle(absl::Minutes(5));
  d_.api.Delete(ResourceKind::kPod, "a-1");
  PutMember(MakePod("a-3").Group("a").Gpu(8));
  d_.Settle(absl::Seconds(1));
  EXPECT_NE(d_.NodeOf("a-3"), "");
}

// A plan is made, its volume is being made, and then something changes.
class LoopVolumeStage : public LoopVolumesTest {
 protected:
  LoopVolumeStage() { ClaimsAreAnswered(200); }
  // "b-0" asks for the volume, and is as it is given otherwise.
  void StageBegins(const PodGroup& group, MakePod pod = MakePod("b-0")) {
    group_ = group;
    group_.meta.created = d_.now;
    d_.api.Put(group_);
    PutMember(pod.Group("b").Gpu(8).Claim("data"));
    d_.Settle(absl::Seconds(1));
    ASSERT_GE(d_.api.Count("persistentvolumeclaims"), 1);
    ASSERT_EQ(d_.Bound("b"), 0);
  }
  void Edit() {
    ++group_.meta.generation;
    d_.api.Put(group_);
  }
  int BoundOnceTheVolumeIsMade() {
    VolumeIsMade();
    d_.Settle(absl::Seconds(10));
    return d_.Bound("b");
  }

  PodGroup group_;
};

TEST_F(LoopVolumeStage, NothingOfIt) {
  d_.Nodes(2, 8);
  StageBegins(MakePodGroup("b").MinMember(1));
  EXPECT_EQ(BoundOnceTheVolumeIsMade(), 1);
}

TEST_F(LoopVolumeStage, TheQuorumIsRaised) {
  d_.Nodes(2, 8);
  StageBegins(MakePodGroup("b").MinMember(1));
  group_.spec.min_member = 2;
  Edit();
  EXPECT_EQ(BoundOnceTheVolumeIsMade(), 0);
}

TEST_F(LoopVolumeStage, TheQueueIsStopped) {
  d_.Nodes(2, 8);
  Queue queue;
  queue.meta.name = "q";
  d_.api.Put(queue);
  StageBegins(MakePodGroup("b").MinMember(1).Queue("q"));
  ++queue.meta.generation;
  queue.stop = StopPolicy::kHold;
  d_.api.Put(queue);
  EXPECT_EQ(BoundOnceTheVolumeIsMade(), 0);
}

TEST_F(LoopVolumeStage, APodComesThatItsMemberShuns) {
  constexpr const char* kHost = "kubernetes.io/hostname";
  d_.Put(MakeNode("n1").Gpu(16).Label(kHost, "n1"));
  StageBegins(MakePodGroup("b").MinMember(1),
              MakePod("b-0").Apart(kHost, Labelled("app", "noisy")));
  d_.Put(MakePod("theirs").Scheduler("default-scheduler").Label("app", "noisy").On("n1"));
  EXPECT_EQ(BoundOnceTheVolumeIsMade(), 0);
}

constexpr char kRack[] = "example.com/rack";

class LoopVolumeStageInARack : public LoopVolumeStage {
 protected:
  LoopVolumeStageInARack() {
    Topology topology;
    topology.meta.name = "default";
    topology.levels = {{"rack", kRack}};
    d_.api.Put(topology);
    for (const char* node : {"n1", "n2", "n3"}) d_.Put(MakeNode(node).Gpu(8).Label(kRack, "r1"));
  }
};

TEST_F(LoopVolumeStageInARack, ANodeLeavesIt) {
  PutMember(MakePod("b-1").Group("b").Gpu(8));
  StageBegins(MakePodGroup("b").MinMember(2).Required("rack"));
  d_.Put(MakeNode("n1").Gpu(8).Label(kRack, "r9"));
  EXPECT_EQ(BoundOnceTheVolumeIsMade(), 2);
  for (const char* pod : {"b-0", "b-1"}) EXPECT_NE(d_.NodeOf(pod), "n1");
}

// The one in the other rack is no member of the quorum, though as many are bound as it needs.
TEST_F(LoopVolumeStageInARack, WhoReplacesAMemberThatOthersHaveBoundElsewhereIsNoSurplus) {
  d_.Put(MakeNode("n4").Gpu(8).Label(kRack, "r2"));
  d_.api.Break({.on = "a-1/binding", .act = FaultAct::kSteal, .node = "n4"});
  d_.api.Put(MakePodGroup("a").MinMember(2).Required("rack"));
  for (const char* pod : {"a-0", "a-1"}) PutMember(MakePod(pod).Group("a").Gpu(8));
  for (const char* pod : {"a-2", "a-3"}) {
    PutMember(MakePod(pod).Group("a").Gpu(8).Claim("data").Selector("disk", "nvme"));
  }
  d_.Settle(absl::Seconds(1));
  ASSERT_EQ(d_.NodeOf("a-1"), "n4");
  d_.Put(MakeNode("n5").Gpu(8).Label(kRack, "r1").Label("disk", "nvme"));
  d_.Settle(absl::Seconds(1));
  VolumeIsMade();
  d_.Settle(absl::Seconds(1));
  EXPECT_EQ(d_.NodeOf("a-2"), "n5");
}

}  // namespace
}  // namespace maniple
