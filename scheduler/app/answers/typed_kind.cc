#include "scheduler/app/answers/typed_kind.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace maniple {
namespace {

// "kubeflow.org" or "v1.kubeflow.org" of "kubeflow.org/v1"; so does "v1" of the core.
bool IsGroupTyped(absl::string_view typed, absl::string_view api_version) {
  const absl::string_view said = typed.substr(0, typed.find('/'));
  const size_t dot = said.find('.');
  if (dot == absl::string_view::npos) return true;
  const absl::string_view group = said.substr(dot + 1);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(api_version, absl::MaxSplits('/', 1));
  return absl::StartsWithIgnoreCase(parts.first, group) ||
         absl::StartsWithIgnoreCase(absl::StrCat(parts.second, ".", parts.first), group);
}

}  // namespace

bool IsKindTyped(absl::string_view typed, absl::string_view kind) {
  const absl::string_view said = typed.substr(0, typed.find_first_of("./"));
  const auto is = [said](absl::string_view word) { return absl::EqualsIgnoreCase(said, word); };
  return is(kind) || is(absl::StrCat(kind, "s")) || (kind == "Pod" && is("po")) ||
         (kind == "PodGroup" && is("mpg"));
}

bool IsObjectTyped(absl::string_view typed, absl::string_view kind, absl::string_view api_version) {
  return IsKindTyped(typed, kind) && IsGroupTyped(typed, api_version);
}

}  // namespace maniple
