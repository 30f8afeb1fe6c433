// What is wrong with a field of an object, in the words of kube-apiserver. Plain values.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

enum class FieldErrorReason {
  kInvalid,
  kRequired,
  kNotSupported,
  kTypeInvalid,
  kTooLong,
  kTooMany,
  kDuplicate,
  kForbidden,
};
// As in a Status cause: "FieldValueInvalid", "FieldValueRequired", …
[[nodiscard]] absl::string_view FieldErrorReasonName(FieldErrorReason reason);

// One cause of a 422: field, reason and message of a StatusCause.
struct FieldError {
  std::string path;  // "spec.quotas[0].resources[1].name"
  FieldErrorReason reason = FieldErrorReason::kInvalid;
  // "Invalid value: 0: spec.minMember in body should be greater than or equal to 1".
  std::string message;
  friend bool operator==(const FieldError&, const FieldError&) = default;
};

}  // namespace maniple
