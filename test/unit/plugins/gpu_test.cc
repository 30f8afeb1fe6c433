// Filters and scores about GPUs, by what a decision for one pod says. The fear: a trainer on
// slices, a pod on a node that is being repartitioned, NVLink promised that is not there, and one
// pod that breaks what another would need whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"
#include "test/support/node_answers.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

constexpr char kSlice[] = "nvidia.com/mig-1g.10gb";

std::string Chosen(const std::vector<ObjectEvent>& events, const MakePod& pod) {
  TestCluster cluster;
  for (const ObjectEvent& event : events) cluster.Add(event);
  cluster.Add(pod);
  const Pod model = pod;
  return cluster.PlacesOf(cluster.Decide(model.meta.name))[0];
}

// A gang of equal pods: how many of them are placed as quorum.
std::string GangOf(int pods, const MakePod& each, const MakeNode& node) {
  TestCluster cluster;
  cluster.Add(node);
  cluster.Add(MakePodGroup("g").MinMember(pods));
  for (int i = 0; i < pods; ++i) {
    Pod pod = each;
    pod.meta.name = absl::StrCat("g-", i);
    pod.meta.uid = absl::StrCat("uid-g-", i);
    pod.meta.labels.Set("scheduling.maniple.dev/pod-group", "g");
    cluster.Add(ObjectUpserted{pod});
  }
  return std::holds_alternative<Plan>(cluster.Decide("g")) ? "fits" : "rejected";
}

MakeNode Whole(absl::string_view name, int64_t gpus = 8) {
  return MakeNode(name).Gpu(gpus).Product("NVIDIA-A100-SXM4-80GB");
}
MakeNode Sliced(absl::string_view name) {
  return MakeNode(name)
      .Gpu(56)
      .Product("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb")
      .Label("nvidia.com/mig.strategy", "single");
}
MakeNode Shared(absl::string_view name) {
  return MakeNode(name)
      .Gpu(32)
      .Product("NVIDIA-A100-SXM4-80GB-SHARED")
      .Label("nvidia.com/gpu.replicas", "4")
      .Label("nvidia.com/gpu.sharing-strategy", "time-slicing");
}
MakeNode Paired(absl::string_view name, int64_t gpus = 8) {
  return MakeNode(name).Gpu(gpus).Product("NVIDIA-H100-PCIe");
}

TEST(GpuCondition, KeepsGpuPodsOffNodesThatAreBeingRepartitioned) {
  const MakePod gpu = MakePod("p").Gpu(1);
  const MakePod slice = MakePod("p").Wants(kSlice, 1);
  for (const char* state : {"pending", "rebooting"}) {
    const MakeNode node = Whole("n").Has(kSlice, 7).Label("nvidia.com/mig.config.state", state);
    EXPECT_EQ(Answer(node, gpu), "its GPUs are being repartitioned") << state;
    EXPECT_EQ(Answer(node, slice), "its GPUs are being repartitioned") << state;
    EXPECT_EQ(Answer(node, MakePod("p").Cpu(1000)), "fits") << state;
  }
  EXPECT_EQ(Answer(Whole("n").Label("nvidia.com/mig.config.state", "success"), gpu), "fits");
  EXPECT_EQ(Answer(Whole("n").Label("nvidia.com/mig.config.state", "failed"), gpu), "fits");
  EXPECT_EQ(Answer(MakeNode("n").Gpu(8).Product("NVIDIA-A100-SXM4-80GB-MIG-INVALID"), gpu),
            "its GPUs are sliced in a way that their plugin refuses");
  EXPECT_EQ(Answer(Whole("n").Label("nvidia.com/gpu-driver-upgrade-state", "drain-required"), gpu),
            "its GPU driver is being upgraded");
}

TEST(GpuCondition, ANodeWhoseRepartitioningFailedComesLast) {
  const MakePod pod = MakePod("p").Gpu(1);
  const MakeNode suspect = Whole("a").Label("nvidia.com/mig.config.state", "failed");
  // Not even packing makes up for it.
  EXPECT_EQ(Chosen({suspect, Whole("b"), MakePod("x").Gpu(7).On("a")}, pod), "p=b");
  EXPECT_EQ(Chosen({suspect}, pod), "p=a");
}

