// Numbers of the admin surface as Kubernetes writes them. Pure.
#pragma once

#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple {

// The answer to a question of the path ("/gangs"), with 64-bit integers as numbers: the JSON of
// protobuf has them as strings, which compare with no number. An answer to another path, and what
// is no integer, stays as it is.
[[nodiscard]] Json WithNumbers(absl::string_view path, Json answer);

}  // namespace maniple
