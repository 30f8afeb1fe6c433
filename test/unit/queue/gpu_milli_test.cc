// What a pod takes of whole GPUs. The fear: a fully sliced GPU that counts for more than one, or a
// replica or a slice that counts for a whole one. Labels as GPU Feature Discovery writes them.
#include "queue/gpu_milli.h"

#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_cat.h"

namespace maniple::queue_gpu_milli_test {
namespace {

Amount MilliOf(const ResourceAmounts& requests, const StringMap& labels = {}) {
  Node node;
  node.meta.labels = labels;
  PodConstraints pod;
  pod.requests = requests;
  return GpuMilliOf(pod, GpuDivisionOf(GpuFactsOf(node, GpuRules())));
}

struct Case {
  const char* what;
  StringMap labels;
  ResourceAmounts requests;
  int64_t milli;
};

StringMap Product(absl::string_view product) {
  return StringMap({{"nvidia.com/gpu.product", std::string(product)}});
}

TEST(GpuMilli, FollowsTheNodesLabels) {
  const StringMap shared({{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-SHARED"},
                          {"nvidia.com/gpu.replicas", "4"},
                          {"nvidia.com/gpu.sharing-strategy", "time-slicing"}});
  const StringMap renamed({{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB"},
                           {"nvidia.com/gpu.replicas", "4"},
                           {"nvidia.com/gpu.sharing-strategy", "time-slicing"}});
  const StringMap exclusive({{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
                             {"nvidia.com/gpu.replicas", "1"},
                             {"nvidia.com/gpu.sharing-strategy", "none"}});
  const StringMap mixed({{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
                         {"nvidia.com/gpu.replicas", "0"},
                         {"nvidia.com/mig.strategy", "mixed"}});
  const Case cases[] = {
      {"a whole GPU", exclusive, {{"nvidia.com/gpu", Amount(8)}}, 8000},
      {"a node without labels", {}, {{"nvidia.com/gpu", Amount(1)}}, 1000},
      {"no GPU", exclusive, {{"cpu", Amount(64000)}, {"memory", Amount(1)}}, 0},
      {"replicas under the plain name", shared, {{"nvidia.com/gpu", Amount(3)}}, 750},
      {"replicas under their own name", renamed, {{"nvidia.com/gpu.shared", Amount(1)}}, 250},
      {"a whole GPU beside renamed replicas", renamed, {{"nvidia.com/gpu", Amount(1)}}, 1000},
      {"slices of a mixed node", mixed, {{"nvidia.com/mig-1g.10gb", Amount(1)}}, 142},
      {"a slice of three", mixed, {{"nvidia.com/mig-3g.40gb", Amount(1)}}, 428},
      {"a slice of four", mixed, {{"nvidia.com/mig-4g.40gb", Amount(1)}}, 571},
      {"a slice that is the GPU", mixed, {{"nvidia.com/mig-7g.80gb", Amount(1)}}, 1000},
      {"one with media engines", mixed, {{"nvidia.com/mig-1g.10gb.me", Amount(1)}}, 142},
      {"one compute instance of it", mixed, {{"nvidia.com/mig-1c.3g.40gb", Amount(1)}}, 142},
      {"slices and GPUs of one node",
       mixed,
       {{"nvidia.com/gpu", Amount(2)}, {"nvidia.com/mig-2g.20gb", Amount(2)}},
       2570},
      {"a node sliced alike",
       Product("NVIDIA-A100-SXM4-80GB-MIG-3g.40gb"),
       {{"nvidia.com/gpu", Amount(2)}},
       856},
      {"a node sliced alike and shared",
       StringMap({{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb-SHARED"},
                  {"nvidia.com/gpu.replicas", "2"}}),
       {{"nvidia.com/gpu", Amount(1)}},
       71},
      {"a node sliced amiss",
       Product("NVIDIA-A100-SXM4-80GB-MIG-INVALID"),
       {{"nvidia.com/gpu", Amount(1)}},
       1000},
      {"four slices make an A30",
       Product("NVIDIA-A30"),
       {{"nvidia.com/mig-1g.6gb", Amount(4)}},
       1000},
      {"four slices make an RTX PRO 6000",
       Product("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition"),
       {{"nvidia.com/mig-2g.48gb", Amount(2)}},
       1000},
      {"four slices make an RTX PRO 5000",
       Product("NVIDIA-RTX-PRO-5000-Blackwell"),
       {{"nvidia.com/mig-4g.48gb", Amount(1)}},
       1000},
      {"a slice that several share",
       StringMap({{"nvidia.com/mig.strategy", "mixed"},
                  {"nvidia.com/mig-3g.40gb.product", "NVIDIA-H100-MIG-3g.40gb-SHARED"},
                  {"nvidia.com/mig-3g.40gb.replicas", "4"}}),
       {{"nvidia.com/mig-1g.10gb", Amount(1)}, {"nvidia.com/mig-3g.40gb", Amount(1)}},
       142 + 107},
      {"a slice that several share under a name of its own",
       StringMap({{"nvidia.com/mig-3g.40gb.product", "NVIDIA-H100-MIG-3g.40gb"},
                  {"nvidia.com/mig-3g.40gb.replicas", "4"}}),
       {{"nvidia.com/mig-3g.40gb", Amount(1)}, {"nvidia.com/mig-3g.40gb.shared", Amount(1)}},
       428 + 107},
      {"a GPU that a cloud slices alike",
       StringMap({{"cloud.google.com/gke-gpu-partition-size", "2g.10gb"},
                  {"cloud.google.com/gke-accelerator", "nvidia-tesla-a100"}}),
       {{"nvidia.com/gpu", Amount(3)}},
       855},
      {"percents of cores and memory",
       {},
       {{"nvidia.com/gpu", Amount(2)},
        {"nvidia.com/gpucores", Amount(30)},
        {"nvidia.com/gpumem-percentage", Amount(50)}},
       1000},
      {"memory of a GPU that nobody knows",
       {},
       {{"nvidia.com/gpu", Amount(1)}, {"nvidia.com/gpumem", Amount(3000)}},
       1000},
      {"parts of no GPU", {}, {{"nvidia.com/gpucores", Amount(50)}}, 0},
      {"other makes", {}, {{"amd.com/gpu", Amount(1)}, {"gpu.intel.com/xe", Amount(1)}}, 2000},
      {"what only looks like a GPU", {}, {{"gpu.intel.com/i915_monitoring", Amount(1)}}, 0},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(MilliOf(c.requests, c.labels), Amount(c.milli)) << c.what;
  }
}

TEST(GpuMilli, APartIsMeasuredByTheMemoryOfItsGpu) {
  Node node;
  node.meta.labels = Product("NVIDIA-A40");
  node.meta.labels.Set("nvidia.com/gpu.memory", "40000");
  node.meta.annotations.Set("hami.io/node-nvidia-register", "GPU-1,10,40000");
  const GpuDivision division = GpuDivisionOf(GpuFactsOf(node, GpuRules()));
  PodConstraints pod;
  pod.requests = {{"nvidia.com/gpu", Amount(1)}, {"nvidia.com/gpumem", Amount(10000)}};
  EXPECT_EQ(GpuMilliOf(pod, division), Amount(250));
  pod.requests.push_back({"nvidia.com/gpucores", Amount(40)});
  EXPECT_EQ(GpuMilliOf(pod, division), Amount(400));
  // Two containers with half a GPU each take one GPU, not two.
  pod.requests = {{"nvidia.com/gpu", Amount(2)}, {"nvidia.com/gpumem", Amount(40000)}};
  pod.most_per_container = {{"nvidia.com/gpu", Amount(1)}, {"nvidia.com/gpumem", Amount(20000)}};
  EXPECT_EQ(GpuMilliOf(pod, division), Amount(1000));
  // More than there is of it is one GPU.
  pod.requests = {{"nvidia.com/gpu", Amount(1)}, {"nvidia.com/gpucores", Amount(5000)}};
  pod.most_per_container.clear();
  EXPECT_EQ(GpuMilliOf(pod, division), Amount(1000));
}

// Every layout that fills a GPU, of every family, and every number of replicas.
TEST(GpuMilli, WhatIsGivenOutInFullIsOneGpuAtMost) {
  for (const char* product : {"NVIDIA-A100-SXM4-80GB", "NVIDIA-A30"}) {
    const int32_t most = absl::string_view(product) == "NVIDIA-A30" ? 4 : 7;
    for (int32_t slices = 1; slices <= most; ++slices) {
      const std::string profile = absl::StrCat(slices, "g.10gb");
      const ResourceAmounts filled = {
          {absl::StrCat("nvidia.com/mig-", profile), Amount(most / slices)}};
      EXPECT_LE(MilliOf(filled, Product(product)), Amount(1000)) << product << " " << profile;
      for (int32_t replicas = 1; replicas <= 48; ++replicas) {
        StringMap shared = Product(absl::StrCat(product, "-MIG-", profile, "-SHARED"));
        shared.Set("nvidia.com/gpu.replicas", absl::StrCat(replicas));
        const ResourceAmounts all = {{"nvidia.com/gpu", Amount(most / slices * replicas)}};
        EXPECT_LE(MilliOf(all, shared), Amount(1000)) << profile << " by " << replicas;
      }
    }
  }
}

TEST(GpuMilli, AFullySlicedGpuNeverCountsForMoreThanOne) {
  for (const int slices : {1, 2, 3, 4, 7}) {
    const ResourceAmounts all = {
        {absl::StrCat("nvidia.com/mig-", slices, "g.10gb"), Amount(7 / slices)}};
    EXPECT_LE(MilliOf(all), Amount(1000)) << slices;
  }
}

TEST(GpuMilli, NoLabelAndNoAmountBreaksIt) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(MilliOf({{"nvidia.com/gpu", Amount(1'000'000'000'000'000'000)}}), Amount::Max());
  EXPECT_EQ(MilliOf({{"nvidia.com/gpu", Amount(kMost)}, {"amd.com/gpu", Amount(kMost)}}),
            Amount::Max());
  for (const char* replicas : {"", "0", "-4", "many", "99999999999999999999", "4.5"}) {
    const StringMap labels(
        {{"nvidia.com/gpu.product", "NVIDIA-T4-SHARED"}, {"nvidia.com/gpu.replicas", replicas}});
    EXPECT_EQ(MilliOf({{"nvidia.com/gpu", Amount(1)}}, labels), Amount(1000)) << replicas;
  }
  for (const char* profile :
       {"", "g", "0g.5gb", "99g.5gb", "99999999999999g.5gb", "-1g.5gb", "1x"}) {
    const Amount milli = MilliOf({{absl::StrCat("nvidia.com/mig-", profile), Amount(1)}});
    EXPECT_GE(milli, Amount()) << profile;
    EXPECT_LE(milli, Amount(1000)) << profile;
  }
}

}  // namespace
}  // namespace maniple::queue_gpu_milli_test
