// Where a pod with GPUs goes when it is known who else is likely to come.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "plugins/factories.h"
#include "plugins/framework/request_mix.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

constexpr char kProductLabel[] = "nvidia.com/gpu.product";

// A cluster that has seen pods come and go.
class Experienced final {
 public:
  Experienced& Saw(int pods, MakePod pod) { return SawOurs(pods, pod.Scheduler("other")); }
  Experienced& SawOurs(int pods, MakePod pod) {
    for (int i = 0; i < pods; ++i) cluster_.Add(pod.Uid(absl::StrCat("seen-", seen_++)));
    cluster_.Add(DeletionOf(ResourceKind::kPod, "seen"));
    return *this;
  }
  Experienced& Has(const ObjectEvent& event) {
    cluster_.Add(event);
    return *this;
  }
  // The score of each node for the pod, by name; none: the plugin has nothing to say.
  std::string ScoresFor(const MakePod& pod) {
    cluster_.Add(pod);
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const PodShape& shape = *snapshot->tables->shapes[snapshot->tables->shapes.size() - 1];
    const auto plugin = MakeFragmentation();
    const auto score = plugin->Bind({.snapshot = *snapshot, .now = cluster_.now}, shape);
    if (score == nullptr) return "none";
    std::string text;
    for (const NodeId node : snapshot->order->by_name) {
      const NodeView view{.block = *snapshot->blocks[BlockOf(node)], .row = RowOf(node)};
      absl::StrAppend(&text, snapshot->NodeName(node), "=", score->Score(view), " ");
    }
    return text;
  }
  std::string PlaceOf(const MakePod& pod) {
    cluster_.Add(pod);
    const Pod model = pod;
    return cluster_.PlacesOf(cluster_.Decide(model.meta.name))[0];
  }

 private:
  TestCluster cluster_;
  int seen_ = 0;
};

TEST(Fragmentation, HasNothingToSayWhileTooLittleWasSeenOrNothingOfWhatIsAskedFor) {
  Experienced cluster;
  cluster.Has(MakeNode("n").Gpu(8)).Saw(20, MakePod("seen").Gpu(1));
  EXPECT_EQ(cluster.ScoresFor(MakePod("few").Gpu(3)), "none");
  cluster.Saw(80, MakePod("seen").Gpu(1));
  EXPECT_EQ(cluster.ScoresFor(MakePod("p2").Gpu(2)), "n=50 ") << "loses what it takes";
  EXPECT_EQ(cluster.ScoresFor(MakePod("other-gpu").Wants("amd.com/gpu", 1)), "none");
}

TEST(Fragmentation, WithoutHistoryPackingDecides) {
  Experienced cluster;
  cluster.Has(MakeNode("a").Gpu(8)).Has(MakeNode("b").Gpu(8)).Has(MakePod("x").Gpu(5).On("b"));
  EXPECT_EQ(cluster.PlaceOf(MakePod("p").Gpu(1)), "p=b");
}

TEST(Fragmentation, SmallPodsFillBrokenNodesAndLeaveWholeNodesToThoseWhoNeedThem) {
  Experienced cluster;
  cluster.Saw(80, MakePod("seen").Gpu(1)).Saw(20, MakePod("seen").Gpu(8));
  cluster.Has(MakeNode("a").Gpu(8)).Has(MakeNode("b").Gpu(8)).Has(MakePod("x").Gpu(2).On("b"));
  EXPECT_EQ(cluster.PlaceOf(MakePod("p").Gpu(1)), "p=b");
  EXPECT_EQ(cluster.PlaceOf(MakePod("q").Gpu(6)), "q=b");
}

TEST(Fragmentation, PodsWithFewCoresTakeTheGpusThatLackThem) {
  // The typical pod takes eight cores along; on b only one more of them fits. By cores alone c is
  // the fuller node.
  Experienced cluster;
  cluster.Saw(100, MakePod("seen").Gpu(1).Cpu(8000));
  cluster.Has(MakeNode("b").Gpu(4).Cpu(64)).Has(MakeNode("c").Gpu(4).Cpu(400));
  cluster.Has(MakePod("x").Cpu(55'000).On("b")).Has(MakePod("y").Cpu(360'000).On("c"));
  EXPECT_EQ(cluster.PlaceOf(MakePod("p").Gpu(1).Cpu(500)), "p=b");
}

