// The columns of the built-in kinds, as kube-apiserver prints them. Private to this room.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

struct TableColumn {
  const char* name;
  const char* type;  // "string", "integer", "date"
  int priority;      // above 0: only with -o wide
  Json (*cell)(const Json& object, absl::Time now);
};

// Name and Age for a kind that has no columns of its own.
[[nodiscard]] absl::Span<const TableColumn> ColumnsOf(absl::string_view group,
                                                      absl::string_view kind);

}  // namespace maniple::devcluster
