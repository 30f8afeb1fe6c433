#include "api/devcluster/types/builtin_schema.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/base/check.h"
#include "api/devcluster/types/builtin_schema_data.h"

namespace maniple::devcluster {
namespace {

constexpr size_t kMostUnknownFields = 32;

// The whole table. Messages point at each other, so they live on the heap for the process's life.
struct Table {
  std::vector<const SchemaMessage*> messages;
  std::map<std::pair<std::string, std::string>, const SchemaMessage*> kinds;  // (apiVersion, kind)
};

std::optional<FieldType> TypeOfLetter(absl::string_view letter) {
  static constexpr std::pair<absl::string_view, FieldType> kLetters[] = {
      {"", FieldType::kString},        {"s", FieldType::kString},      {"i", FieldType::kInt},
      {"b", FieldType::kBool},         {"d", FieldType::kDouble},      {"y", FieldType::kBytes},
      {"q", FieldType::kQuantity},     {"T", FieldType::kTime},        {"M", FieldType::kMicroTime},
      {"D", FieldType::kDuration},     {"I", FieldType::kIntOrString}, {"F", FieldType::kFieldsV1},
      {"R", FieldType::kRawExtension}, {"L", FieldType::kStringList},
  };
  for (const auto& [text, type] : kLetters) {
    if (text == letter) return type;
  }
  return std::nullopt;
}

class TableReader final {
 public:
  explicit TableReader(Table& table) : table_(table) {}

  // REQUIRES: `text` is one of ours; a mistake in it is a bug.
  void Read(absl::string_view text) {
    SchemaMessage* message = nullptr;
    std::string api_version;
    for (absl::string_view word : absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
      if (absl::ConsumeSuffix(&word, ":")) {
        message = nullptr;
        api_version.clear();
        if (absl::ConsumePrefix(&word, "@")) {
          api_version = std::string(word);
        } else {
          message = &Message(word);
          message->name = std::string(word);
          table_.messages.push_back(message);
        }
      } else if (message != nullptr) {
        message->fields.push_back(Field(word));
      } else {
        const std::pair<absl::string_view, absl::string_view> kind =
            absl::StrSplit(word, absl::MaxSplits('=', 1));
        table_.kinds[{api_version, std::string(kind.first)}] =
            &Message(kind.second.empty() ? kind.first : kind.second);
      }
    }
  }

  void CheckComplete() const {
    for (const auto& [name, message] : by_name_) {
      CHECK(!message->name.empty()) << "no message " << name;
    }
  }

 private:
  SchemaMessage& Message(absl::string_view name) {
    SchemaMessage*& slot = by_name_[std::string(name)];
    if (slot == nullptr) slot = new SchemaMessage;  // immortal: see Table
    return *slot;
  }

  SchemaField Field(absl::string_view word) {
    SchemaField field;
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(word, absl::MaxSplits('/', 1));
    absl::string_view head = halves.first;
    absl::string_view type = halves.second;
    field.required = absl::ConsumeSuffix(&head, "!") || absl::ConsumeSuffix(&type, "!");
    const std::pair<absl::string_view, absl::string_view> number_and_name =
        absl::StrSplit(head, absl::MaxSplits('=', 1));
    CHECK(absl::SimpleAtoi(number_and_name.first, &field.number)) << std::string(word);
    field.name = std::string(number_and_name.second);
    field.pointer = absl::ConsumePrefix(&type, "*");
    if (absl::ConsumePrefix(&type, "[")) field.shape = FieldShape::kList;
    if (absl::ConsumePrefix(&type, "{")) field.shape = FieldShape::kMap;
    if (const std::optional<FieldType> letter = TypeOfLetter(type)) {
      field.type = *letter;
    } else {
      field.type = FieldType::kMessage;
      field.message = &Message(type);
    }
    return field;
  }

  Table& table_;
  std::map<std::string, SchemaMessage*> by_name_;
};

const Table& TheTable() {
  static const Table& table = *[] {
    auto* made = new Table;  // never destroyed: other static objects may outlive it
    TableReader reader(*made);
    reader.Read(kCoreSchema);
    reader.Read(kGroupSchema);
    reader.CheckComplete();
    return made;
  }();
  return table;
}

class UnknownFieldFinder final {
 public:
  void Visit(const SchemaMessage& message, const Json& object, const std::string& path) {
    for (const auto& [name, value] : object.members()) {
      if (found_.size() >= kMostUnknownFields) return;
      const std::string here = path.empty() ? name : absl::StrCat(path, ".", name);
      const SchemaField* field = message.FindByName(name);
      if (field != nullptr) {
        VisitField(*field, value, here);
      } else if (!path.empty() || (name != "apiVersion" && name != "kind")) {
        found_.push_back(here);
      }
    }
  }

  std::vector<std::string> Take() { return std::move(found_); }

 private:
  void VisitField(const SchemaField& field, const Json& value, const std::string& path) {
    if (field.type != FieldType::kMessage) return;
    if (field.shape == FieldShape::kSingle) {
      Visit(*field.message, value, path);
    } else if (field.shape == FieldShape::kList) {
      for (size_t i = 0; i < value.items().size(); ++i) {
        Visit(*field.message, value.items()[i], absl::StrCat(path, "[", i, "]"));
      }
    } else {
      for (const auto& [key, item] : value.members()) {
        Visit(*field.message, item, absl::StrCat(path, ".", key));
      }
    }
  }

  std::vector<std::string> found_;
};

}  // namespace

const SchemaField* SchemaMessage::FindByNumber(int number) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const SchemaField& field) { return field.number == number; });
  return found == fields.end() ? nullptr : &*found;
}

const SchemaField* SchemaMessage::FindByName(absl::string_view json_name) const {
  for (const SchemaField& field : fields) {
    if (field.name == json_name) return &field;
    if (!field.name.empty()) continue;
    if (const SchemaField* inner = field.message->FindByName(json_name)) return inner;
  }
  return nullptr;
}

const SchemaMessage* FindBuiltinSchema(absl::string_view api_version, absl::string_view kind) {
  const auto& kinds = TheTable().kinds;
  // Every group registers the options of a deletion under its own name.
  const bool shared = kind == "DeleteOptions" || kind == "Status";
  const auto found =
      kinds.find({shared ? "meta.k8s.io/v1" : std::string(api_version), std::string(kind)});
  return found == kinds.end() ? nullptr : found->second;
}

const std::vector<const SchemaMessage*>& BuiltinSchemas() { return TheTable().messages; }

std::vector<std::string> UnknownFields(const Json& object) {
  const SchemaMessage* message =
      FindBuiltinSchema(object["apiVersion"].AsString(), object["kind"].AsString());
  if (message == nullptr) return {};
  UnknownFieldFinder finder;
  finder.Visit(*message, object, "");
  return finder.Take();
}

}  // namespace maniple::devcluster
