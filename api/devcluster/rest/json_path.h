// The part of JSONPath that printer columns use.
//
//   .spec.queue   .status.conditions[?(@.type=="Ready")].status   .metadata.labels['a.b/c']
//   .items[0]   .items[*].name
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

// What the path leads to, in document order; empty when nothing is there or the path is none that
// we read. Points into `root`.
[[nodiscard]] std::vector<const Json*> FindByJsonPath(const Json& root, absl::string_view path);

}  // namespace maniple::devcluster
