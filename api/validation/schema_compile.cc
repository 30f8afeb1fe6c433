// Reads an OpenAPI v3 schema of a CRD into nodes that validation walks; says what it cannot honour.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/base/log.h"
#include "api/base/status_macros.h"
#include "api/validation/cel.h"
#include "api/validation/schema.h"
#include "api/validation/schema_node.h"
#include "api/validation/schema_rule.h"
#include "api/validation/schema_walk.h"

namespace maniple {
namespace {

using Type = SchemaNode::Type;

constexpr int kMaxDepth = 64;

std::optional<Type> TypeByName(absl::string_view name) {
  constexpr std::pair<absl::string_view, Type> kTypes[] = {
      {"object", Type::kObject},   {"array", Type::kArray},   {"string", Type::kString},
      {"integer", Type::kInteger}, {"number", Type::kNumber}, {"boolean", Type::kBoolean}};
  for (const auto& [type_name, type] : kTypes) {
    if (type_name == name) return type;
  }
  return std::nullopt;
}

// "['a-b'].c" as paths are printed: ".a-b.c".
std::string PrintedFieldPath(absl::string_view path) {
  return absl::StrReplaceAll(path, {{"['", "."}, {"']", ""}});
}

class Compiler {
 public:
  // A structural node carries the type; below anyOf and friends stand validations of a value whose
  // type is known.
  enum class Role { kStructural, kValidation };

  absl::StatusOr<SchemaNode> Compile(const Json& schema, Role role) {
    if (!schema.is_object()) return Error("must be an object");
    if (++depth_ > kMaxDepth)
      return Error(absl::StrCat("is nested more than ", kMaxDepth, " levels"));
    SchemaNode node;
    RETURN_IF_ERROR(ReadExtensions(schema, node));
    RETURN_IF_ERROR(ReadType(schema, role, node));
    RETURN_IF_ERROR(ReadBounds(schema, node));
    RETURN_IF_ERROR(ReadList(schema, node));
    RETURN_IF_ERROR(ReadChildren(schema, role, node));
    RETURN_IF_ERROR(ReadJunctions(schema, node));
    if (role == Role::kStructural) {
      RETURN_IF_ERROR(ReadRules(schema, node));
      RETURN_IF_ERROR(ReadDefault(schema, node));
    }
    --depth_;
    return node;
  }

  std::vector<std::string> TakeUnenforced() { return std::move(unenforced_); }

 private:
  absl::Status Error(absl::string_view what) const {
    const std::string place = path_.text().empty() ? "the root" : path_.text();
    return absl::InvalidArgumentError(absl::StrCat("openAPIV3Schema: ", place, ": ", what));
  }

  static bool Flag(const Json& schema, absl::string_view name) { return schema[name].AsBool(); }

  absl::Status ReadExtensions(const Json& schema, SchemaNode& node) {
    if (schema.Has("$ref")) return Error("$ref is not allowed");
    if (Flag(schema, "x-kubernetes-int-or-string"))
      node.int_or_string = SchemaNode::IntOrString::kYes;
    if (Flag(schema, "x-kubernetes-preserve-unknown-fields")) {
      node.unknown_fields = SchemaNode::UnknownFields::kPreserved;
    }
    if (Flag(schema, "nullable")) node.nulls = SchemaNode::Nulls::kAllowed;
    node.embedded_resource = Flag(schema, "x-kubernetes-embedded-resource");
    return absl::OkStatus();
  }

  absl::Status ReadType(const Json& schema, Role role, SchemaNode& node) {
    const std::string& name = schema["type"].AsString();
    if (!name.empty()) {
      const std::optional<Type> type = TypeByName(name);
      if (!type.has_value()) return Error(absl::StrCat("type ", name, " is unknown"));
      if (node.int_or_string == SchemaNode::IntOrString::kYes) {
        return Error("type must be absent with x-kubernetes-int-or-string");
      }
      node.type = *type;
    } else if (role == Role::kStructural && node.int_or_string == SchemaNode::IntOrString::kNo &&
               node.unknown_fields == SchemaNode::UnknownFields::kPruned) {
      return Error("type is required: the schema is not structural");
    }
    node.format_name = schema["format"].AsString();
    if (node.type == Type::kString) node.format = StringFormatOf(node.format_name);
    return absl::OkStatus();
  }

  absl::Status ReadSize(const Json& schema, absl::string_view key, std::optional<int64_t>& size) {
    const Json* value = schema.Find(key);
    if (value == nullptr || value->is_null()) return absl::OkStatus();
    if (!value->is_number() || value->AsDouble() < 0) {
      return Error(absl::StrCat(key, " must be a whole number that is not negative"));
    }
    size =
        value->is_int() ? value->AsInt() : static_cast<int64_t>(std::min(value->AsDouble(), 9e18));
    return absl::OkStatus();
  }

