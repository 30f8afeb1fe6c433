// One node of a compiled structural schema. Private to this room: the compiler fills it, validation
// and CEL read it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/validation/format.h"
#include "api/validation/pattern.h"

namespace maniple {

// A bound of minimum or maximum.
struct NumberBound {
  Json limit;
  enum class Edge { kInclusive, kExclusive } edge = Edge::kInclusive;
};

struct SizeBounds {
  std::optional<int64_t> least, most;
};

struct SchemaRule;  // schema_rule.h

struct SchemaNode {
  // kAny: int-or-string, preserve-unknown-fields without a type, or a value validation below anyOf
  // and friends.
  enum class Type { kAny, kObject, kArray, kString, kInteger, kNumber, kBoolean };
  enum class ListType { kAtomic, kSet, kMap };
  enum class IntOrString { kNo, kYes };
  enum class UnknownFields { kPruned, kPreserved };
  enum class Nulls { kRefused, kAllowed };

  Type type = Type::kAny;
  IntOrString int_or_string = IntOrString::kNo;
  UnknownFields unknown_fields = UnknownFields::kPruned;
  Nulls nulls = Nulls::kRefused;
  bool embedded_resource = false;

  struct Property;
  std::vector<Property> properties;        // sorted by name
  std::unique_ptr<SchemaNode> additional;  // values of a map
  std::unique_ptr<SchemaNode> items;
  std::vector<std::string> required;

  std::optional<Json> default_value;
  std::vector<Json> allowed;  // enum; empty = anything
  std::optional<NumberBound> minimum, maximum;
  std::optional<double> multiple_of;
  SizeBounds length, item_count, property_count;
  std::string pattern_text;
  std::optional<Pattern> pattern;
  StringFormat format = StringFormat::kNone;
  std::string format_name;
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_map_keys;
  bool unique_items = false;

  std::vector<SchemaNode> all_of, any_of, one_of;
  std::unique_ptr<SchemaNode> negated;
  std::vector<std::shared_ptr<const SchemaRule>> rules;  // x-kubernetes-validations

  // The schema of the member, be it a property or a map's value; nullptr when it is unknown.
  [[nodiscard]] const SchemaNode* Member(absl::string_view name) const;
  // Of a property only.
  [[nodiscard]] const SchemaNode* Property(absl::string_view name) const;
};

struct SchemaNode::Property {
  std::string name;
  SchemaNode schema;
};

}  // namespace maniple
