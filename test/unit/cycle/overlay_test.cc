#include "scheduler/cycle/room/overlay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

SnapshotPtr SmallCluster(TestCluster& cluster) {
  for (int i = 0; i < 600; ++i) cluster.Add(MakeNode(absl::StrCat("n", i)).Gpu(8));
  cluster.Add(MakePod("a").Gpu(3).Port(80));
  cluster.Add(MakePod("b").Cpu(500).Wants("example.com/fpga", 2));
  cluster.Add(MakePod("x").Gpu(2).Port(80).On("n7"));
  cluster.Add(MakePod("huge").Gpu(kMostAmount).On("n9"));
  return cluster.state().Publish();
}

// The journal undone backwards gives the picture at the checkpoint, and the snapshot below never
// moves.
TEST(Overlay, AnyRollbackRestoresTheFingerprintOfItsCheckpoint) {
  TestCluster cluster;
  const SnapshotPtr snapshot = SmallCluster(cluster);
  const uint64_t base = snapshot->Fingerprint();
  const auto shapes = static_cast<uint32_t>(snapshot->tables->shapes.size());
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const Overlay::View view = random.OneIn(2) ? Overlay::View::kNow : Overlay::View::kEmptied;
    Overlay overlay(*snapshot, view);
    struct Mark {
      Overlay::Checkpoint at;
      uint64_t fingerprint;
      size_t placed;
    };
    std::vector<Mark> marks = {{overlay.Mark(), overlay.Fingerprint(), 0}};
    for (int step = 0; step < 40; ++step) {
      const NodeId node(static_cast<uint32_t>(random.Below(600)));
      const ShapeId shape(static_cast<uint32_t>(random.Below(shapes)));
      switch (random.Below(6)) {
        case 0:
          marks.push_back({overlay.Mark(), overlay.Fingerprint(), overlay.placed().placed.size()});
          break;
        case 1: {
          const size_t to = random.Below(marks.size());
          overlay.Rollback(marks[to].at);
          ASSERT_EQ(overlay.Fingerprint(), marks[to].fingerprint) << "seed " << seed;
          ASSERT_EQ(overlay.placed().placed.size(), marks[to].placed);
          marks.resize(to + 1);
          break;
        }
        default:
          overlay.Place(node, shape);
      }
    }
    overlay.Rollback(marks[0].at);
    EXPECT_EQ(overlay.Fingerprint(), marks[0].fingerprint);
  }
  EXPECT_EQ(snapshot->Fingerprint(), base);
}

// A node with room held for a pod that has a port and a volume.
class OverlayOfAHold : public testing::Test {
 protected:
  OverlayOfAHold() {
    cluster_.Add(MakeNode("n1").Gpu(8));
    cluster_.Add(MakePod("a").Gpu(3).Port(80).Attached("csi", "h"));
    node_ = cluster_.state().NodeNamed("n1").value();
    shape_ = cluster_.RequestOf("a").wants[0].shape;
    (void)cluster_.state().Hold(node_, shape_);
    snapshot_ = cluster_.state().Publish();
  }
  // Frees the room, tells how many ports and volumes are left, and takes it back.
  std::vector<size_t> LeftAfterFreeing(Occupant of) {
    Overlay overlay(*snapshot_, Overlay::View::kNow);
    const uint64_t before = overlay.Fingerprint();
    overlay.Free(node_, shape_, of);
    EXPECT_EQ(overlay.Block(0).Free(kPods)[0], 110);
    std::vector<size_t> left = {overlay.Block(0).used_ports().size(),
                                overlay.Block(0).used_volumes().size()};
    overlay.Rollback(0);
    EXPECT_EQ(overlay.Fingerprint(), before);
    return left;
  }

  TestCluster cluster_;
  NodeId node_;
  ShapeId shape_;
  SnapshotPtr snapshot_;
};

TEST_F(OverlayOfAHold, IsUndoneLikeAnyOtherStep) {
  for (const Occupant of : {Occupant::kPod, Occupant::kHold}) {
    EXPECT_THAT(LeftAfterFreeing(of), testing::ElementsAre(0, 0));
  }
}

// Room that somebody will give back is counted in the shape of who is still there.
TEST_F(OverlayOfAHold, KeepsPortAndVolumeWhereNobodyLeaves) {
  EXPECT_THAT(LeftAfterFreeing(Occupant::kNobody), testing::ElementsAre(1, 1));
}

TEST(Overlay, TheEmptiedViewShowsWhatIsAllocatable) {
  TestCluster cluster;
  const SnapshotPtr snapshot = SmallCluster(cluster);
  const Overlay overlay(*snapshot, Overlay::View::kEmptied);
  const NodeId node = cluster.state().NodeNamed("n7").value();
  EXPECT_EQ(overlay.At(node).block.Free(kPods)[RowOf(node)], 110);
  EXPECT_TRUE(overlay.At(node).block.used_ports().empty());
}

}  // namespace
}  // namespace maniple
