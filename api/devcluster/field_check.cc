#include "api/devcluster/field_check.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "api/codec/quantity.h"
#include "api/devcluster/builtin_schema.h"
#include "api/devcluster/names.h"
#include "api/validation/schema.h"

namespace maniple::devcluster {
namespace {

constexpr size_t kMaxDuplicates = 32;

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

std::string CannotUnmarshal(const Json& value, absl::string_view path, absl::string_view go_type) {
  return absl::StrCat("json: cannot unmarshal ", JsonTypeName(value), " into Go struct field ",
                      path, " of type ", go_type);
}

std::string MessageProblem(const SchemaMessage& message, const Json& object,
                           const std::string& path);

std::string TimeProblem(const Json& value, absl::string_view path) {
  if (!value.is_string()) return CannotUnmarshal(value, path, "string");
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

std::string ValueProblem(const SchemaField& field, const Json& value, const std::string& path) {
  const auto want = [&](bool holds, absl::string_view go_type) {
    return holds ? std::string() : CannotUnmarshal(value, path, go_type);
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
      return TimeProblem(value, path);
    case FieldType::kDuration:
      return want(value.is_string(), "string");
    case FieldType::kStringList:
      return want(value.is_array(), "[]string");
    case FieldType::kFieldsV1:
    case FieldType::kRawExtension:
      return "";
    case FieldType::kMessage:
      if (!value.is_object()) return CannotUnmarshal(value, path, field.message->name);
      return MessageProblem(*field.message, value, path);
  }
  return "";
}

std::string FieldProblem(const SchemaField& field, const Json& value, const std::string& path) {
  if (value.is_null()) return "";
  switch (field.shape) {
    case FieldShape::kSingle:
      return ValueProblem(field, value, path);
    case FieldShape::kList:
      if (!value.is_array()) return CannotUnmarshal(value, path, "[]" + field.name);
      for (const Json& item : value.items()) {
        if (std::string problem = ValueProblem(field, item, path); !problem.empty()) return problem;
      }
      return "";
    case FieldShape::kMap:
      if (!value.is_object()) return CannotUnmarshal(value, path, "map[string]" + field.name);
      for (const auto& [name, member] : value.members()) {
        if (std::string problem = ValueProblem(field, member, path); !problem.empty()) {
          return problem;
        }
      }
      return "";
  }
  return "";
}

std::string MessageProblem(const SchemaMessage& message, const Json& object,
                           const std::string& path) {
  for (const auto& [name, value] : object.members()) {
    const SchemaField* field = message.FindByName(name);
    if (field == nullptr) continue;
    std::string problem =
        FieldProblem(*field, value, path.empty() ? name : absl::StrCat(path, ".", name));
    if (!problem.empty()) return problem;
  }
  return "";
}

// Walks over a JSON text that is known to be well formed, keeping the keys of the open objects.
class DuplicateScan final {
 public:
  explicit DuplicateScan(absl::string_view text) : text_(text) {}

  std::vector<std::string> Run() {
    while (at_ < text_.size() && found_.size() < kMaxDuplicates) {
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        levels_.push_back({.is_object = c == '{'});
        ++at_;
      } else if (c == '}' || c == ']') {
        if (!levels_.empty()) levels_.pop_back();
        ++at_;
      } else if (c == ',') {
        if (!levels_.empty()) Next(levels_.back());
        ++at_;
      } else if (c == '"') {
        const absl::string_view raw = TakeString();
        if (!levels_.empty() && levels_.back().is_object && levels_.back().wants_key) Key(raw);
      } else {
        ++at_;
      }
    }
    return std::move(found_);
  }

 private:
  struct Level {
    bool is_object = false;
    bool wants_key = true;
    size_t index = 0;
    std::string key = {};
    std::set<std::string> seen = {};
  };
  static void Next(Level& level) {
    level.wants_key = true;
    ++level.index;
  }
  absl::string_view TakeString() {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const size_t end = std::min(at_, text_.size());
    ++at_;
    return text_.substr(begin, end - begin);
  }
  void Key(absl::string_view raw) {
    Level& level = levels_.back();
    level.wants_key = false;
    level.key = std::string(raw);
    if (!level.seen.insert(level.key).second) found_.push_back(Path());
  }
  std::string Path() const {
    std::string path;
    for (const Level& level : levels_) {
      if (!level.is_object) {
        absl::StrAppend(&path, "[", level.index, "]");
      } else {
        absl::StrAppend(&path, path.empty() ? "" : ".", level.key);
      }
    }
    return path;
  }

  const absl::string_view text_;
  size_t at_ = 0;
  std::vector<Level> levels_;
  std::vector<std::string> found_;
};

}  // namespace

ApiOr<FieldValidation> ParseFieldValidation(const Query& query, absl::string_view options_kind) {
  const std::string& value = query.Get("fieldValidation");
  if (value.empty() || value == "Warn") return FieldValidation::kWarn;
  if (value == "Ignore") return FieldValidation::kIgnore;
  if (value == "Strict") return FieldValidation::kStrict;
  return InvalidOptions(options_kind, {NotSupportedValue("fieldValidation", value,
                                                         {"", "Ignore", "Strict", "Warn"})});
}

std::string TypeProblem(const ResourceType& type, const Json& object) {
  if (!type.custom) {
    const SchemaMessage* message = FindBuiltinSchema(type.api_version(), type.kind);
    return message == nullptr ? "" : MessageProblem(*message, object, "");
  }
  // Custom objects have metadata of the same type.
  const SchemaMessage* pod = FindBuiltinSchema("v1", "Pod");
  const SchemaField* metadata = pod == nullptr ? nullptr : pod->FindByName("metadata");
  return metadata == nullptr ? "" : FieldProblem(*metadata, object["metadata"], "metadata");
}

std::vector<std::string> DuplicateFields(absl::string_view text) {
  return DuplicateScan(text).Run();
}

std::vector<std::string> StrictProblems(const ResourceType& type, const Json& object,
                                        absl::string_view text) {
  std::vector<std::string> problems;
  for (const std::string& path : DuplicateFields(text)) {
    problems.push_back(absl::StrCat("duplicate field \"", path, "\""));
  }
  const std::vector<std::string> unknown =
      type.schema != nullptr ? type.schema->UnknownFields(object) : UnknownFields(object);
  for (const std::string& path : unknown) {
    problems.push_back(absl::StrCat("unknown field \"", path, "\""));
  }
  return problems;
}

}  // namespace maniple::devcluster
