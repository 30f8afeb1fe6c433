#include "api/validation/field_error.h"

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

}  // namespace maniple
