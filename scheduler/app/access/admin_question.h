// The read-only questions of the admin surface as targets of HTTP, for both sides. Any thread.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// "/explain?namespace=N&name=G", "/gangs?namespace=N", "/usage?namespace=N&since=TIME", "/nodes",
// "/queues" or "/cohorts"; "/log?namespace=N&name=G", "/stream?namespace=N&since=ID" or
// "/tables?namespace=N". "leader=true" goes with any of them. Other parameters are ignored, and of
// equal ones the last counts. /explain is of the namespace "default" without one.
struct AdminQuestion {
  std::string path;
  std::string namespace_name;
  std::string name;
  // Of "/stream": the last event that the reader has; of "/usage": RFC 3339.
  std::string since;
  bool of_leader = false;  // whoever stands by is to say that, and nothing else
};
// What it says then, with status 503.
inline constexpr char kStandsBy[] = "this replica stands by";
[[nodiscard]] AdminQuestion ParseAdminTarget(absl::string_view target);
// Whether it is one of the first six.
[[nodiscard]] bool IsAdminPath(absl::string_view path);

}  // namespace maniple
