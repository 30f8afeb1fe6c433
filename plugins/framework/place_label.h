// Under which name levels of a topology read a label of nodes.
//
// A HyperNode puts a node into a domain of its tier's label, though the node has no such label. A
// pod that selects by labels must not see it: the kubelet would refuse the pod. So these labels are
// kept a second time, under names that no selector can have, and levels read those.
#pragma once

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "api/model/hyper_node.h"
#include "api/model/maniple_types.h"

namespace maniple {

// "topology.volcano.sh/tier-1"
[[nodiscard]] inline bool IsTierLabel(absl::string_view label) {
  return absl::ConsumePrefix(&label, kTierLabelDomain) && absl::StartsWith(label, kTierWord);
}

[[nodiscard]] inline std::string PlaceLabel(absl::string_view label) {
  return absl::StrCat(IsTierLabel(label) ? "place:" : "", label);
}

}  // namespace maniple
