// Quantities of built-in kinds in the canonical form that Kubernetes writes: "1000m" is "1",
// "1.5Gi" is "1536Mi", "1000000" is "1M"; finer than milli rounds up.
//
// Pure functions.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

// The text itself when it is no quantity or too large for an int64.
[[nodiscard]] std::string CanonicalQuantity(absl::string_view text);

// Every list of resources (requests, capacity, …) of an object of a built-in kind.
void CanonicalizeResources(const ResourceType& type, Json& object);

}  // namespace maniple::devcluster
