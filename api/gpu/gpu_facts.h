// The facts about a node's GPUs, as its labels tell. They never tell how many GPUs there
// are to give away: only the node's allocatable does.
//
// Labels may lag behind the hardware, contradict each other, or be anybody's text;
// every combination has an answer. In doubt it is the one that promises less: slices rather than
// whole GPUs, shared rather than exclusive, unknown links rather than good ones. Pure functions.
//
//   const GpuFacts facts = GpuFactsOf(node, GpuRules());
//   if (facts.sliced()) …   // each nvidia.com/gpu of it is a MIG slice
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/gpu/gpu_resource.h"
#include "api/gpu/gpu_rules.h"
#include "api/gpu/product_table.h"
#include "api/model/model.h"

namespace maniple {

enum class MigStrategy : uint8_t { kNone, kSingle, kMixed };
enum class MigConfigState : uint8_t { kNone, kPending, kRebooting, kSuccess, kFailed, kOther };
enum class GpuSharing : uint8_t { kNone, kTimeSlicing, kMps, kHami };

// Whether GPUs of the node may be handed out.
enum class GpuCondition : uint8_t {
  kReady,
  kSuspect,        // a change of it failed or is due; a last resort
  kFailed,         // the same where the configuration says to skip such nodes
  kRepartitioned,  // being repartitioned, or rebooted for that
  kMigInvalid,     // its slices are in a state that the device plugin refuses
  kDriverUpgrade,
};

// A MIG profile of a mixed node whose devices are shared.
struct SharedProfile {
  std::string profile;
  int32_t replicas = 1;
  bool keeps_name = false;  // nvidia.com/mig-<profile> itself counts replicas
  friend auto operator<=>(const SharedProfile&, const SharedProfile&) = default;
};

struct GpuFacts {
  std::string product;         // normalised, "A100-SXM4-80GB"; "" = no label says
  std::string family;          // "hopper"; "" = unknown
  bool known_product = false;  // some table has it
  int64_t memory_mib = 0;      // of a whole GPU; 0 = unknown
  int32_t count = 0;  // of physical GPUs, of slices where `sliced`; 0 = unknown. Never capacity
  GpuLinkage linkage = GpuLinkage::kUnknown;
  GpuCondition condition = GpuCondition::kReady;

  MigStrategy mig_strategy = MigStrategy::kNone;
  MigConfigState mig_state = MigConfigState::kNone;
  std::string mig_profile;     // of every nvidia.com/gpu, "3g.40gb"; "" = these are whole
  int32_t compute_slices = 7;  // of a whole GPU, in MIG

  GpuSharing sharing = GpuSharing::kNone;
  int32_t replicas = 1;            // pods that share one device; 1 where not shared or not known
  bool shares_plain_name = false;  // nvidia.com/gpu itself counts replicas, not GPUs
  std::vector<SharedProfile> shared_profiles;  // by profile

  // Every nvidia.com/gpu is a slice.
  [[nodiscard]] bool sliced() const { return !mig_profile.empty(); }
  friend auto operator<=>(const GpuFacts&, const GpuFacts&) = default;
};

[[nodiscard]] GpuFacts GpuFactsOf(const Node& node, const GpuRules& rules);

// A container gets no more than one of the resource: slices or replicas go by the name of a GPU or
// of a slice there, and two of them may be the same GPU twice.
[[nodiscard]] bool IsOnePerContainer(const GpuFacts& facts, const GpuResource& resource);

// What one nvidia.com/gpu of the node is: "A100-SXM4-80GB", "A100-SXM4-80GB MIG 1g.10gb",
// "T4 shared by 4"; "" = no label says.
[[nodiscard]] std::string DeviceText(const GpuFacts& facts);

}  // namespace maniple
