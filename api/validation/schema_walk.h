// The three passes of validation, each over a whole document, and the path they keep. Private to
// this room.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/validation/field_error.h"
#include "api/validation/schema_node.h"

namespace maniple {

inline constexpr size_t kMaxFieldErrors = 100;
// Where kube-apiserver puts what belongs to no single field.
inline constexpr char kNoField[] = "<nil>";

// "spec.quotas[0].name", grown and cut back as a walk goes down and up.
class FieldPath final {
 public:
  FieldPath() = default;

  // One step down for as long as it lives.
  class Step final {
   public:
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() { path_.text_.resize(length_); }

   private:
    friend class FieldPath;
    Step(FieldPath& path, size_t length) : path_(path), length_(length) {}
    FieldPath& path_;
    const size_t length_;
  };

  [[nodiscard]] Step Field(absl::string_view name) {
    const size_t length = text_.size();
    absl::StrAppend(&text_, length == 0 ? "" : ".", name);
    return Step(*this, length);
  }
  [[nodiscard]] Step Item(size_t index) { return Key(absl::StrCat(index)); }
  [[nodiscard]] Step Key(absl::string_view key) {
    const size_t length = text_.size();
    absl::StrAppend(&text_, "[", key, "]");
    return Step(*this, length);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The items of a keyed list by their keys; finds the old item that a new one stands for.
class ListIndex final {
 public:
  // Empty unless `list` is a keyed list and `items` is an array.
  ListIndex(const SchemaNode& list, const Json* items);
  [[nodiscard]] const Json* Find(const Json& item) const;

 private:
  const SchemaNode& list_;
  absl::flat_hash_map<std::string, const Json*> items_;
};

// What of `old` a child of the same name stands for; nullptr when there is none.
[[nodiscard]] const Json* OldMember(const Json* old, absl::string_view name);

// What lies directly below `value`, with `path` one step further down:
// visit(schema, child, what of `old` it stands for). Children without a schema are passed over.
template <typename Visit>
void VisitItems(const SchemaNode& list, const Json& value, const Json* old, FieldPath& path,
                const Visit& visit) {
  if (!value.is_array() || list.items == nullptr) return;
  const ListIndex old_items(list, old);
  size_t index = 0;
  for (const Json& item : value.items()) {
    const FieldPath::Step step = path.Item(index++);
    visit(*list.items, item, old_items.Find(item));
  }
}
template <typename Visit>
void VisitMembers(const SchemaNode& node, const Json& value, const Json* old, FieldPath& path,
                  const Visit& visit) {
  for (const auto& [name, member] : value.members()) {
    const SchemaNode* property = node.Property(name);
    const SchemaNode* schema = property != nullptr ? property : node.additional.get();
    if (schema == nullptr) continue;
    const FieldPath::Step step = property != nullptr ? path.Field(name) : path.Key(name);
    visit(*schema, member, OldMember(old, name));
  }
}

// As OpenAPI writes it; "" for any.
[[nodiscard]] absl::string_view TypeNameOf(SchemaNode::Type type);

// The scalar as error messages print it: 0.5, "text", true.
[[nodiscard]] std::string PrintedValue(const Json& value);

// Types, bounds, enums, patterns, required fields.
void ValidateValues(const SchemaNode& root, const Json& object, const Json* old,
                    std::vector<FieldError>& errors);
// Uniqueness in sets and keyed lists.
void ValidateLists(const SchemaNode& root, const Json& object, const Json* old,
                   std::vector<FieldError>& errors);
// x-kubernetes-validations.
void ValidateRules(const SchemaNode& root, const Json& object, const Json* old,
                   std::vector<FieldError>& errors);

}  // namespace maniple
