// The kind that a user types before a name: "pytorchjobs.kubeflow.org/train". A pure function.
#pragma once

#include "absl/strings/string_view.h"

namespace maniple {

// Whether what stands before the slash means the kind, as kubectl takes it: in any case, in the
// plural, with its API group, and "po" and "mpg" for short. `typed` may end before its slash.
[[nodiscard]] bool IsKindTyped(absl::string_view typed, absl::string_view kind);
// The same of an object of this API version: a group that is typed has to be its group, or the
// beginning of it, as for kubectl. "podgroups.scheduling.x-k8s.io/train" is no PodGroup of ours.
[[nodiscard]] bool IsObjectTyped(absl::string_view typed, absl::string_view kind,
                                 absl::string_view api_version);
// The same of a kind of this API group whose version is not known: any version may be typed.
[[nodiscard]] bool IsOwnerTyped(absl::string_view typed, absl::string_view kind,
                                absl::string_view api_group);

}  // namespace maniple
