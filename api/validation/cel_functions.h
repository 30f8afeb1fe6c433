// The functions and arithmetic of our subset of CEL: one table. Private to this room.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/validation/cel_value.h"

namespace maniple {

struct CelFunction {
  enum class Style { kGlobal, kReceiver };  // size(x) or x.size()

  absl::string_view name;
  Style style = Style::kGlobal;
  size_t arity = 0;  // with the receiver
  int64_t cost = 1;  // beyond the weight of arguments and result
  absl::StatusOr<CelValue> (*call)(absl::Span<const CelValue> arguments) = nullptr;
};

// nullptr when the subset has no such function.
[[nodiscard]] const CelFunction* FindCelFunction(absl::string_view name, CelFunction::Style style,
                                                 size_t arity);

// "int", "string", …: the names that stand for types in an expression; "" when it is none.
[[nodiscard]] absl::string_view CelTypeByName(absl::string_view name);

enum class CelArithmetic { kAdd, kSubtract, kMultiply, kDivide, kModulo };
// InvalidArgument for operands without such an operation, division by zero and overflow.
[[nodiscard]] absl::StatusOr<CelValue> CelCompute(CelArithmetic operation, const CelValue& a,
                                                  const CelValue& b);

}  // namespace maniple
