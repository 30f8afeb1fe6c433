#include "scheduler/app/answers/typed_kind.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace maniple {

bool IsKindTyped(absl::string_view typed, absl::string_view kind) {
  const absl::string_view said = typed.substr(0, typed.find_first_of("./"));
  const auto is = [said](absl::string_view word) { return absl::EqualsIgnoreCase(said, word); };
  return is(kind) || is(absl::StrCat(kind, "s")) || (kind == "Pod" && is("po")) ||
         (kind == "PodGroup" && is("mpg"));
}

}  // namespace maniple
