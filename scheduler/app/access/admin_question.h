// The read-only questions of the admin surface as targets of HTTP, for both sides. Any thread.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// "/explain?namespace=N&name=G", "/gangs?namespace=N", "/usage?namespace=N&since=TIME", "/nodes",
// "/queues" or "/cohorts"; "/log?namespace=N&name=G", "/stream?namespace=N&since=ID" or
// "/tables?namespace=N". Other parameters are ignored, and of equal ones the last counts. /explain
// is of the namespace "default" without one.
struct AdminQuestion {
  std::string path;
  std::string namespace_name;
  std::string name;
  // Of "/stream": the last event that the reader has; of "/usage": RFC 3339.
  std::string since;
};
[[nodiscard]] AdminQuestion ParseAdminTarget(absl::string_view target);
// Whether it is one of the first six.
[[nodiscard]] bool IsAdminPath(absl::string_view path);

}  // namespace maniple
