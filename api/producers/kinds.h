// The kinds of other projects that Maniple knows: group objects, owners of pods, HyperNodes.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "api/model/foreign.h"

namespace maniple {

// Ends with nothing configured; their order is that of ResourceKind from kResourceKinds up.
[[nodiscard]] const ForeignKinds& BuiltinForeignKinds();

// Whose rules a kind follows.
enum class ProducerRole : uint8_t {
  // Group objects.
  kXk8s,
  kVolcano,
  kUpstream,
  kKai,
  kGrove,
  kKoordinator,
  // Owners of pods.
  kJob,
  kStatefulSet,
  kJobSet,
  kLeaderWorkerSet,
  kRayCluster,
  kMpiJob,
  kTrainJob,  // says only which JobSet is meant
  // Neither: a group of group objects.
  kComposite,
  // No producer at all: it says which nodes are close to each other.
  kHyperNode,
  kRule,  // what owner_rules.h says of it; also kinds that are unknown here
};
[[nodiscard]] ProducerRole RoleOf(const ForeignKind& kind);
[[nodiscard]] bool IsGroupObject(ProducerRole role);
[[nodiscard]] bool IsOwner(ProducerRole role);

// By the apiVersion and kind of a reference; the version does not matter.
[[nodiscard]] std::optional<uint8_t> KindIndexOf(const ForeignKinds& kinds,
                                                 absl::string_view api_version,
                                                 absl::string_view kind);

}  // namespace maniple
