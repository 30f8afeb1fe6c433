// A CEL rule of a schema, compiled. Private to this room: the compiler fills it, validation
// evaluates it.
#pragma once

#include <optional>
#include <string>

#include "api/validation/cel.h"
#include "api/validation/field_error.h"

namespace maniple {

// One entry of x-kubernetes-validations.
struct SchemaRule {
  std::string rule;
  std::string message;                // "" = "failed rule: …"
  std::optional<CelProgram> program;  // absent: not enforced
  std::optional<CelProgram> message_expression;
  FieldErrorReason reason = FieldErrorReason::kInvalid;
  std::string field_path;  // below the node, "" = the node
  bool optional_old_self = false;
};

}  // namespace maniple
