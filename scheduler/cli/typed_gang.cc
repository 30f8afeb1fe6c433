#include "scheduler/cli/typed_gang.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

bool IsOfKind(absl::string_view typed, absl::string_view kind) {
  const absl::string_view said = typed.substr(0, typed.find('/'));
  return absl::EqualsIgnoreCase(said, kind) ||
         absl::EqualsIgnoreCase(said, absl::StrCat(kind, "s"));
}

}  // namespace

bool IsPodGroupTyped(absl::string_view typed) { return IsOfKind(typed, "PodGroup"); }

absl::string_view NameTyped(absl::string_view typed) { return typed.substr(typed.find('/') + 1); }

std::vector<std::string> StandInsTyped(absl::string_view typed, const std::vector<Json>& groups) {
  std::vector<std::string> names;
  for (const Json& group : groups) {
    const Json& source = group["spec"]["source"];
    if (!IsOfKind(typed, source["kind"].AsString())) continue;
    if (source["name"].AsString() == NameTyped(typed)) {
      names.push_back(group["metadata"]["name"].AsString());
    }
  }
  return names;
}

}  // namespace maniple
