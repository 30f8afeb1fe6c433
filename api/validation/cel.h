// CEL, as far as CRD authors write it: compiled once, evaluated under a budget. Private to this
// room.
//
// The subset: literals, self and oldSelf, field access with the escapes of Kubernetes, has(), in,
// comparisons, && || !,
// ?:, arithmetic, lists, maps, the macros all exists exists_one filter map, optional selection
// (.?x), and the functions of cel_functions.cc. Errors inside && || all exists are absorbed as CEL
// defines.
//
// A program is immutable and evaluates on any thread; nothing in it recurses deeper than its own
// bounded height.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/validation/cel_value.h"

namespace maniple {

struct CelTree;
struct SchemaNode;  // schema_node.h

// What a rule looks at. Borrowed for the evaluation.
struct CelInput {
  enum class OldSelf { kValue, kOptional };

  const Json* self = nullptr;
  const Json* old_self = nullptr;  // nullptr: there is none
  const SchemaNode* schema = nullptr;
  OldSelf old_self_as = OldSelf::kValue;
};

class CelProgram final {
 public:
  // Unimplemented or InvalidArgument, saying where, when the source is outside the subset.
  static absl::StatusOr<CelProgram> Compile(absl::string_view source);

  CelProgram(CelProgram&&) noexcept;
  CelProgram& operator=(CelProgram&&) noexcept;
  ~CelProgram();

  // A transition rule: runs only where there is an old value, unless oldSelf is optional.
  [[nodiscard]] bool UsesOldSelf() const;

  // ResourceExhausted when the call costs more than 1,000,000 or the budget is spent;
  // InvalidArgument with CEL's error otherwise. The value may refer to `input` and to this program.
  [[nodiscard]] absl::StatusOr<CelValue> Evaluate(const CelInput& input, CelBudget& budget) const;

 private:
  explicit CelProgram(std::unique_ptr<const CelTree> tree);

  std::unique_ptr<const CelTree> tree_;
};

}  // namespace maniple
