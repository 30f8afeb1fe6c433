// What labels make of a node. The fear: a slice or a replica taken for a GPU of one's own, links
// promised that are not there, or a label that nobody expected bringing the process down.
#include "api/gpu/gpu_facts.h"

#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

GpuFacts FactsOf(const MakeNode& node, const GpuRules& rules = {}) {
  return GpuFactsOf(node, rules);
}

MakeNode N() { return MakeNode("n"); }

TEST(GpuFacts, ANodeWithoutLabelsHasNone) {
  EXPECT_EQ(FactsOf(N().Gpu(8)), GpuFacts());
  EXPECT_EQ(FactsOf(N().Label("zone", "a")), GpuFacts());
}

TEST(GpuFacts, AnHgxH100) {
  const GpuFacts facts = FactsOf(N().Gpu(8)
                                     .Product("NVIDIA-H100-80GB-HBM3")
                                     .Label("nvidia.com/gpu.count", "8")
                                     .Label("nvidia.com/gpu.memory", "81559")
                                     .Label("nvidia.com/gpu.family", "hopper")
                                     .Label("nvidia.com/gpu.replicas", "1")
                                     .Label("nvidia.com/gpu.sharing-strategy", "none")
                                     .Label("nvidia.com/mig.capable", "true"));
  EXPECT_EQ(facts.product, "H100-80GB-HBM3");
  EXPECT_TRUE(facts.known_product);
  EXPECT_EQ(facts.family, "hopper");
  EXPECT_EQ(facts.memory_mib, 81559);
  EXPECT_EQ(facts.count, 8);
  EXPECT_EQ(facts.linkage, GpuLinkage::kAllToAll);
  EXPECT_EQ(facts.condition, GpuCondition::kReady);
  EXPECT_EQ(facts.sharing, GpuSharing::kNone);
  EXPECT_FALSE(facts.sliced());
}

TEST(GpuFacts, MixedMigKeepsItsWholeGpus) {
  const GpuFacts facts = FactsOf(N().Gpu(4)
                                     .Has("nvidia.com/mig-1g.10gb", 28)
                                     .Product("NVIDIA-H100-80GB-HBM3")
                                     .Label("nvidia.com/gpu.count", "8")
                                     .Label("nvidia.com/gpu.replicas", "0")
                                     .Label("nvidia.com/mig.strategy", "mixed")
                                     .Label("nvidia.com/mig.config", "all-balanced")
                                     .Label("nvidia.com/mig.config.state", "success"));
  EXPECT_EQ(facts.mig_strategy, MigStrategy::kMixed);
  EXPECT_EQ(facts.mig_state, MigConfigState::kSuccess);
  EXPECT_EQ(facts.condition, GpuCondition::kReady);
  EXPECT_EQ(facts.count, 8);
  EXPECT_EQ(facts.replicas, 1);
  EXPECT_FALSE(facts.sliced());
}

TEST(GpuFacts, SingleMigMakesEveryGpuASlice) {
  const GpuFacts facts = FactsOf(N().Gpu(16)
                                     .Product("NVIDIA-A100-SXM4-80GB-MIG-3g.40gb")
                                     .Label("nvidia.com/gpu.count", "16")
                                     .Label("nvidia.com/gpu.memory", "40448")
                                     .Label("nvidia.com/mig.strategy", "single"));
  EXPECT_EQ(facts.product, "A100-SXM4-80GB");
  EXPECT_EQ(facts.mig_profile, "3g.40gb");
  EXPECT_EQ(facts.memory_mib, 81920);  // of the GPU, not of the slice that the label describes
  EXPECT_EQ(facts.linkage, GpuLinkage::kNone);
  EXPECT_EQ(facts.mig_strategy, MigStrategy::kSingle);
}

