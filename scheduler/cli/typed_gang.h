// What a user types for a gang that something else declares: "pytorchjob/train".
//
// Pure functions. The kind may be in any case, and in the plural.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple {

// "podgroup/train": a PodGroup by its own name.
[[nodiscard]] bool IsPodGroupTyped(absl::string_view typed);
// "train" of "pytorchjob/train".
[[nodiscard]] absl::string_view NameTyped(absl::string_view typed);
// The names of those of the PodGroups that stand for it, one for each of its gangs; any order.
[[nodiscard]] std::vector<std::string> StandInsTyped(absl::string_view typed,
                                                     const std::vector<Json>& groups);

}  // namespace maniple
