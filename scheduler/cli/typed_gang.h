// What a user types for a gang that something else declares: "pytorchjob/train".
//
// Pure functions. The kind is typed as for kubectl (IsObjectTyped).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple {

enum class TypedAs : uint8_t {
  kName,      // "train": a PodGroup of ours, or a pod
  kPod,       // "pod/train-0", and not a PodGroup of that name
  kPodGroup,  // "podgroup/train": ours; if there is none, the one that stands for a foreign one
  kOther,     // "pytorchjob/train", "podgroups.scheduling.x-k8s.io/train"
};
[[nodiscard]] TypedAs HowTyped(absl::string_view typed);
// "train" of "pytorchjob/train" and of "train".
[[nodiscard]] absl::string_view NameTyped(absl::string_view typed);
// The names of those of the PodGroups that stand for it, one for each of its gangs; any order.
[[nodiscard]] std::vector<std::string> StandInsTyped(absl::string_view typed,
                                                     const std::vector<Json>& groups);

struct NamespacedName {
  std::string namespace_name, name;
};
// "default/train", as every output names gangs; none where the first word can be no namespace.
[[nodiscard]] std::optional<NamespacedName> NamespaceTyped(absl::string_view typed);

// "namespace/name" of the gangs that the user calls so, among all objects of a cluster. If none is
// there, what a complaint should name.
[[nodiscard]] std::vector<std::string> GangsNamed(const std::string& typed,
                                                  const std::string& space,
                                                  const std::vector<Json>& cluster);

// What `look` finds in the namespace by what was typed. The first word is a kind if something is
// found so, else a namespace. `look`: StatusOr of anything by (namespace, typed).
template <typename Look>
auto LookFor(const std::string& namespace_name, const std::string& typed, const Look& look) {
  const auto is_not_there = [](const absl::Status& status) {
    return absl::IsNotFound(status) || absl::IsPermissionDenied(status);
  };
  const std::optional<NamespacedName> other = NamespaceTyped(typed);
  auto found = look(namespace_name, typed);
  if (!other.has_value() || !is_not_there(found.status())) return found;
  auto there = look(other->namespace_name, other->name);
  return is_not_there(there.status()) ? found : there;
}

}  // namespace maniple
