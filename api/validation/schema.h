// A CustomResourceDefinition's structural schema, compiled: validate, default, prune, in the words
// of kube-apiserver.
//
// Immutable after Compile, so any thread may use it. Patterns are RE2 (the engine of Go's regexp),
// so no input makes them slow. CEL rules (x-kubernetes-validations) run through
// api/validation/cel.h under a cost bound; a rule outside our subset of CEL is not enforced, and
// Compile logs one warning that names it.
//
//   const Json& source = version["schema"]["openAPIV3Schema"];
//   ASSIGN_OR_RETURN(StructuralSchema schema, StructuralSchema::Compile(source));
//   for (const std::string& path : schema.UnknownFields(object)) …  // fieldValidation=Strict
//   schema.Prune(object);
//   schema.Default(object);
//   std::vector<FieldError> errors = schema.Validate(object, &old);         // 422 when any
//
// At the root, apiVersion, kind and metadata are known, kept and not looked into: they are the
// server's business.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/codec/json.h"
#include "api/validation/field_error.h"

namespace maniple {

struct SchemaNode;  // schema_node.h, private to this room

class StructuralSchema final {
 public:
  // InvalidArgument naming the place inside the schema when it is not structural: an untyped node,
  // an unknown type, a bad pattern, a default of the wrong type, $ref, more than 64 levels.
  static absl::StatusOr<StructuralSchema> Compile(const Json& open_api_v3_schema);

  StructuralSchema(StructuralSchema&&) noexcept;
  StructuralSchema& operator=(StructuralSchema&&) noexcept;
  ~StructuralSchema();

  // All that is wrong, at most 100 errors, in document order; list uniqueness and CEL rules after
  // the rest, as kube-apiserver orders them. With `old` (an update): transition rules run, and what
  // is wrong in a part that did not change is tolerated.
  [[nodiscard]] std::vector<FieldError> Validate(const Json& object,
                                                 const Json* old = nullptr) const;

  // Puts defaults where fields are absent, or null though not nullable; other nulls that are not
  // nullable are dropped.
  void Default(Json& object) const;

  // Drops what the schema does not know, except below x-kubernetes-preserve-unknown-fields.
  void Prune(Json& object) const;

  // Paths of what Prune would drop, in document order.
  [[nodiscard]] std::vector<std::string> UnknownFields(const Json& object) const;

  // "path: rule: why" of each CEL rule that cannot be enforced.
  [[nodiscard]] const std::vector<std::string>& unenforced_rules() const { return unenforced_; }

 private:
  explicit StructuralSchema(std::unique_ptr<const SchemaNode> root);

  std::unique_ptr<const SchemaNode> root_;
  std::vector<std::string> unenforced_;
};

}  // namespace maniple