TEST(WholeGpus, AContainerWithSeveralGpusNeverLandsOnSlices) {
  EXPECT_EQ(Answer(Sliced("n"), MakePod("p").Gpu(8)),
            "its GPUs are MIG slices, and one container asks for 8 GPUs");
  EXPECT_EQ(Answer(Sliced("n"), MakePod("p").Gpu(1)), "fits");
  // Two containers with one GPU each are not one with two.
  EXPECT_EQ(Answer(Sliced("n"), MakePod("p").Gpu(2).AtMostPerContainer(kGpuResource, 1)), "fits");
  EXPECT_EQ(Answer(Whole("n"), MakePod("p").Gpu(8)), "fits");
  // Slices that go by their own name may be asked for by the dozen.
  EXPECT_EQ(Answer(MakeNode("n").Has(kSlice, 7), MakePod("p").Wants(kSlice, 3)), "fits");
}

TEST(WholeGpus, AContainerWithSeveralGpusNeverLandsOnReplicas) {
  EXPECT_EQ(Answer(Shared("n"), MakePod("p").Gpu(2)),
            "its GPUs are shared, and one container asks for 2");
  EXPECT_EQ(Answer(Shared("n"), MakePod("p").Gpu(2).AtMostPerContainer(kGpuResource, 1)), "fits");
  EXPECT_EQ(Answer(Shared("n"), MakePod("p").Gpu(1)), "fits");
  const MakeNode renamed = MakeNode("n")
                               .Has("nvidia.com/gpu.shared", 32)
                               .Product("NVIDIA-A100-SXM4-80GB")
                               .Label("nvidia.com/gpu.replicas", "4");
  EXPECT_EQ(Answer(renamed, MakePod("p").Wants("nvidia.com/gpu.shared", 2)), "fits");
  EXPECT_EQ(Answer(renamed, MakePod("p").Gpu(1)), "insufficient nvidia.com/gpu (want 1, have 0)");
  const MakeNode slices =
      MakeNode("n")
          .Has(kSlice, 28)
          .Label("nvidia.com/mig-1g.10gb.replicas", "4")
          .Label("nvidia.com/mig-1g.10gb.product", "NVIDIA-A100-MIG-1g.10gb-SHARED");
  EXPECT_EQ(Answer(slices, MakePod("p").Wants(kSlice, 2)),
            "its GPUs are shared, and one container asks for 2");
}

TEST(RequireNvlink, HoldsToWhatCanBePromised) {
  const auto asking = [](int64_t gpus) { return MakePod("p").Gpu(gpus).RequiresNvlink(); };
  constexpr char kNo[] = "of its free GPUs cannot be promised";
  EXPECT_EQ(Answer(Whole("n"), asking(8)), "fits");
  EXPECT_EQ(Answer(Paired("n"), asking(2)), "fits");
  EXPECT_THAT(Answer(Paired("n"), asking(3)), EndsWith(kNo));
  for (const char* product : {"NVIDIA-L40S", "Cerebellum-9000", ""}) {
    const MakeNode node = MakeNode("n").Gpu(8).Product(product);
    EXPECT_THAT(Answer(node, asking(2)), EndsWith(kNo)) << product;
    EXPECT_EQ(Answer(node, asking(1)), "fits") << product;
  }
  EXPECT_THAT(Answer(Sliced("n"), asking(2).AtMostPerContainer(kGpuResource, 1)), EndsWith(kNo));
  EXPECT_THAT(Answer(MakeNode("n").Has(kSlice, 7), MakePod("p").Wants(kSlice, 2).RequiresNvlink()),
              EndsWith(kNo));
}