  absl::Status ReadLimit(const Json& schema, absl::string_view key, absl::string_view exclusive,
                         std::optional<NumberBound>& bound) {
    const Json* value = schema.Find(key);
    if (value == nullptr || value->is_null()) return absl::OkStatus();
    if (!value->is_number()) return Error(absl::StrCat(key, " must be a number"));
    bound = NumberBound{*value, Flag(schema, exclusive) ? NumberBound::Edge::kExclusive
                                                        : NumberBound::Edge::kInclusive};
    return absl::OkStatus();
  }

  absl::Status ReadBounds(const Json& schema, SchemaNode& node) {
    RETURN_IF_ERROR(ReadLimit(schema, "minimum", "exclusiveMinimum", node.minimum));
    RETURN_IF_ERROR(ReadLimit(schema, "maximum", "exclusiveMaximum", node.maximum));
    RETURN_IF_ERROR(ReadSize(schema, "minLength", node.length.least));
    RETURN_IF_ERROR(ReadSize(schema, "maxLength", node.length.most));
    RETURN_IF_ERROR(ReadSize(schema, "minItems", node.item_count.least));
    RETURN_IF_ERROR(ReadSize(schema, "maxItems", node.item_count.most));
    RETURN_IF_ERROR(ReadSize(schema, "minProperties", node.property_count.least));
    RETURN_IF_ERROR(ReadSize(schema, "maxProperties", node.property_count.most));
    if (const Json* divisor = schema.Find("multipleOf")) {
      if (!(divisor->AsDouble() > 0)) return Error("multipleOf must be positive");
      node.multiple_of = divisor->AsDouble();
    }
    node.allowed = schema["enum"].items();
    if (schema.Has("enum") && node.allowed.empty()) return Error("enum must list values");
    node.pattern_text = schema["pattern"].AsString();
    if (!node.pattern_text.empty()) {
      absl::StatusOr<Pattern> pattern = Pattern::Compile(node.pattern_text);
      if (!pattern.ok()) return Error(pattern.status().message());
      node.pattern = *std::move(pattern);
    }
    return absl::OkStatus();
  }

  absl::Status ReadList(const Json& schema, SchemaNode& node) {
    node.unique_items = Flag(schema, "uniqueItems");
    for (const Json& key : schema["x-kubernetes-list-map-keys"].items()) {
      node.list_map_keys.push_back(key.AsString());
    }
    const std::string& type = schema["x-kubernetes-list-type"].AsString();
    if (type == "set") node.list_type = SchemaNode::ListType::kSet;
    if (type == "map") node.list_type = SchemaNode::ListType::kMap;
    if (!type.empty() && type != "set" && type != "map" && type != "atomic") {
      return Error(absl::StrCat("x-kubernetes-list-type ", type, " is unknown"));
    }
    if (!type.empty() && node.type != Type::kArray) {
      return Error("x-kubernetes-list-type is for arrays");
    }
    if ((node.list_type == SchemaNode::ListType::kMap) == node.list_map_keys.empty()) {
      return Error("x-kubernetes-list-map-keys belong to x-kubernetes-list-type map, at least one");
    }
    return absl::OkStatus();
  }

