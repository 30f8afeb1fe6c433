#include "api/validation/schema.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/validation/schema_node.h"
#include "api/validation/schema_walk.h"

namespace maniple {
namespace {

// Fields of every object that the server itself keeps.
bool IsObjectField(absl::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

bool IsForbiddenNull(const Json& value, const SchemaNode& node) {
  return value.is_null() && node.nulls == SchemaNode::Nulls::kRefused;
}

// Whether defaults would change the value.
bool LacksDefaults(const SchemaNode& node, const Json& value) {
  if (value.is_array() && node.items != nullptr) {
    return std::any_of(value.items().begin(), value.items().end(), [&node](const Json& item) {
      return IsForbiddenNull(item, *node.items) || LacksDefaults(*node.items, item);
    });
  }
  if (!value.is_object()) return false;
  for (const auto& [name, property] : node.properties) {
    if (property.default_value.has_value() && !value.Has(name)) return true;
  }
  return std::any_of(
      value.members().begin(), value.members().end(), [&node](const Json::Member& member) {
        const SchemaNode* schema = node.Member(member.first);
        return schema != nullptr &&
               (IsForbiddenNull(member.second, *schema) || LacksDefaults(*schema, member.second));
      });
}

void ApplyDefaults(const SchemaNode& node, Json& value) {
  if (!LacksDefaults(node, value)) return;
  if (value.is_array() && node.items != nullptr) {
    for (Json& item : value.mutable_items()) {
      if (IsForbiddenNull(item, *node.items) && node.items->default_value.has_value()) {
        item = *node.items->default_value;
      }
      ApplyDefaults(*node.items, item);
    }
    return;
  }
  if (!value.is_object()) return;
  for (const auto& [name, property] : node.properties) {
    if (!property.default_value.has_value()) continue;
    const Json* present = std::as_const(value).Find(name);
    if (present == nullptr || IsForbiddenNull(*present, property)) {
      value.Set(name, *property.default_value);
    }
  }
  std::vector<Json::Member>& members = value.mutable_members();
  const auto drop = [&node](const Json::Member& member) {
    const SchemaNode* schema = node.Member(member.first);
    return schema != nullptr && IsForbiddenNull(member.second, *schema);
  };
  members.erase(std::remove_if(members.begin(), members.end(), drop), members.end());
  for (Json::Member& member : members) {
    if (const SchemaNode* schema = node.Member(member.first)) ApplyDefaults(*schema, member.second);
  }
}

enum class Unknown { kReport, kDrop };

// One walk serves Prune and UnknownFields, so that they cannot disagree.
template <Unknown kAction>
class UnknownFieldWalk {
 public:
  using Value = std::conditional_t<kAction == Unknown::kDrop, Json, const Json>;

  void Visit(const SchemaNode& node, Value& value) {
    if (value.is_array() && node.items != nullptr) {
      size_t index = 0;
      for (Value& item : ItemsOf(value)) {
        const FieldPath::Step step = path_.Item(index++);
        Visit(*node.items, item);
      }
    }
    if (!value.is_object()) return;
    auto& members = MembersOf(value);
    if constexpr (kAction == Unknown::kDrop) {
      members.erase(
          std::remove_if(members.begin(), members.end(),
                         [&node](const auto& member) { return !Knows(node, member.first); }),
          members.end());
    }
    for (auto& member : members) {
      const FieldPath::Step step = path_.Field(member.first);
      if (!Knows(node, member.first)) {
        unknown_.push_back(path_.text());
      } else if (const SchemaNode* schema = node.Member(member.first);
                 schema != nullptr && !(node.embedded_resource && IsObjectField(member.first))) {
        Visit(*schema, member.second);
      }
    }
  }

  std::vector<std::string> TakeUnknown() { return std::move(unknown_); }

 private:
  static bool Knows(const SchemaNode& node, absl::string_view name) {
    return node.unknown_fields == SchemaNode::UnknownFields::kPreserved ||
           node.Member(name) != nullptr || (node.embedded_resource && IsObjectField(name));
  }

  static std::vector<Json>& ItemsOf(Json& value) { return value.mutable_items(); }
  static const std::vector<Json>& ItemsOf(const Json& value) { return value.items(); }
  static std::vector<Json::Member>& MembersOf(Json& value) { return value.mutable_members(); }
  static const std::vector<Json::Member>& MembersOf(const Json& value) { return value.members(); }

  FieldPath path_;
  std::vector<std::string> unknown_;
};

bool HasRules(const SchemaNode& node) {
  if (!node.rules.empty()) return true;
  if (node.items != nullptr && HasRules(*node.items)) return true;
  if (node.additional != nullptr && HasRules(*node.additional)) return true;
  return std::any_of(node.properties.begin(), node.properties.end(),
                     [](const auto& property) { return HasRules(property.schema); });
}

// After such an error the object may not look as the rules expect.
bool BlocksRules(const FieldError& error) {
  switch (error.reason) {
    case FieldErrorReason::kRequired:
    case FieldErrorReason::kNotSupported:
    case FieldErrorReason::kTypeInvalid:
    case FieldErrorReason::kTooLong:
    case FieldErrorReason::kTooMany:
      return true;
    case FieldErrorReason::kInvalid:
    case FieldErrorReason::kDuplicate:
    case FieldErrorReason::kForbidden:
      return false;
  }
  return false;
}

}  // namespace

StructuralSchema::StructuralSchema(std::unique_ptr<const SchemaNode> root)
    : root_(std::move(root)) {}
StructuralSchema::StructuralSchema(StructuralSchema&&) noexcept = default;
StructuralSchema& StructuralSchema::operator=(StructuralSchema&&) noexcept = default;
StructuralSchema::~StructuralSchema() = default;

std::vector<FieldError> StructuralSchema::Validate(const Json& object, const Json* old) const {
  std::vector<FieldError> errors;
  ValidateValues(*root_, object, old, errors);
  ValidateLists(*root_, object, old, errors);
  if (HasRules(*root_)) {
    if (std::any_of(errors.begin(), errors.end(), BlocksRules)) {
      errors.push_back(
          {.path = kNoField,
           .reason = FieldErrorReason::kInvalid,
           .message = "Invalid value: null: some validation rules were not checked because the "
                      "object was invalid; correct the existing errors to complete validation"});
    } else {
      ValidateRules(*root_, object, old, errors);
    }
  }
  if (errors.size() > kMaxFieldErrors) errors.resize(kMaxFieldErrors);
  return errors;
}

void StructuralSchema::Default(Json& object) const { ApplyDefaults(*root_, object); }

void StructuralSchema::Prune(Json& object) const {
  // A walk that may change the object takes its own copy of all of it.
  if (UnknownFields(object).empty()) return;
  UnknownFieldWalk<Unknown::kDrop>().Visit(*root_, object);
}

std::vector<std::string> StructuralSchema::UnknownFields(const Json& object) const {
  UnknownFieldWalk<Unknown::kReport> walk;
  walk.Visit(*root_, object);
  return walk.TakeUnknown();
}

}  // namespace maniple
