#include "api/validation/schema.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "absl/strings/str_join.h"
#include "api/validation/schema_node.h"
#include "api/validation/schema_walk.h"

namespace maniple {
namespace {

using SchemaNode = StructuralSchema::Node;

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

std::string KeysOf(const Json& item, const SchemaNode& list) {
  std::string identity;
  for (const std::string& key : list.list_map_keys)
    absl::StrAppend(&identity, item[key].Dump(), ",");
  return identity;
}

// As Go prints a float64: shortest digits, an exponent from 1e+06 on.
std::string PrintedDouble(double value) {
  char buffer[64];
  const double magnitude = std::abs(value);
  const auto format = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e6)
                          ? std::chars_format::scientific
                          : std::chars_format::fixed;
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  return end.ec == std::errc() ? std::string(buffer, end.ptr) : Json(value).Dump();
}

}  // namespace

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

const SchemaNode* SchemaNode::Property(absl::string_view name) const {
  const auto at = std::lower_bound(
      properties.begin(), properties.end(), name,
      [](const auto& property, absl::string_view wanted) { return property.name < wanted; });
  return at != properties.end() && at->name == name ? &at->schema : nullptr;
}

const SchemaNode* SchemaNode::Member(absl::string_view name) const {
  const SchemaNode* property = Property(name);
  return property != nullptr ? property : additional.get();
}

ListIndex::ListIndex(const SchemaNode& list, const Json* items) : list_(list) {
  if (items == nullptr || list.list_type != SchemaNode::ListType::kMap) return;
  for (const Json& item : items->items()) items_.try_emplace(KeysOf(item, list), &item);
}

const Json* ListIndex::Find(const Json& item) const {
  if (items_.empty()) return nullptr;
  const auto at = items_.find(KeysOf(item, list_));
  return at == items_.end() ? nullptr : at->second;
}

const Json* OldMember(const Json* old, absl::string_view name) {
  return old == nullptr ? nullptr : old->Find(name);
}

std::string PrintedValue(const Json& value) {
  return value.type() == Json::Type::kDouble ? PrintedDouble(value.AsDouble()) : value.Dump();
}

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