  absl::Status ReadChildren(const Json& schema, Role role, SchemaNode& node) {
    for (const Json& name : schema["required"].items()) node.required.push_back(name.AsString());
    for (const auto& [name, property] : schema["properties"].members()) {
      const FieldPath::Step step = path_.Field(absl::StrCat("properties[", name, "]"));
      ASSIGN_OR_RETURN(SchemaNode child, Compile(property, role));
      node.properties.push_back({.name = name, .schema = std::move(child)});
    }
    std::sort(node.properties.begin(), node.properties.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    if (const Json* additional = schema.Find("additionalProperties")) {
      RETURN_IF_ERROR(ReadAdditional(*additional, role, node));
    }
    if (const Json* items = schema.Find("items")) {
      const FieldPath::Step step = path_.Field("items");
      ASSIGN_OR_RETURN(SchemaNode child, Compile(*items, role));
      node.items = std::make_unique<SchemaNode>(std::move(child));
    } else if (role == Role::kStructural && node.type == Type::kArray) {
      return Error("items is required for an array");
    }
    return absl::OkStatus();
  }

  absl::Status ReadAdditional(const Json& schema, Role role, SchemaNode& node) {
    if (schema.is_bool()) {
      if (!schema.AsBool()) return Error("additionalProperties may not be false");
      node.unknown_fields = SchemaNode::UnknownFields::kPreserved;
      return absl::OkStatus();
    }
    if (!node.properties.empty() && role == Role::kStructural) {
      return Error("additionalProperties and properties exclude each other");
    }
    const FieldPath::Step step = path_.Field("additionalProperties");
    ASSIGN_OR_RETURN(SchemaNode child, Compile(schema, role));
    node.additional = std::make_unique<SchemaNode>(std::move(child));
    return absl::OkStatus();
  }

  absl::Status ReadJunctions(const Json& schema, SchemaNode& node) {
    const std::pair<absl::string_view, std::vector<SchemaNode>*> lists[] = {
        {"allOf", &node.all_of}, {"anyOf", &node.any_of}, {"oneOf", &node.one_of}};
    for (const auto& [name, nested] : lists) {
      size_t index = 0;
      for (const Json& each : schema[name].items()) {
        const FieldPath::Step step = path_.Field(absl::StrCat(name, "[", index++, "]"));
        ASSIGN_OR_RETURN(SchemaNode child, Compile(each, Role::kValidation));
        nested->push_back(std::move(child));
      }
    }
    if (const Json* negated = schema.Find("not")) {
      const FieldPath::Step step = path_.Field("not");
      ASSIGN_OR_RETURN(SchemaNode child, Compile(*negated, Role::kValidation));
      node.negated = std::make_unique<SchemaNode>(std::move(child));
    }
    return absl::OkStatus();
  }

  absl::Status ReadDefault(const Json& schema, SchemaNode& node) {
    const Json* value = schema.Find("default");
    if (value == nullptr) return absl::OkStatus();
    std::vector<FieldError> errors;
    ValidateValues(node, *value, nullptr, errors);
    if (!errors.empty()) {
      return Error(
          absl::StrCat("default ", value->Dump(), " is refused: ", errors.front().message));
    }
    node.default_value = *value;
    return absl::OkStatus();
  }

  absl::Status ReadRules(const Json& schema, SchemaNode& node) {
    for (const Json& source : schema["x-kubernetes-validations"].items()) {
      SchemaRule rule;
      rule.rule = std::string(absl::StripAsciiWhitespace(source["rule"].AsString()));
      if (rule.rule.empty()) return Error("x-kubernetes-validations: rule must not be empty");
      rule.message = source["message"].AsString();
      rule.field_path = PrintedFieldPath(source["fieldPath"].AsString());
      rule.optional_old_self = Flag(source, "optionalOldSelf");
      const std::string& reason = source["reason"].AsString();
      if (reason == "FieldValueRequired") rule.reason = FieldErrorReason::kRequired;
      if (reason == "FieldValueForbidden") rule.reason = FieldErrorReason::kForbidden;
      if (reason == "FieldValueDuplicate") rule.reason = FieldErrorReason::kDuplicate;
      rule.program = CompileCel(rule.rule);
      const std::string& expression = source["messageExpression"].AsString();
      if (!expression.empty()) rule.message_expression = CompileCel(expression);
      node.rules.push_back(std::make_shared<const SchemaRule>(std::move(rule)));
    }
    return absl::OkStatus();
  }

  // Absent, and noted, when the expression is outside our subset.
  std::optional<CelProgram> CompileCel(const std::string& expression) {
    absl::StatusOr<CelProgram> program = CelProgram::Compile(expression);
    if (program.ok()) return *std::move(program);
    unenforced_.push_back(absl::StrCat(path_.text(), ": ", expression.substr(0, 500), ": ",
                                       program.status().message()));
    return std::nullopt;
  }

  FieldPath path_;
  int depth_ = 0;
  std::vector<std::string> unenforced_;
};

}  // namespace

absl::StatusOr<StructuralSchema> StructuralSchema::Compile(const Json& open_api_v3_schema) {
  Compiler compiler;
  ASSIGN_OR_RETURN(SchemaNode root,
                   compiler.Compile(open_api_v3_schema, Compiler::Role::kStructural));
  if (root.type != Type::kObject) {
    return absl::InvalidArgumentError("openAPIV3Schema: the root must be of type object");
  }
  root.embedded_resource = true;
  StructuralSchema schema(std::make_unique<const SchemaNode>(std::move(root)));
  schema.unenforced_ = compiler.TakeUnenforced();
  for (const std::string& rule : schema.unenforced_) {
    LOG(WARNING) << "a validation rule of this schema is not enforced: " << rule;
  }
  return schema;
}

}  // namespace maniple
