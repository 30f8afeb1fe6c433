// What a user types for a gang that something else declares: "pytorchjob/train".
//
// Pure functions. The kind is typed as for kubectl (IsKindTyped).
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple {

// "pod/train-0", and not a PodGroup of that name.
[[nodiscard]] bool IsPodTyped(absl::string_view typed);
// "train", "podgroup/train", "pod/train-0": the PodGroup or pod has this name itself.
[[nodiscard]] bool IsNamedItself(absl::string_view typed);
// "train" of "pytorchjob/train" and of "train".
[[nodiscard]] absl::string_view NameTyped(absl::string_view typed);
// The names of those of the PodGroups that stand for it, one for each of its gangs; any order.
[[nodiscard]] std::vector<std::string> StandInsTyped(absl::string_view typed,
                                                     const std::vector<Json>& groups);

}  // namespace maniple
