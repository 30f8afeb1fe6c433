#include "api/validation/field_error.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace maniple {

absl::string_view FieldErrorReasonName(FieldErrorReason reason) {
  switch (reason) {
    case FieldErrorReason::kInvalid:
      return "FieldValueInvalid";
    case FieldErrorReason::kRequired:
      return "FieldValueRequired";
    case FieldErrorReason::kNotSupported:
      return "FieldValueNotSupported";
    case FieldErrorReason::kTypeInvalid:
      return "FieldValueTypeInvalid";
    case FieldErrorReason::kTooLong:
      return "FieldValueTooLong";
    case FieldErrorReason::kTooMany:
      return "FieldValueTooMany";
    case FieldErrorReason::kDuplicate:
      return "FieldValueDuplicate";
    case FieldErrorReason::kForbidden:
      return "FieldValueForbidden";
  }
  return "FieldValueInvalid";
}

std::string JoinFieldErrors(const std::vector<FieldError>& errors) {
  const auto print = [](std::string* out, const FieldError& error) {
    absl::StrAppend(out, error.path, ": ", error.message);
  };
  const std::string joined = absl::StrJoin(errors, ", ", print);
  return errors.size() > 1 ? absl::StrCat("[", joined, "]") : joined;
}

}  // namespace maniple