TEST(Fragmentation, PodsWithoutGpusTakeCoresWhereGpusNeedThemLeast) {
  Experienced cluster;
  cluster.Saw(100, MakePod("seen").Gpu(1).Cpu(8000));
  // On b the GPUs are in use and cores are left over; on a each core goes with a GPU.
  cluster.Has(MakeNode("a").Gpu(8).Cpu(64)).Has(MakeNode("b").Gpu(8).Cpu(64));
  cluster.Has(MakePod("x").Gpu(8).Cpu(16'000).On("b")).Has(MakePod("y").Cpu(32'000).On("a"));
  EXPECT_EQ(cluster.PlaceOf(MakePod("p").Cpu(16'000)), "p=b");
}

TEST(Fragmentation, SlicesOfOneProfileAreNoUseToThoseWhoAskForAnother) {
  Experienced cluster;
  cluster.Saw(90, MakePod("seen").Wants("nvidia.com/mig-1g.10gb", 1));
  cluster.Saw(90, MakePod("seen").Wants("nvidia.com/mig-3g.40gb", 1).Cpu(16'000));
  // On m the pod takes cores that the large slice will want; on s there is no large slice.
  cluster.Has(
      MakeNode("m").Cpu(16).Has("nvidia.com/mig-1g.10gb", 2).Has("nvidia.com/mig-3g.40gb", 1));
  cluster.Has(MakeNode("s").Cpu(16).Has("nvidia.com/mig-1g.10gb", 2));
  EXPECT_EQ(cluster.PlaceOf(MakePod("p").Wants("nvidia.com/mig-1g.10gb", 1).Cpu(4000)), "p=s");
}

// Those who would take any model leave the one that others insist on.
TEST(Fragmentation, ScarceModelsAreLeftToThoseWhoInsistOnThem) {
  const auto node = [](const char* name, const char* product) {
    return MakeNode(name).Gpu(8).Cpu(64).Product(product);
  };
  Experienced insisting;
  insisting.Has(node("a", "H100")).Has(node("b", "A100")).Has(node("c", "A100"));
  insisting.SawOurs(100, MakePod("seen").Gpu(1).Selector(kProductLabel, "H100"));
  insisting.Saw(100, MakePod("seen").Gpu(1));
  EXPECT_EQ(insisting.PlaceOf(MakePod("p").Gpu(1)), "p=b");
  EXPECT_EQ(insisting.PlaceOf(MakePod("q").Gpu(1).Selector(kProductLabel, "H100")), "q=a");
  // While nobody insists, all models are one.
  Experienced easy;
  easy.Has(node("a", "H100")).Has(node("b", "A100")).Saw(200, MakePod("seen").Gpu(1));
  EXPECT_EQ(easy.PlaceOf(MakePod("p").Gpu(1)), "p=a");
}

TEST(Fragmentation, StandsNodesThatHaveLessThanNothing) {
  Experienced cluster;
  cluster.Saw(100, MakePod("seen").Gpu(1).Cpu(1000));
  cluster.Has(MakeNode("n").Gpu(2)).Has(MakePod("x").Gpu(8).Cpu(900'000).On("n"));
  const std::string scores = cluster.ScoresFor(MakePod("p").Gpu(2).Cpu(1));
  EXPECT_NE(scores, "none");
}

TEST(RequestMix, TheEssenceOfARoomIsWorthWhatTheRoomIs) {
  Random random(3);
  const ResourceId gpu(3), slice(4);
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<TypicalRequest> requests;
    for (int i = 0; i < 6; ++i) {
      requests.push_back(
          {.amounts = {{kCpu, 1 + static_cast<int64_t>(random.Below(15))},
                       {kMemory, 1 + static_cast<int64_t>(random.Below(15))},
                       {random.OneIn(2) ? gpu : slice, 1 + static_cast<int64_t>(random.Below(4))}},
           .pods = 1 + static_cast<int64_t>(random.Below(9))});
    }
    const RequestMix mix(requests, {{.resource = gpu}, {.resource = slice, .milli = 142}});
    for (int i = 0; i < 20; ++i) {
      FillRoom room{.cpu = static_cast<int64_t>(random.Below(100)),
                    .memory = static_cast<int64_t>(random.Below(100))};
      room.units = {static_cast<int32_t>(random.Below(9)), static_cast<int32_t>(random.Below(9))};
      const FillRoom essence = mix.Essence(room, {});
      ASSERT_EQ(mix.fill().FillOf(essence), mix.fill().FillOf(room));
      ASSERT_EQ(mix.fill().FragmentOf(essence), mix.fill().FragmentOf(room));
    }
  }
}

}  // namespace
}  // namespace maniple
