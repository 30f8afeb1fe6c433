#include "api/gpu/gpu_facts.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/gpu/gpu_resource.h"

namespace maniple {
namespace {

constexpr char kHamiRegister[] = "hami.io/node-nvidia-register";
constexpr char kMigLabels[] = "nvidia.com/mig-";
constexpr int64_t kMostMemoryMib = int64_t{1} << 30;  // a pebibyte: anything above is no memory
constexpr int32_t kMostCount = 4096;

absl::string_view First(const StringMap& labels, const LabelKeys& keys) {
  for (const std::string& key : keys) {
    if (const absl::string_view value = labels.Get(key); !value.empty()) return value;
  }
  return {};
}

// A number from 1 to `most`, or `otherwise`.
int64_t NumberIn(absl::string_view text, int64_t most, int64_t otherwise) {
  int64_t value = 0;
  return absl::SimpleAtoi(text, &value) && value >= 1 && value <= most ? value : otherwise;
}

// The facts in the product label beside the product.
struct ProductLabel {
  absl::string_view profile;  // of every nvidia.com/gpu; "" = whole GPUs
  bool invalid = false;       // "-MIG-INVALID", or a profile that is none
  bool shared = false;        // "-SHARED"
};

ProductLabel Parse(absl::string_view label) {
  ProductLabel said;
  said.shared = absl::ConsumeSuffix(&label, "-SHARED");
  const size_t mig = label.rfind("-MIG-");
  if (mig == absl::string_view::npos) return said;
  said.profile = label.substr(mig + 5);
  said.invalid = ComputeSlicesOf(said.profile) <= 0;
  if (said.invalid) said.profile = {};
  return said;
}

// Whether the node has a resource of the kind of `what`, whatever its profile.
bool Advertises(const Node& node, const GpuResource& what) {
  return std::any_of(
      node.allocatable.begin(), node.allocatable.end(), [&](const ResourceAmount& amount) {
        const std::optional<GpuResource> gpu = GpuResourceOf(amount.resource);
        return gpu.has_value() && gpu->kind == what.kind && gpu->shared == what.shared;
      });
}

GpuSharing SharingOf(absl::string_view strategy) {
  if (strategy == "mps") return GpuSharing::kMps;
  // GKE's word, and any unknown one: replicas without a promise.
  return strategy.empty() || strategy == "none" ? GpuSharing::kNone : GpuSharing::kTimeSlicing;
}

MigConfigState StateOf(absl::string_view state) {
  if (state.empty()) return MigConfigState::kNone;
  if (state == "pending") return MigConfigState::kPending;
  if (state == "rebooting") return MigConfigState::kRebooting;
  if (state == "success") return MigConfigState::kSuccess;
  if (state == "failed") return MigConfigState::kFailed;
  return MigConfigState::kOther;
}

GpuCondition Suspect(const GpuRules& rules) {
  switch (rules.suspects) {
    case SuspectPolicy::kTrust:
      return GpuCondition::kReady;
    case SuspectPolicy::kScoreDown:
      return GpuCondition::kSuspect;
    case SuspectPolicy::kSkip:
      return GpuCondition::kFailed;
  }
  return GpuCondition::kReady;
}

// The states of the GPU Operator's upgrade controller. A node that waits for its turn still works,
// and all nodes wait at once when a new driver is rolled out.
GpuCondition OfUpgrade(absl::string_view state, const GpuRules& rules) {
  if (state.empty() || state == "upgrade-done" || state == "unknown") return GpuCondition::kReady;
  return state == "upgrade-required" ? Suspect(rules) : GpuCondition::kDriverUpgrade;
}

GpuCondition ConditionOf(MigConfigState state, const ProductLabel& product,
                         absl::string_view upgrade, const GpuRules& rules) {
  if (state == MigConfigState::kPending || state == MigConfigState::kRebooting) {
    return GpuCondition::kRepartitioned;
  }
  if (product.invalid) return GpuCondition::kMigInvalid;
  const GpuCondition of_upgrade = OfUpgrade(upgrade, rules);
  if (of_upgrade == GpuCondition::kDriverUpgrade) return of_upgrade;
  return state == MigConfigState::kFailed ? Suspect(rules) : of_upgrade;
}

GpuLinkage LinkageOf(const StringMap& labels, const GpuRules& rules, GpuLinkage of_product) {
  for (const LinkageRule& rule : rules.linkage) {
    if (!rule.value.empty() && labels.Get(rule.label) == rule.value) return rule.linkage;
  }
  if (of_product != GpuLinkage::kUnknown) return of_product;
  return First(labels, rules.fabric).empty() ? GpuLinkage::kUnknown : GpuLinkage::kAllToAll;
}

// The labels nvidia.com/mig-<profile>.{replicas,product} of a mixed node.
std::vector<SharedProfile> SharedProfilesOf(const StringMap& labels) {
  std::vector<SharedProfile> shared;
  for (const auto& [key, value] : labels.entries()) {
    absl::string_view profile = key;
    if (!absl::ConsumePrefix(&profile, kMigLabels) || !absl::ConsumeSuffix(&profile, ".replicas")) {
      continue;
    }
    const auto replicas = static_cast<int32_t>(NumberIn(value, kMostCount, 1));
    const std::string product = absl::StrCat(kMigLabels, profile, ".product");
    const bool keeps_name = absl::EndsWith(labels.Get(product), "-SHARED");
    if (profile.empty() || (replicas == 1 && !keeps_name)) continue;
    shared.push_back(
        {.profile = std::string(profile), .replicas = replicas, .keeps_name = keeps_name});
  }
  // The labels' order is another: "1g-a.replicas" comes before "1g.replicas".
  std::ranges::sort(shared);
  return shared;
}

void ReadSharing(const Node& node, const GpuRules& rules, const ProductLabel& product,
                 GpuFacts& facts) {
  const StringMap& labels = node.meta.labels;
  const absl::string_view strategy = First(labels, rules.sharing_strategy);
  const auto replicas =
      static_cast<int32_t>(NumberIn(First(labels, rules.replicas), kMostCount, 1));
  facts.shared_profiles = SharedProfilesOf(labels);
  // "none" is a word against the number; "-SHARED" a word against both.
  const bool shares = product.shared || (replicas > 1 && strategy != "none");
  if (shares) {
    facts.sharing = SharingOf(strategy);
    if (facts.sharing == GpuSharing::kNone) facts.sharing = GpuSharing::kTimeSlicing;
    facts.replicas = replicas;
    // Replicas keep this name unless they have taken one of their own.
    facts.shares_plain_name =
        product.shared ||
        (Advertises(node, {.kind = GpuKind::kWhole, .profile = {}}) &&
         !Advertises(node, {.kind = GpuKind::kWhole, .profile = {}, .shared = true}));
    return;
  }
  const bool hami = node.meta.annotations.Find(kHamiRegister) != nullptr ||
                    Advertises(node, {.kind = GpuKind::kCores, .profile = {}}) ||
                    Advertises(node, {.kind = GpuKind::kMemory, .profile = {}});
  if (hami) facts.sharing = GpuSharing::kHami;
}

}  // namespace

GpuFacts GpuFactsOf(const Node& node, const GpuRules& rules) {
  const StringMap& labels = node.meta.labels;
  GpuFacts facts;
  const absl::string_view label = First(labels, rules.product);
  const ProductLabel said_product = Parse(label);
  facts.product = NormalisedProduct(label);
  facts.mig_profile = std::string(said_product.profile);
  if (const absl::string_view part = First(labels, rules.partition); ComputeSlicesOf(part) > 0) {
    facts.mig_profile = std::string(part);
  }
  const absl::string_view strategy = First(labels, rules.mig_strategy);
  if (strategy == "mixed") facts.mig_strategy = MigStrategy::kMixed;
  // Whatever the strategy label says: where the product names a profile, every GPU is sliced alike.
  if (strategy == "single" || facts.sliced()) facts.mig_strategy = MigStrategy::kSingle;
  facts.mig_state = StateOf(First(labels, rules.mig_config_state));
  facts.condition =
      ConditionOf(facts.mig_state, said_product, First(labels, rules.driver_upgrade_state), rules);

  const std::optional<GpuProduct> product = FindProduct(facts.product, rules.products);
  facts.known_product = product.has_value();
  facts.family = std::string(First(labels, rules.family));
  if (facts.family.empty() && product.has_value()) facts.family = product->family;
  // Where every GPU is sliced, the label tells the memory of a slice.
  const int64_t said =
      facts.sliced() ? 0 : NumberIn(First(labels, rules.memory), kMostMemoryMib, 0);
  facts.memory_mib = said != 0 || !product.has_value() ? said : product->memory_mib;
  facts.count = static_cast<int32_t>(NumberIn(First(labels, rules.count), kMostCount, 0));
  facts.linkage =
      LinkageOf(labels, rules, product.has_value() ? product->linkage : GpuLinkage::kUnknown);
  if (facts.sliced()) facts.linkage = GpuLinkage::kNone;  // no peers between slices
  if (product.has_value() && product->compute_slices > 0) {
    facts.compute_slices = product->compute_slices;
  }
  ReadSharing(node, rules, said_product, facts);
  return facts;
}

bool IsOnePerContainer(const GpuFacts& facts, const GpuResource& resource) {
  if (resource.shared) return false;
  if (resource.kind == GpuKind::kWhole) return facts.sliced() || facts.shares_plain_name;
  return resource.kind == GpuKind::kSlice &&
         std::ranges::any_of(facts.shared_profiles, [&resource](const SharedProfile& shared) {
           return shared.profile == resource.profile && shared.keeps_name;
         });
}

std::string DeviceText(const GpuFacts& facts) {
  std::string text = facts.product;
  const auto add = [&text](absl::string_view words) {
    absl::StrAppend(&text, text.empty() ? "" : " ", words);
  };
  if (facts.sliced()) add(absl::StrCat("MIG ", facts.mig_profile));
  if (facts.shares_plain_name) {
    add(facts.replicas > 1 ? absl::StrCat("shared by ", facts.replicas) : "shared");
  }
  return text;
}

}  // namespace maniple