TEST(GpuFacts, StatesInWhichGpusAreNotToBeHandedOut) {
  constexpr char kState[] = "nvidia.com/mig.config.state";
  constexpr char kUpgrade[] = "nvidia.com/gpu-driver-upgrade-state";
  const struct {
    MakeNode node;
    GpuCondition condition;
  } cases[] = {
      {N().Label(kState, "pending"), GpuCondition::kRepartitioned},
      {N().Label(kState, "rebooting"), GpuCondition::kRepartitioned},
      {N().Label(kState, "success"), GpuCondition::kReady},
      {N().Label(kState, "failed"), GpuCondition::kSuspect},
      {N().Label(kState, ""), GpuCondition::kReady},
      {N().Label(kState, "a word of tomorrow"), GpuCondition::kReady},
      {N().Product("NVIDIA-A100-SXM4-80GB-MIG-INVALID").Label("nvidia.com/gpu.count", "0"),
       GpuCondition::kMigInvalid},
      {N().Product("NVIDIA-A100-SXM4-80GB-MIG-"), GpuCondition::kMigInvalid},
      {N().Product("NVIDIA-A100-SXM4-80GB-MIG-0g.5gb"), GpuCondition::kMigInvalid},
      {N().Product("NVIDIA-A30-MIG-INVALID").Label(kState, "pending"),
       GpuCondition::kRepartitioned},
      {N().Label(kUpgrade, "upgrade-done"), GpuCondition::kReady},
      {N().Label(kUpgrade, "drain-required"), GpuCondition::kDriverUpgrade},
      {N().Label(kUpgrade, "upgrade-failed"), GpuCondition::kDriverUpgrade},
      {N().Label(kUpgrade, "upgrade-required"), GpuCondition::kSuspect},
  };
  for (const auto& c : cases) {
    const Node node = c.node;
    EXPECT_EQ(FactsOf(c.node).condition, c.condition) << node.meta.labels.entries().front().second;
  }
  GpuRules skip;
  skip.suspects = SuspectPolicy::kSkip;
  EXPECT_EQ(FactsOf(N().Label(kState, "failed"), skip).condition, GpuCondition::kFailed);
  GpuRules trust;
  trust.suspects = SuspectPolicy::kTrust;
  EXPECT_EQ(FactsOf(N().Label(kState, "failed"), trust).condition, GpuCondition::kReady);
}

TEST(GpuFacts, SharedGpusWithAndWithoutANameOfTheirOwn) {
  const auto sliced_in_time = [] {
    return N()
        .Label("nvidia.com/gpu.replicas", "4")
        .Label("nvidia.com/gpu.sharing-strategy", "time-slicing");
  };
  const GpuFacts renamed =
      FactsOf(sliced_in_time().Product("NVIDIA-A100-SXM4-40GB").Has("nvidia.com/gpu.shared", 32));
  EXPECT_EQ(renamed.sharing, GpuSharing::kTimeSlicing);
  EXPECT_EQ(renamed.replicas, 4);
  EXPECT_FALSE(renamed.shares_plain_name);

  const GpuFacts plain = FactsOf(sliced_in_time().Product("NVIDIA-A100-SXM4-40GB-SHARED").Gpu(32));
  EXPECT_EQ(plain.product, "A100-SXM4-40GB");
  EXPECT_TRUE(plain.shares_plain_name);
  // Without a product label the replicas tell.
  EXPECT_TRUE(FactsOf(sliced_in_time().Gpu(32)).shares_plain_name);

  EXPECT_EQ(
      FactsOf(
          N().Gpu(48).Product("NVIDIA-A10-SHARED").Label("nvidia.com/gpu.sharing-strategy", "mps"))
          .sharing,
      GpuSharing::kMps);
  EXPECT_EQ(FactsOf(N().Annotation("hami.io/node-nvidia-register", "GPU-1,10,46068")).sharing,
            GpuSharing::kHami);
  EXPECT_EQ(FactsOf(N().Gpu(80).Has("nvidia.com/gpumem", 640000)).sharing, GpuSharing::kHami);
}

