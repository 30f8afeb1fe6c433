#include "scheduler/cycle/room/overlay.h"

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

TEST(Overlay, FreeingAHoldIsUndoneLikeAnyOtherStep) {
  TestCluster cluster;
  cluster.Add(MakeNode("n1").Gpu(8));
  cluster.Add(MakePod("a").Gpu(3).Port(80));
  const NodeId node = cluster.state().NodeNamed("n1").value();
  const ShapeId shape = cluster.RequestOf("a").wants[0].shape;
  (void)cluster.state().Hold(node, shape);
  const SnapshotPtr snapshot = cluster.state().Publish();
  Overlay overlay(*snapshot, Overlay::View::kNow);
  const uint64_t before = overlay.Fingerprint();
  overlay.Free(node, shape);
  EXPECT_EQ(overlay.Block(0).Free(kPods)[0], 110);
  EXPECT_TRUE(overlay.Block(0).used_ports().empty());
  overlay.Rollback(0);
  EXPECT_EQ(overlay.Fingerprint(), before);
}

// Room that somebody will give back is counted in the shape of who is still there.
TEST(Overlay, FreeingTheRoomOfNobodyFreesNoPortAndNoVolume) {
  TestCluster cluster;
  cluster.Add(MakeNode("n1").Gpu(8));
  cluster.Add(MakePod("a").Gpu(3).Port(80).Attached("csi", "h"));
  const NodeId node = cluster.state().NodeNamed("n1").value();
  const ShapeId shape = cluster.RequestOf("a").wants[0].shape;
  (void)cluster.state().Hold(node, shape);
  const SnapshotPtr snapshot = cluster.state().Publish();
  Overlay overlay(*snapshot, Overlay::View::kNow);
  const uint64_t before = overlay.Fingerprint();
  overlay.Free(node, shape, Occupant::kNobody);
  EXPECT_EQ(overlay.Block(0).Free(kPods)[0], 110);
  EXPECT_EQ(overlay.Block(0).used_ports().size(), 1u);
  EXPECT_EQ(overlay.Block(0).used_volumes().size(), 1u);
  overlay.Rollback(0);
  EXPECT_EQ(overlay.Fingerprint(), before);
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