TEST(RequireNvlink, APairIsSureWhileMoreThanHalfIsFree) {
  const MakePod pod = MakePod("p").Gpu(2).RequiresNvlink();
  EXPECT_EQ(Answer(Paired("n"), pod, {MakePod("x").Gpu(3).On("n")}), "fits");
  EXPECT_THAT(Answer(Paired("n"), pod, {MakePod("x").Gpu(4).On("n")}),
              EndsWith("cannot be promised"));
  // One of eight has failed: of seven healthy ones four may be four halves of pairs.
  const MakeNode failed = Paired("n", 7).Label("nvidia.com/gpu.count", "8");
  EXPECT_THAT(Answer(failed, pod, {MakePod("x").Gpu(3).On("n")}), EndsWith("cannot be promised"));
  EXPECT_EQ(Answer(failed, pod, {MakePod("x").Gpu(2).On("n")}), "fits");
  // More is used than there is.
  EXPECT_THAT(Answer(Paired("n", 4), pod, {MakePod("x").Gpu(6).On("n")}), EndsWith("have 0)"));
}

TEST(RequireNvlink, CountsHowManyPairsANodeCanPromiseOneAfterTheOther) {
  const MakePod two = MakePod("p").Gpu(2).RequiresNvlink();
  EXPECT_EQ(GangOf(2, two, Paired("n")), "fits");
  EXPECT_EQ(GangOf(3, two, Paired("n")), "rejected");
  EXPECT_EQ(GangOf(4, two, Whole("n")), "fits");
  EXPECT_EQ(GangOf(8, MakePod("p").Gpu(1).RequiresNvlink(), Paired("n")), "fits");
}

TEST(NvlinkPreference, LinkedGpusWinOverPacking) {
  const MakeNode plain = MakeNode("a").Gpu(8).Product("NVIDIA-L40S");
  const std::vector<ObjectEvent> full_of_one = {MakePod("x").Gpu(4).On("a")};
  EXPECT_EQ(Chosen({plain, Whole("b"), full_of_one[0]}, MakePod("p").Gpu(4)), "p=b");
  EXPECT_EQ(Chosen({plain, Paired("b"), full_of_one[0]}, MakePod("p").Gpu(2)), "p=b");
  // One GPU has nothing to be linked with.
  EXPECT_EQ(Chosen({plain, Whole("b"), full_of_one[0]}, MakePod("p").Gpu(1)), "p=a");
  // A pair that is promised wins over one that may be.
  EXPECT_EQ(Chosen({Paired("a"), Paired("b"), MakePod("x").Gpu(5).On("a")}, MakePod("p").Gpu(2)),
            "p=b");
}

TEST(GpuKind, AWholeGpuComesFirstASliceLast) {
  const MakePod one = MakePod("p").Gpu(1);
  const ObjectEvent busy = MakePod("x").Gpu(20).On("a");
  EXPECT_EQ(Chosen({Sliced("a"), Whole("b"), busy}, one), "p=b");
  EXPECT_EQ(Chosen({Shared("a"), Whole("b"), busy}, one), "p=b");
  EXPECT_EQ(Chosen({Sliced("a"), Shared("b"), busy}, one), "p=b");
  EXPECT_EQ(Chosen({Sliced("a")}, one), "p=a");
  // Not even what the user prefers makes up for it, nor a soft taint.
  const NodeSelectorTerm near{.expressions = {Requires("zone", SelectorOperator::kIn, {"near"})},
                              .fields = {}};
  EXPECT_EQ(Chosen({Sliced("a").Label("zone", "near"),
                    Whole("b").WithTaint("soft", "", TaintEffect::kPreferNoSchedule), busy},
                   MakePod("p").Gpu(1).Prefers(100, near)),
            "p=b");
}

TEST(GpuKind, WhoNamesSlicesOrSharedGpusGetsTheseFirst) {
  const auto prefers = [](absl::string_view product) {
    return NodeSelectorTerm{
        .expressions = {Requires("nvidia.com/gpu.product", SelectorOperator::kIn,
                                 {std::string(product)})},
        .fields = {}};
  };
  EXPECT_EQ(Chosen({Whole("a"), Sliced("b")},
                   MakePod("p").Gpu(1).Prefers(1, prefers("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"))),
            "p=b");
  EXPECT_EQ(Chosen({Whole("a"), Shared("b")},
                   MakePod("p").Gpu(1).Prefers(1, prefers("NVIDIA-A100-SXM4-80GB-SHARED"))),
            "p=b");
}