TEST(GpuFacts, SharedProfilesOfAMixedNode) {
  const GpuFacts facts =
      FactsOf(N().Label("nvidia.com/mig.strategy", "mixed")
                  .Label("nvidia.com/mig-1g.10gb.replicas", "4")
                  .Label("nvidia.com/mig-1g.10gb.product", "NVIDIA-H100-MIG-1g.10gb-SHARED")
                  .Label("nvidia.com/mig-2g.20gb.replicas", "2")
                  .Label("nvidia.com/mig-3g.40gb.replicas", "1"));
  const std::vector<SharedProfile> expected = {
      {.profile = "1g.10gb", .replicas = 4, .keeps_name = true},
      {.profile = "2g.20gb", .replicas = 2, .keeps_name = false}};
  EXPECT_EQ(facts.shared_profiles, expected);
}

TEST(GpuFacts, CloudsHaveLabelsOfTheirOwn) {
  const GpuFacts gke = FactsOf(N().Gpu(28)
                                   .Label("cloud.google.com/gke-accelerator", "nvidia-a100-80gb")
                                   .Label("cloud.google.com/gke-gpu-partition-size", "2g.20gb"));
  EXPECT_EQ(gke.product, "A100-80GB");
  EXPECT_EQ(gke.mig_profile, "2g.20gb");
  EXPECT_EQ(gke.memory_mib, 81920);

  const GpuFacts shared =
      FactsOf(N().Gpu(4)
                  .Label("cloud.google.com/gke-accelerator", "nvidia-tesla-t4")
                  .Label("cloud.google.com/gke-gpu-sharing-strategy", "time-sharing")
                  .Label("cloud.google.com/gke-max-shared-clients-per-gpu", "4"));
  EXPECT_EQ(shared.product, "T4");
  EXPECT_TRUE(shared.shares_plain_name);
  EXPECT_EQ(shared.replicas, 4);

  const GpuFacts aws = FactsOf(N().Gpu(8)
                                   .Label("karpenter.k8s.aws/instance-gpu-name", "h100")
                                   .Label("karpenter.k8s.aws/instance-gpu-memory", "81920")
                                   .Label("karpenter.k8s.aws/instance-gpu-count", "8"));
  EXPECT_EQ(aws.linkage, GpuLinkage::kAllToAll);
  EXPECT_EQ(aws.memory_mib, 81920);
  EXPECT_EQ(aws.count, 8);
}

TEST(GpuFacts, LinksFollowTheProductUnlessALabelSaysBetter) {
  const struct {
    const char* product;
    GpuLinkage linkage;
  } cases[] = {
      {"NVIDIA-A100-SXM4-40GB", GpuLinkage::kAllToAll},
      {"A100-SXM4-80GB", GpuLinkage::kAllToAll},
      {"NVIDIA-A100-PCIE-40GB", GpuLinkage::kPairs},
      {"NVIDIA-A100-80GB-PCIe", GpuLinkage::kPairs},
      {"NVIDIA-H100-PCIe", GpuLinkage::kPairs},
      {"NVIDIA-H100-NVL", GpuLinkage::kPairs},
      {"NVIDIA-H200", GpuLinkage::kAllToAll},
      {"NVIDIA-H200-NVL", GpuLinkage::kPairs},
      {"NVIDIA-B200", GpuLinkage::kAllToAll},
      {"NVIDIA-GB200", GpuLinkage::kAllToAll},
      {"NVIDIA-GB300", GpuLinkage::kAllToAll},
      {"NVIDIA-A30", GpuLinkage::kPairs},
      {"Tesla-V100-SXM3-32GB", GpuLinkage::kAllToAll},
      {"Tesla-V100-SXM2-16GB", GpuLinkage::kPairs},
      {"Tesla-V100-PCIE-16GB", GpuLinkage::kNone},
      {"Tesla-T4", GpuLinkage::kNone},
      {"NVIDIA-L4", GpuLinkage::kNone},
      {"NVIDIA-L40S", GpuLinkage::kNone},
      {"NVIDIA-A10", GpuLinkage::kNone},
      {"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", GpuLinkage::kNone},
      {"NVIDIA-GeForce-RTX-4090", GpuLinkage::kNone},
      {"NVIDIA-A100X", GpuLinkage::kUnknown},
      {"Cerebellum-9000", GpuLinkage::kUnknown},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(FactsOf(N().Product(c.product)).linkage, c.linkage) << c.product;
  }
  const MakeNode strange = N().Product("Cerebellum-9000").Label("nvidia.com/gpu.clique", "c.1");
  EXPECT_EQ(FactsOf(strange).linkage, GpuLinkage::kAllToAll);
  EXPECT_FALSE(FactsOf(strange).known_product);
  EXPECT_EQ(FactsOf(N().Product("NVIDIA-H100-PCIe").Label("gpu-topology", "pcie")).linkage,
            GpuLinkage::kNone);
  EXPECT_EQ(FactsOf(N().Label("nvidia.com/gpu-topology", "nvlink-8")).linkage,
            GpuLinkage::kAllToAll);
}

