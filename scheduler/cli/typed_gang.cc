#include "scheduler/cli/typed_gang.h"

#include "absl/strings/match.h"
#include "scheduler/app/answers/typed_kind.h"

namespace maniple {

bool IsPodTyped(absl::string_view typed) {
  return absl::StrContains(typed, '/') && IsKindTyped(typed, "Pod");
}

bool IsNamedItself(absl::string_view typed) {
  return !absl::StrContains(typed, '/') || IsKindTyped(typed, "PodGroup") || IsPodTyped(typed);
}

absl::string_view NameTyped(absl::string_view typed) { return typed.substr(typed.find('/') + 1); }

std::vector<std::string> StandInsTyped(absl::string_view typed, const std::vector<Json>& groups) {
  std::vector<std::string> names;
  for (const Json& group : groups) {
    const Json& source = group["spec"]["source"];
    if (!IsKindTyped(typed, source["kind"].AsString())) continue;
    if (source["name"].AsString() == NameTyped(typed)) {
      names.push_back(group["metadata"]["name"].AsString());
    }
  }
  return names;
}

}  // namespace maniple