TEST(SlicePacking, SlicesGoToTheNodeWithMostOfItInUse) {
  const auto mixed = [](absl::string_view name) {
    return MakeNode(name).Has(kSlice, 14).Has("nvidia.com/mig-3g.40gb", 4).Gpu(2);
  };
  const MakePod pod = MakePod("p").Wants(kSlice, 1).Cpu(100);
  // "b" has more in use, of another profile, though "a" is fuller in all that the pod asks for.
  EXPECT_EQ(Chosen({mixed("a"), mixed("b"), MakePod("x").Wants(kSlice, 2).Cpu(30000).On("a"),
                    MakePod("y").Wants("nvidia.com/mig-3g.40gb", 1).On("b")},
                   pod),
            "p=b");
  EXPECT_EQ(Chosen({mixed("a"), mixed("b"), MakePod("x").Wants(kSlice, 2).On("a"),
                    MakePod("y").Gpu(1).On("b")},
                   pod),
            "p=b");
  EXPECT_EQ(Chosen({mixed("a"), mixed("b"), MakePod("x").Wants(kSlice, 1).On("b")}, pod), "p=b");
}

TEST(GpuAvoidanceAfterALoss, ANodeThatHasLostItsGpusForAWhileIsStillAGpuNode) {
  EXPECT_EQ(Chosen({MakeNode("a").Product("NVIDIA-L40S"), MakeNode("b")}, MakePod("p").Cpu(1000)),
            "p=b");
}

// ---- nodes that do what nobody expects

TEST(GpuNodes, APluginThatIsGoneLeavesWhoRunsThereAndLetsNobodyIn) {
  TestCluster cluster;
  cluster.Add(Whole("n"));
  cluster.Add(MakePod("x").Gpu(6).On("n"));
  cluster.Add(Whole("n", 0));
  cluster.Add(MakePod("p").Gpu(1));
  EXPECT_THAT(cluster.ReasonsOf(cluster.Decide("p")),
              ElementsAre("1: insufficient nvidia.com/gpu (want 1, have 0)"));
  EXPECT_EQ(cluster.state().CheckInvariants(), absl::OkStatus());
  cluster.Add(Whole("n"));
  EXPECT_THAT(cluster.PlacesOf(cluster.Decide("p")), ElementsAre("p=n"));
}

TEST(GpuNodes, CountsThatFlipNeverOversubscribe) {
  TestCluster cluster;
  cluster.Add(MakePod("p").Gpu(4));
  cluster.Add(Whole("n"));
  cluster.Add(MakePod("x").Gpu(5).On("n"));
  for (const int64_t gpus : {8, 4, 7, 0, 9, 8}) {
    cluster.Add(Whole("n", gpus).Label("nvidia.com/gpu.count", "8"));
    const std::string place = cluster.PlacesOf(cluster.Decide("p"))[0];
    EXPECT_EQ(place, gpus >= 9 ? "p=n" : "rejected") << gpus;
    EXPECT_EQ(cluster.state().CheckInvariants(), absl::OkStatus());
  }
}

TEST(GpuNodes, ARebootIntoAnotherLayoutIsAnotherNode) {
  TestCluster cluster;
  cluster.Add(Whole("n"));
  cluster.Add(MakePod("slice").Wants(kSlice, 2));
  cluster.Add(MakePod("whole").Gpu(4));
  EXPECT_EQ(cluster.PlacesOf(cluster.Decide("slice"))[0], "rejected");
  cluster.Add(Whole("n").Label("nvidia.com/mig.config.state", "rebooting"));
  EXPECT_EQ(cluster.PlacesOf(cluster.Decide("whole"))[0], "rejected");
  cluster.Add(Whole("n", 0).Has(kSlice, 56).Label("nvidia.com/mig.config.state", "success"));
  EXPECT_EQ(cluster.PlacesOf(cluster.Decide("slice"))[0], "slice=n");
  EXPECT_EQ(cluster.PlacesOf(cluster.Decide("whole"))[0], "rejected");
  EXPECT_EQ(cluster.state().CheckInvariants(), absl::OkStatus());
}

}  // namespace
}  // namespace maniple