TEST(GpuFacts, TheConfigurationHasTheLastWord) {
  GpuRules rules;
  rules.product = {"example.com/board"};
  rules.products = {{.pattern = "Cerebellum-*",
                     .family = "cortex",
                     .memory_mib = 5,
                     .linkage = GpuLinkage::kPairs},
                    {.pattern = "nvidia-l4*", .family = "", .linkage = GpuLinkage::kPairs}};
  const GpuFacts strange = FactsOf(N().Label("example.com/board", "cerebellum 9000"), rules);
  EXPECT_TRUE(strange.known_product);
  EXPECT_EQ(strange.linkage, GpuLinkage::kPairs);
  EXPECT_EQ(strange.memory_mib, 5);
  EXPECT_EQ(strange.family, "cortex");
  // What a row leaves out is still known.
  const GpuFacts l40s = FactsOf(N().Label("example.com/board", "NVIDIA-L40S"), rules);
  EXPECT_EQ(l40s.linkage, GpuLinkage::kPairs);
  EXPECT_EQ(l40s.memory_mib, 46068);
  EXPECT_EQ(FactsOf(N().Product("NVIDIA-L40S"), rules).product, "");
}

TEST(GpuFacts, ContradictionsPromiseLess) {
  // Sliced by its product, whatever else is said.
  for (const char* strategy : {"mixed", "none", "single"}) {
    const GpuFacts facts = FactsOf(N().Gpu(56)
                                       .Product("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb")
                                       .Label("nvidia.com/mig.capable", "false")
                                       .Label("nvidia.com/mig.strategy", strategy));
    EXPECT_TRUE(facts.sliced()) << strategy;
    EXPECT_EQ(facts.mig_strategy, MigStrategy::kSingle) << strategy;
    EXPECT_EQ(facts.linkage, GpuLinkage::kNone) << strategy;
  }
  // Shared by its product, whatever the strategy says.
  EXPECT_TRUE(
      FactsOf(
          N().Gpu(32).Product("NVIDIA-A10-SHARED").Label("nvidia.com/gpu.sharing-strategy", "none"))
          .shares_plain_name);
  EXPECT_EQ(FactsOf(N().Gpu(32)
                        .Product("NVIDIA-A10")
                        .Label("nvidia.com/gpu.replicas", "4")
                        .Label("nvidia.com/gpu.sharing-strategy", "none"))
                .sharing,
            GpuSharing::kNone);
  // Neither strategy nor a name for it, but more than one replica.
  EXPECT_TRUE(FactsOf(N().Gpu(32).Product("NVIDIA-A10").Label("nvidia.com/gpu.replicas", "4"))
                  .shares_plain_name);
}

