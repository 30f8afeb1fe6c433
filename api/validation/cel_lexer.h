// Tokens of a CEL expression. Private to this room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maniple {

struct CelToken {
  enum class Kind { kIdentifier, kInt, kDouble, kText, kOperator, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;  // the name, the operator, the number as written, or the unescaped string
  size_t offset = 0;
};

// The last token is kEnd. InvalidArgument with the byte offset when the text is no CEL;
// Unimplemented for bytes and unsigned literals. REQUIRES nothing of the text: it may be hostile.
[[nodiscard]] absl::StatusOr<std::vector<CelToken>> TokenizeCel(absl::string_view source);

}  // namespace maniple
