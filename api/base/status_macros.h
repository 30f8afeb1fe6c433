// RETURN_IF_ERROR and ASSIGN_OR_RETURN, shaped like those of newer Abseil releases, and Annotate
// for context.
//
//   RETURN_IF_ERROR(Check(object));
//   ASSIGN_OR_RETURN(const Amount cpu, ParseAmount("cpu", text));
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace maniple {

// Puts "context: " before the message, keeping the code.
[[nodiscard]] inline absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
}

}  // namespace maniple

#define MANIPLE_CONCAT_INNER(a, b) a##b
#define MANIPLE_CONCAT(a, b) MANIPLE_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expr)                                                              \
  do {                                                                                     \
    if (absl::Status maniple_status = (expr); !maniple_status.ok()) return maniple_status; \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr) \
  MANIPLE_ASSIGN_OR_RETURN(MANIPLE_CONCAT(maniple_status_or_, __LINE__), lhs, expr)
#define MANIPLE_ASSIGN_OR_RETURN(tmp, lhs, expr) \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return tmp.status();            \
  lhs = *std::move(tmp)