TEST(GpuFacts, NumbersThatAreNoneCountAsNotSaid) {
  for (const char* text : {"", "0", "-8", "many", "8.5", "0x8", "99999999999999999999"}) {
    const GpuFacts facts = FactsOf(N().Product("NVIDIA-A10-SHARED")
                                       .Label("nvidia.com/gpu.count", text)
                                       .Label("nvidia.com/gpu.memory", text)
                                       .Label("nvidia.com/gpu.replicas", text)
                                       .Label("nvidia.com/mig-1g.5gb.replicas", text));
    EXPECT_EQ(facts.count, 0) << text;
    EXPECT_EQ(facts.memory_mib, 24576) << text;
    EXPECT_EQ(facts.replicas, 1) << text;
    EXPECT_TRUE(facts.shared_profiles.empty()) << text;
  }
}

TEST(GpuFacts, AnyTextOfLabelsHasAnAnswer) {
  Random random(7);
  const GpuRules rules;
  const std::vector<std::string> keys = {"nvidia.com/gpu.product",
                                         "nvidia.com/gpu.replicas",
                                         "nvidia.com/gpu.memory",
                                         "nvidia.com/gpu.count",
                                         "nvidia.com/mig.strategy",
                                         "nvidia.com/mig.config.state",
                                         "nvidia.com/mig-.replicas",
                                         "nvidia.com/mig-1g.5gb.replicas",
                                         "cloud.google.com/gke-gpu-partition-size",
                                         "nvidia.com/gpu.clique"};
  const std::vector<std::string> pieces = {"NVIDIA-", "A100", "-MIG-", "INVALID", "-SHARED", "1g.",
                                           "5gb",     "-",    "\xff",  "9",       "*",       "c."};
  for (int i = 0; i < 20'000; ++i) {
    MakeNode node("n");
    for (const std::string& key : keys) {
      std::string value;
      for (uint64_t n = random.Below(6); n > 0; --n) value += pieces[random.Below(pieces.size())];
      if (!random.OneIn(3)) node.Label(key, value);
    }
    const GpuFacts facts = FactsOf(node, rules);
    ASSERT_GE(facts.replicas, 1);
    ASSERT_GE(facts.count, 0);
    ASSERT_GE(facts.memory_mib, 0);
    ASSERT_GE(facts.compute_slices, 1);
    ASSERT_TRUE(facts.mig_profile.empty() || facts.linkage == GpuLinkage::kNone);
    ASSERT_EQ(facts, FactsOf(node, rules));
  }
}

TEST(GpuFacts, TellWhatOneDeviceIsAndWhetherAContainerGetsTwo) {
  const std::optional<GpuResource> gpu = GpuResourceOf("nvidia.com/gpu");
  const std::optional<GpuResource> slice = GpuResourceOf("nvidia.com/mig-1g.5gb");
  struct Row {
    std::string product, replicas, text;
    bool one_each;
  };
  for (const Row& row :
       {Row{"NVIDIA-A100-SXM4-80GB", "", "A100-SXM4-80GB", false},
        Row{"NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "", "A100-SXM4-80GB MIG 1g.10gb", true},
        Row{"Tesla-T4-SHARED", "4", "T4 shared by 4", true}, Row{"", "", "", false}}) {
    MakeNode node("n");
    if (!row.product.empty()) node.Label("nvidia.com/gpu.product", row.product);
    if (!row.replicas.empty()) node.Label("nvidia.com/gpu.replicas", row.replicas);
    const GpuFacts facts = FactsOf(node);
    EXPECT_EQ(DeviceText(facts), row.text);
    EXPECT_EQ(IsOnePerContainer(facts, *gpu), row.one_each) << row.product;
    EXPECT_FALSE(IsOnePerContainer(facts, *slice)) << row.product;
  }
}

}  // namespace
}  // namespace maniple
