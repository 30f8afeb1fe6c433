// A persistent volume that no claim has, for claims that wait for their pod's node.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "api/base/amount.h"
#include "api/model/model.h"
#include "api/model/volume_needs.h"

namespace maniple {

// In the order in which kube-scheduler prefers the volumes for a claim: smallest first.
struct FreeVolume {
  std::string storage_class;
  Amount capacity;
  std::string name;
  AccessModes modes = 0;
  bool block = false;
  std::string attributes_class;
  StringMap labels;
  std::optional<NodeTerms> where;  // absent: everywhere
  friend auto operator<=>(const FreeVolume&, const FreeVolume&) = default;
};

// Whether the claim could have it, if its node can reach it.
[[nodiscard]] bool Serves(const FreeVolume& volume, const UnboundClaim& claim);

}  // namespace maniple
