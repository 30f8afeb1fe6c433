#include "api/devcluster/types/type_check.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/codec/quantity.h"
#include "api/devcluster/types/builtin_schema.h"

namespace maniple::devcluster {
namespace {

// Where a value stands; put into words only when something is wrong with it.
struct Place {
  const Place* parent = nullptr;
  absl::string_view name;

  [[nodiscard]] std::string Path() const {
    return parent == nullptr || parent->name.empty() ? std::string(name)
                                                     : absl::StrCat(parent->Path(), ".", name);
  }
};

absl::string_view JsonTypeName(const Json& value) {
  switch (value.type()) {
    case Json::Type::kNull:
      return "null";
    case Json::Type::kBool:
      return "bool";
    case Json::Type::kInt:
    case Json::Type::kDouble:
      return "number";
    case Json::Type::kString:
      return "string";
    case Json::Type::kArray:
      return "array";
    case Json::Type::kObject:
      return "object";
  }
  return "";
}

std::string CannotUnmarshal(const Json& value, const Place& place, absl::string_view go_type) {
  return absl::StrCat("json: cannot unmarshal ", JsonTypeName(value), " into Go struct field ",
                      place.Path(), " of type ", go_type);
}

std::string MessageProblem(const SchemaMessage& message, const Json& object, const Place& place);

std::string TimeProblem(const Json& value, const Place& place) {
  if (!value.is_string()) return CannotUnmarshal(value, place, "string");
  absl::Time time;
  std::string error;
  if (value.AsString().empty() ||
      absl::ParseTime(absl::RFC3339_full, value.AsString(), &time, &error)) {
    return "";
  }
  return absl::StrCat("parsing time \"", value.AsString().substr(0, 64),
                      "\" as \"2006-01-02T15:04:05Z07:00\": cannot parse");
}

std::string QuantityProblem(const Json& value) {
  const std::string text = value.is_string() ? value.AsString() : value.Dump();
  if ((value.is_string() || value.is_number()) && Quantity::Parse(text).ok()) return "";
  if (value.is_string() && text.empty()) return "";  // Go reads it as zero
  return "quantities must match the regular expression "
         "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
}

std::string ValueProblem(const SchemaField& field, const Json& value, const Place& place) {
  const auto want = [&](bool holds, absl::string_view go_type) {
    return holds ? std::string() : CannotUnmarshal(value, place, go_type);
  };
  if (value.is_null()) return "";
  switch (field.type) {
    case FieldType::kString:
      return want(value.is_string(), "string");
    case FieldType::kInt:
      return want(value.is_int(), "int32");
    case FieldType::kBool:
      return want(value.is_bool(), "bool");
    case FieldType::kDouble:
      return want(value.is_number(), "float64");
    case FieldType::kBytes:
      return want(value.is_string(), "[]uint8");
    case FieldType::kIntOrString:
      return want(value.is_string() || value.is_int(), "intstr.IntOrString");
    case FieldType::kQuantity:
      return QuantityProblem(value);
    case FieldType::kTime:
    case FieldType::kMicroTime:
      return TimeProblem(value, place);
    case FieldType::kDuration:
      return want(value.is_string(), "string");
    case FieldType::kStringList:
      return want(value.is_array(), "[]string");
    case FieldType::kFieldsV1:
    case FieldType::kRawExtension:
      return "";
    case FieldType::kMessage:
      if (!value.is_object()) return CannotUnmarshal(value, place, field.message->name);
      return MessageProblem(*field.message, value, place);
  }
  return "";
}

std::string FieldProblem(const SchemaField& field, const Json& value, const Place& place) {
  if (value.is_null()) return "";
  switch (field.shape) {
    case FieldShape::kSingle:
      return ValueProblem(field, value, place);
    case FieldShape::kList:
      if (!value.is_array()) return CannotUnmarshal(value, place, "[]" + field.name);
      for (const Json& item : value.items()) {
        if (std::string problem = ValueProblem(field, item, place); !problem.empty())
          return problem;
      }
      return "";
    case FieldShape::kMap:
      if (!value.is_object()) return CannotUnmarshal(value, place, "map[string]" + field.name);
      for (const auto& [name, member] : value.members()) {
        if (std::string problem = ValueProblem(field, member, place); !problem.empty()) {
          return problem;
        }
      }
      return "";
  }
  return "";
}

std::string MessageProblem(const SchemaMessage& message, const Json& object, const Place& place) {
  for (const auto& [name, value] : object.members()) {
    const SchemaField* field = message.FindByName(name);
    if (field == nullptr) continue;
    std::string problem = FieldProblem(*field, value, {&place, name});
    if (!problem.empty()) return problem;
  }
  return "";
}

// All objects have metadata of the same type.
std::string MetadataProblem(const Json& object) {
  const SchemaMessage* pod = FindBuiltinSchema("v1", "Pod");
  const SchemaField* metadata = pod == nullptr ? nullptr : pod->FindByName("metadata");
  return metadata == nullptr ? ""
                             : FieldProblem(*metadata, object["metadata"], {nullptr, "metadata"});
}

}  // namespace

std::string TypeProblem(absl::string_view api_version, absl::string_view kind, const Json& object) {
  const SchemaMessage* message = FindBuiltinSchema(api_version, kind);
  return message == nullptr ? MetadataProblem(object) : MessageProblem(*message, object, {});
}

std::string TypeProblem(const ResourceType& type, const Json& object) {
  return type.custom ? MetadataProblem(object) : TypeProblem(type.api_version(), type.kind, object);
}

}  // namespace maniple::devcluster
