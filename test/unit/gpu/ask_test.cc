// What a pod asks of GPUs. The fear: two containers with a GPU each taken for one with two, or a
// pod that names slices or shared GPUs kept away from what it asked for.
#include "api/gpu/gpu_ask.h"

#include <gtest/gtest.h>

#include "test/support/builders.h"

namespace maniple {
namespace {

GpuAsk AskOf(const MakePod& pod) {
  const Pod model = pod;
  return GpuAskOf(model.constraints, GpuRules());
}

SelectorRequirement In(absl::string_view key, absl::string_view value) {
  return Requires(key, SelectorOperator::kIn, {std::string(value)});
}

TEST(GpuResource, KnowsWholeGpusSlicesAndParts) {
  const struct {
    const char* name;
    std::optional<GpuResource> what;
  } cases[] = {
      {"nvidia.com/gpu", GpuResource{.kind = GpuKind::kWhole, .profile = {}}},
      {"nvidia.com/gpu.shared",
       GpuResource{.kind = GpuKind::kWhole, .profile = {}, .shared = true}},
      {"amd.com/gpu", GpuResource{.kind = GpuKind::kWhole, .profile = {}}},
      {"gpu.intel.com/xe", GpuResource{.kind = GpuKind::kWhole, .profile = {}}},
      {"nvidia.com/mig-1g.10gb", GpuResource{.kind = GpuKind::kSlice, .profile = "1g.10gb"}},
      {"nvidia.com/mig-1g.24gb.me.all.shared",
       GpuResource{.kind = GpuKind::kSlice, .profile = "1g.24gb.me.all", .shared = true}},
      {"nvidia.com/gpumem", GpuResource{.kind = GpuKind::kMemory, .profile = {}}},
      {"nvidia.com/gpumem-percentage", GpuResource{.kind = GpuKind::kMemoryPercent, .profile = {}}},
      {"nvidia.com/gpucores", GpuResource{.kind = GpuKind::kCores, .profile = {}}},
      {"gpu.intel.com/i915_monitoring", std::nullopt},
      {"nvidia.com/gpus", std::nullopt},
      {"cpu", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& c : cases) EXPECT_EQ(GpuResourceOf(c.name), c.what) << c.name;
}

TEST(GpuResource, TellsNamesOfVendorsFromThoseThatAnybodyMayMakeUp) {
  for (const char* name : {"nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu",
                           "gpu.intel.com/xe", "nvidia.com/mig-1g.10gb"}) {
    EXPECT_TRUE(IsOfKnownVendor(name)) << name;
  }
  for (const char* name : {"a00.x/gpu", "nvidia.com/mig-mine", "example.com/gpu", "cpu", ""}) {
    EXPECT_FALSE(IsOfKnownVendor(name)) << name;
  }
}

TEST(GpuAsk, CountsDevicesOfAKindAndOfOneContainer) {
  GpuAsk ask = AskOf(MakePod("p").Gpu(4));
  EXPECT_EQ(ask.Devices(GpuKind::kWhole), 4);
  EXPECT_EQ(ask.requests[0].most_per_container, 4);
  EXPECT_EQ(ask.Devices(GpuKind::kSlice), 0);

  ask = AskOf(MakePod("p").Gpu(4).AtMostPerContainer(kGpuResource, 1));
  EXPECT_EQ(ask.requests[0].most_per_container, 1);
  EXPECT_EQ(ask.AllDevices(), 4);

  ask = AskOf(MakePod("p").Gpu(1).Wants("nvidia.com/mig-1g.10gb", 2));
  EXPECT_EQ(ask.Devices(GpuKind::kSlice), 2);
  EXPECT_EQ(ask.AllDevices(), 3);

  EXPECT_EQ(AskOf(MakePod("p").Wants("nvidia.com/gpu.shared", 3)).Devices(GpuKind::kWhole), 0);
  EXPECT_EQ(AskOf(MakePod("p").Cpu(1000)), GpuAsk());
}

TEST(GpuAsk, HearsWhoNamesSlicesOrSharedGpus) {
  const auto mine = [] { return MakePod("p").Gpu(1); };
  constexpr char kProduct[] = "nvidia.com/gpu.product";
  EXPECT_TRUE(AskOf(mine().Selector(kProduct, "NVIDIA-A30-MIG-1g.6gb")).names_slices);
  EXPECT_TRUE(AskOf(mine().Selector(kProduct, "NVIDIA-A10-SHARED")).names_shared);
  EXPECT_TRUE(AskOf(mine().Selector("nvidia.com/gpu.replicas", "4")).names_shared);
  EXPECT_FALSE(AskOf(mine().Selector("nvidia.com/gpu.replicas", "1")).names_shared);
  EXPECT_TRUE(AskOf(mine().Selector("nvidia.com/gpu.sharing-strategy", "mps")).names_shared);
  EXPECT_FALSE(AskOf(mine().Selector("nvidia.com/gpu.sharing-strategy", "none")).names_shared);
  EXPECT_TRUE(AskOf(mine().Selector("nvidia.com/mig.strategy", "single")).names_slices);
  EXPECT_FALSE(AskOf(mine().Selector(kProduct, "NVIDIA-A30")).names_slices);
  EXPECT_FALSE(AskOf(mine().Selector("team", "X-MIG-1g.6gb-SHARED")).names_slices);

  EXPECT_TRUE(AskOf(mine().Affinity(
                        {{.expressions = {In("zone", "a")}, .fields = {}},
                         {.expressions = {In(kProduct, "NVIDIA-A30-MIG-1g.6gb")}, .fields = {}}}))
                  .names_slices);
  EXPECT_TRUE(
      AskOf(mine().Prefers(5, {.expressions = {In(kProduct, "NVIDIA-A10-SHARED")}, .fields = {}}))
          .names_shared);
  const SelectorRequirement not_shared =
      Requires(kProduct, SelectorOperator::kNotIn, {"NVIDIA-A10-SHARED"});
  EXPECT_FALSE(AskOf(mine().Affinity({{.expressions = {not_shared}, .fields = {}}})).names_shared);
  const SelectorRequirement many =
      Requires("nvidia.com/gpu.replicas", SelectorOperator::kGt, {"1"});
  EXPECT_TRUE(AskOf(mine().Affinity({{.expressions = {many}, .fields = {}}})).names_shared);
}

TEST(GpuAsk, NoAmountOverflows) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const GpuAsk ask = AskOf(MakePod("p").Gpu(kMost).Wants("amd.com/gpu", kMost));
  EXPECT_GT(ask.Devices(GpuKind::kWhole), 0);
  EXPECT_GT(ask.AllDevices(), 0);
  const GpuAsk one = AskOf(MakePod("p").Gpu(2).AtMostPerContainer(kGpuResource, kMost));
  EXPECT_EQ(one.requests[0].most_per_container, 2);
}

}  // namespace
}  // namespace maniple
