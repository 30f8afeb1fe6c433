// Which of several fitting nodes a single pod gets.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::plugins_scores_test {
namespace {

std::string Chosen(const std::vector<ObjectEvent>& events, const MakePod& pod) {
  TestCluster cluster;
  for (const ObjectEvent& event : events) cluster.Add(event);
  cluster.Add(pod);
  const Pod model = pod;
  return cluster.PlacesOf(cluster.Decide(model.meta.name))[0];
}

TEST(Packing, LeavesWholeNodesWhole) {
  EXPECT_EQ(Chosen({MakeNode("a").Gpu(8), MakeNode("b").Gpu(8), MakePod("x").Gpu(4).On("b")},
                   MakePod("p").Gpu(4)),
            "p=b");
}

TEST(Packing, GpusWeighMoreThanProcessors) {
  EXPECT_EQ(Chosen({MakeNode("a").Gpu(8), MakeNode("b").Gpu(8), MakePod("x").Gpu(1).On("b"),
                    MakePod("y").Cpu(40000).On("a")},
                   MakePod("p").Gpu(2).Cpu(1000)),
            "p=b");
}

TEST(Packing, EqualNodesGoByName) {
  EXPECT_EQ(Chosen({MakeNode("b").Gpu(8), MakeNode("a").Gpu(8)}, MakePod("p").Gpu(1)), "p=a");
}

TEST(TaintPreference, FewerSoftTaintsWinOverPacking) {
  EXPECT_EQ(Chosen({MakeNode("a").Gpu(8).WithTaint("soft", "", TaintEffect::kPreferNoSchedule),
                    MakeNode("b").Gpu(8), MakePod("x").Gpu(7).On("a")},
                   MakePod("p").Gpu(1)),
            "p=b");
}

TEST(NodePreference, ThePreferredNodeWinsOverPacking) {
  EXPECT_EQ(Chosen({MakeNode("a").Gpu(8), MakeNode("b").Gpu(8).Label("fast", "yes"),
                    MakePod("x").Gpu(7).On("a")},
                   MakePod("p").Gpu(1).Prefers(
                       1, {.expressions = {Requires("fast", SelectorOperator::kIn, {"yes"})},
                           .fields = {}})),
            "p=b");
}

TEST(ImageLocality, NodesThatHaveTheImageWinOverPacking) {
  const auto nodes = [](int64_t mebibytes) {
    return std::vector<ObjectEvent>{MakeNode("a").Cpu(8),
                                    MakeNode("b").Cpu(8).Image("app:1", mebibytes),
                                    MakePod("x").Cpu(1000).On("a")};
  };
  EXPECT_EQ(Chosen(nodes(4000), MakePod("p").Cpu(1000).Runs("app:1")), "p=b");
  EXPECT_EQ(Chosen(nodes(4000), MakePod("p").Cpu(1000).Runs("app:2")), "p=a");
  EXPECT_EQ(Chosen(nodes(20), MakePod("p").Cpu(1000).Runs("app:1")), "p=a");  // quickly pulled
}

TEST(ImageLocality, FollowsWhatNodesPullAndDrop) {
  TestCluster cluster;
  cluster.Add(MakeNode("a").Cpu(8));
  cluster.Add(MakeNode("b").Cpu(8));
  cluster.Add(MakePod("p").Cpu(1000).Runs("app:1"));
  const auto place = [&] { return cluster.PlacesOf(cluster.Decide("p"))[0]; };
  EXPECT_EQ(place(), "p=a");
  cluster.Add(MakeNode("b").Cpu(8).Image("app:1", 4000));
  EXPECT_EQ(place(), "p=b");
  cluster.Add(MakeNode("a").Cpu(8).Image("app:1", 4000));
  EXPECT_EQ(place(), "p=a");
  cluster.Add(MakeNode("a").Cpu(8));
  EXPECT_EQ(place(), "p=b");
  cluster.Add(DeletionOf(ResourceKind::kNode, "b"));
  cluster.Add(MakeNode("c").Cpu(8).Image("app:1", 4000));
  EXPECT_EQ(place(), "p=c");
}

// … and the first of them says whose images count.
TEST(ImageLocality, MembersThatDifferInImagesAloneAreOfOneKind) {
  TestCluster cluster;
  for (const char* name : {"a", "b"}) cluster.Add(MakeNode(name).Cpu(8).Label("rack", name));
  cluster.Add(MakeNode("c").Cpu(8).Label("rack", "c").Image("app:1", 4000));
  cluster.Add(MakePodGroup("g").MinMember(2));
  cluster.Add(MakePod("g-0").Group("g").Index(0).Cpu(1000).Runs("app:1"));
  cluster.Add(MakePod("g-1").Group("g").Index(1).Cpu(1000).Runs("app:2"));
  GangRequest request = cluster.RequestOf("g");
  for (Want& want : request.wants) {
    want.scored_as = std::exchange(want.shape, cluster.state().RoomShapeOf(want.shape));
  }
  EXPECT_EQ(request.wants[0].shape, request.wants[1].shape);
  EXPECT_EQ(cluster.PlacesOf(cluster.Decide(request)),
            (std::vector<std::string>{"g-0=c", "g-1=c"}));
}

TEST(GpuAvoidance, APodWithoutGpusGoesElsewhereEvenToAnEmptyNode) {
  EXPECT_EQ(Chosen({MakeNode("a").Gpu(8), MakeNode("b"), MakePod("x").Cpu(60000).On("a")},
                   MakePod("p").Cpu(1000)),
            "p=b");
  EXPECT_EQ(Chosen({MakeNode("a").Has("nvidia.com/mig-1g.10gb", 7), MakeNode("b")},
                   MakePod("p").Cpu(1000)),
            "p=b");
}

}  // namespace
}  // namespace maniple::plugins_scores_test
