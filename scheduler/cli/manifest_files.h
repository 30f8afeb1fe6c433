// Manifests as objects, for commands that read files.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple {

// YAML or JSON documents; of a List its items. InvalidArgument names the line, or that there is too
// much of it.
[[nodiscard]] absl::StatusOr<std::vector<Json>> ParseManifests(absl::string_view text);
// Gives the namespace to those that name none; "" changes nothing. An object of an odd shape stays
// as it is: whoever takes it says so.
void PutInto(absl::string_view namespace_name, std::vector<Json>& objects);

}  // namespace maniple
