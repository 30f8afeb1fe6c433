// A HyperNode of Volcano (topology.volcano.sh): nodes and other HyperNodes that are close to each
// other in the network, and how close. Plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/model/labels.h"

namespace maniple {

// With kTierWord and its number behind, the label that a HyperNode of a tier gives its nodes.
inline constexpr char kTierLabelDomain[] = "topology.volcano.sh/";
inline constexpr int32_t kMostTiers = 100;

// Selects by one of name, pattern and labels.
struct HyperNodeMember {
  enum class Type : uint8_t { kNode, kHyperNode };
  Type type = Type::kNode;
  std::string name;                     // "" unless it selects by name
  std::string pattern;                  // of RE2, unanchored; "" unless it selects by pattern
  std::optional<LabelSelector> labels;  // of nodes only
  friend bool operator==(const HyperNodeMember&, const HyperNodeMember&) = default;
};

struct HyperNode {
  int32_t tier = 0;  // from 1 to kMostTiers; the lower, the closer
  std::string tier_name;
  std::vector<HyperNodeMember> members;
  friend bool operator==(const HyperNode&, const HyperNode&) = default;
};

}  // namespace maniple
