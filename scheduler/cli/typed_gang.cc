#include "scheduler/cli/typed_gang.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/model/maniple_types.h"
#include "scheduler/app/answers/typed_kind.h"

namespace maniple {

TypedAs HowTyped(absl::string_view typed) {
  if (!absl::StrContains(typed, '/')) return TypedAs::kName;
  if (IsObjectTyped(typed, "Pod", "v1")) return TypedAs::kPod;
  if (IsObjectTyped(typed, "PodGroup", kManipleApiVersion)) return TypedAs::kPodGroup;
  return TypedAs::kOther;
}

absl::string_view NameTyped(absl::string_view typed) { return typed.substr(typed.find('/') + 1); }

std::vector<std::string> StandInsTyped(absl::string_view typed, const std::vector<Json>& groups) {
  std::vector<std::string> names;
  for (const Json& group : groups) {
    const Json& source = group["spec"]["source"];
    const bool is_kind =
        IsObjectTyped(typed, source["kind"].AsString(), source["apiVersion"].AsString());
    if (!is_kind) continue;
    if (source["name"].AsString() == NameTyped(typed)) {
      names.push_back(group["metadata"]["name"].AsString());
    }
  }
  return names;
}

std::vector<std::string> GangsNamed(const std::string& typed, const std::string& space,
                                    const std::vector<Json>& cluster) {
  const TypedAs as = HowTyped(typed);
  const std::string itself = absl::StrCat(space, "/", NameTyped(typed));
  if (as == TypedAs::kName || as == TypedAs::kPod) return {itself};
  std::vector<Json> groups;
  std::ranges::copy_if(cluster, std::back_inserter(groups), [&space](const Json& object) {
    return object["kind"].AsString() == "PodGroup" &&
           object["apiVersion"].AsString() == kManipleApiVersion &&
           object["metadata"]["namespace"].AsString() == space;
  });
  const bool is_ours = std::ranges::any_of(groups, [&typed](const Json& group) {
    return group["metadata"]["name"].AsString() == NameTyped(typed);
  });
  if (as == TypedAs::kPodGroup && is_ours) return {itself};
  std::vector<std::string> names = StandInsTyped(typed, groups);
  for (std::string& name : names) name = absl::StrCat(space, "/", name);
  if (!names.empty()) return names;
  return {NamespaceTyped(typed).has_value() ? typed : absl::StrCat(space, "/", typed)};
}

std::optional<NamespacedName> NamespaceTyped(absl::string_view typed) {
  const size_t slash = typed.find('/');
  if (slash == absl::string_view::npos || slash == 0) return std::nullopt;
  if (IsKindTyped(typed, "Pod") || IsKindTyped(typed, "PodGroup")) return std::nullopt;
  const absl::string_view space = typed.substr(0, slash), name = typed.substr(slash + 1);
  const bool is_label = std::ranges::all_of(
      space, [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-'; });
  if (!is_label || name.empty() || absl::StrContains(name, '/')) return std::nullopt;
  return NamespacedName{std::string(space), std::string(name)};
}

}  // namespace maniple
