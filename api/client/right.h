// The right that a request needs from the API server's authorizer, in the words of a role.
// Metrics, log lines and conditions about forbidden requests all call it so.
//
// Pure functions; any thread.
//
//   RightText(RightFor(BindRequest(pod, "n1", "q")))  →  "create pods/binding"
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "api/http/http.h"

namespace maniple {

struct Right {
  std::string verb;      // "create"
  std::string group;     // "" is the core group
  std::string resource;  // with its subresource: "pods/binding"
  friend auto operator<=>(const Right&, const Right&) = default;
};

// How often requests were answered with 403.
using ForbiddenCounts = absl::btree_map<Right, int64_t>;

[[nodiscard]] Right RightFor(const HttpRequest& request);
// "create pods/binding", "patch podgroups/status in scheduling.maniple.dev"
[[nodiscard]] std::string RightText(const Right& right);
// "the API server forbids Maniple to create pods/binding: MESSAGE"
[[nodiscard]] std::string ForbiddenText(const Right& right, absl::string_view message);

}  // namespace maniple
