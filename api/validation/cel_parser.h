// The syntax tree of a CEL expression, with names and functions resolved. Private to this room.
//
// Bounded: nesting to 64 levels and the tree to 5,000 nodes, so hostile text exhausts neither stack
// nor memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/validation/cel_functions.h"
#include "api/validation/cel_value.h"
#include "api/validation/pattern.h"

namespace maniple {

struct CelExpr {
  enum class Kind {
    kLiteral,         // literal
    kText,            // name
    kVariable,        // slot
    kSelect,          // children[0].name
    kOptionalSelect,  // children[0].?name
    kHas,             // has(children[0].name)
    kIndex,           // children[0][children[1]]
    kOptionalIndex,   // children[0][?children[1]]
    kCall,            // function over children
    kMatches,         // children[0].matches(pattern)
    kArithmetic,      // children[0] operation children[1]
    kNegate,
    kEqual,
    kUnequal,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
    kIn,
    kNot,
    kAnd,  // of all children
    kOr,
    kConditional,
    kList,
    kMap,  // key, value, key, value …
    kAll,  // children: range, then the body over `slot`
    kExists,
    kExistsOne,
    kFilter,
    kMapItems,  // children: range, [filter,] body
  };

  Kind kind = Kind::kLiteral;
  CelValue literal;
  std::string name;
  size_t slot = 0;
  CelArithmetic operation = CelArithmetic::kAdd;
  const CelFunction* function = nullptr;
  std::optional<Pattern> pattern;
  std::vector<CelExpr> children;
  int height = 1;
};

struct CelTree {
  static constexpr size_t kSelfSlot = 0;
  static constexpr size_t kOldSelfSlot = 1;

  CelExpr root;
  size_t slots = 2;  // self, oldSelf, then one per nested macro variable
  bool uses_old_self = false;
};

// InvalidArgument for bad syntax, Unimplemented for names and functions outside the subset; both
// say where.
[[nodiscard]] absl::StatusOr<CelTree> ParseCel(absl::string_view source);

}  // namespace maniple
