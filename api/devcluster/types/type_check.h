// Whether the values of an object have the JSON types of their fields, as Go's decoder insists on.
//
// What has passed can be walked without asking each time whether a list is a list: the rest of the
// room relies on it. Pure functions.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

// The first value that does not fit, in the words of Go's decoder; "" when all do. Quantities and
// times are read too. Of custom objects and their definitions only the metadata is looked at:
// schemas do the rest.
[[nodiscard]] std::string TypeProblem(const ResourceType& type, const Json& object);

// The same for a kind that is no resource of its own ("policy/v1", "Eviction").
[[nodiscard]] std::string TypeProblem(absl::string_view api_version, absl::string_view kind,
                                      const Json& object);

}  // namespace maniple::devcluster
