#include "scheduler/app/answers/typed_kind.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace maniple {
namespace {

// "v1.kubeflow.org" of "pytorchjobs.v1.kubeflow.org/train"; "" = none is typed.
absl::string_view GroupTyped(absl::string_view typed) {
  const absl::string_view said = typed.substr(0, typed.find('/'));
  const size_t dot = said.find('.');
  return dot == absl::string_view::npos ? "" : said.substr(dot + 1);
}

// "kubeflow.org" or "v1.kubeflow.org" of "kubeflow.org/v1"; so does "v1" of the core.
bool IsGroupTyped(absl::string_view typed, absl::string_view api_version) {
  const absl::string_view group = GroupTyped(typed);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(api_version, absl::MaxSplits('/', 1));
  return absl::StartsWithIgnoreCase(parts.first, group) ||
         absl::StartsWithIgnoreCase(absl::StrCat(parts.second, ".", parts.first), group);
}

// "kubeflow.org" of "v1.kubeflow.org", and "" of a version alone; what names no version is kept.
absl::string_view WithoutVersion(absl::string_view group) {
  const bool has_version =
      group.size() > 1 && absl::ascii_tolower(group[0]) == 'v' && absl::ascii_isdigit(group[1]);
  if (!has_version) return group;
  const size_t dot = group.find('.');
  return dot == absl::string_view::npos ? "" : group.substr(dot + 1);
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

bool IsOwnerTyped(absl::string_view typed, absl::string_view kind, absl::string_view api_group) {
  const absl::string_view group = GroupTyped(typed);
  return IsKindTyped(typed, kind) && (absl::StartsWithIgnoreCase(api_group, group) ||
                                      absl::StartsWithIgnoreCase(api_group, WithoutVersion(group)));
}

}  // namespace maniple
