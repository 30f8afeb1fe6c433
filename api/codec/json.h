// A JSON document as a value: what the embedded server stores, what YAML is read into, what small
// replies are parsed to.
//
// Objects keep their members in the order of insertion; a repeated key replaces the earlier one.
// Integers and decimals stay apart, so `1` does not come back as `1.0`. Parsing is iterative and
// bounded in depth, so hostile nesting cannot exhaust the stack; destruction is bounded by the same
// depth. A copy shares lists and objects with the original until one of the two is changed, so it
// costs nothing; a reference into a value that was made for changing it (Mutable, mutable_items,
// the plain Find, what Set answers) is spent when the value is copied. Large lists and watch events
// are not read through this type but through api/codec/decode.h.
//
//   ASSIGN_OR_RETURN(Json pod, Json::Parse(bytes));
//   const std::string& name = pod["metadata"]["name"].AsString();  // "" when absent or no string
//   pod.Set("status", Json::Object({{"phase", "Pending"}}));
#pragma once

#include <cstdint>
#include <initializer_list>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/codec/shared_value.h"

namespace maniple {

class Json final {
 public:
  using Member = std::pair<std::string, Json>;
  static constexpr int kMaxDepth = 256;

  enum class Type { kNull, kBool, kInt, kDouble, kString, kArray, kObject };

  Json() {}                                                     // null
  Json(std::nullptr_t) {}                                       // NOLINT: literals read as JSON
  Json(bool value) : type_(Type::kBool), bool_(value) {}        // NOLINT
  Json(int value) : Json(static_cast<int64_t>(value)) {}        // NOLINT
  Json(int64_t value) : type_(Type::kInt), int_(value) {}       // NOLINT
  Json(double value) : type_(Type::kDouble), double_(value) {}  // NOLINT
  Json(const char* value) : Json(std::string(value)) {}         // NOLINT
  Json(absl::string_view value) : Json(std::string(value)) {}   // NOLINT
  Json(std::string value)                                       // NOLINT
      : type_(Type::kString), string_(std::move(value)) {}
  Json(const Json& other) : type_(other.type_) { CopyFrom(other); }
  Json(Json&& other) noexcept : type_(other.type_) { MoveFrom(other); }
  Json& operator=(const Json& other) { return *this = Json(other); }
  Json& operator=(Json&& other) noexcept {
    Json taken(std::move(other));  // which may be a part of this
    Clear();
    type_ = taken.type_;
    MoveFrom(taken);
    return *this;
  }
  ~Json() { Clear(); }

  static Json Array(std::vector<Json> items = {});
  static Json Object(std::vector<Member> members = {});
  static Json Strings(const std::vector<std::string>& texts);

  // Exactly one JSON value with nothing but white space after it; else InvalidArgument with the
  // byte offset.
  static absl::StatusOr<Json> Parse(absl::string_view text);
  // Compact, or two spaces a level.
  [[nodiscard]] std::string Dump() const;
  [[nodiscard]] std::string DumpPretty() const;

  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] bool is_null() const { return type() == Type::kNull; }
  [[nodiscard]] bool is_bool() const { return type() == Type::kBool; }
  [[nodiscard]] bool is_int() const { return type() == Type::kInt; }
  [[nodiscard]] bool is_number() const { return is_int() || type() == Type::kDouble; }
  [[nodiscard]] bool is_string() const { return type() == Type::kString; }
  [[nodiscard]] bool is_array() const { return type() == Type::kArray; }
  [[nodiscard]] bool is_object() const { return type() == Type::kObject; }

  // The value, or the neutral one (false, 0, "", no items) when the type is another.
  [[nodiscard]] bool AsBool() const;
  [[nodiscard]] int64_t AsInt() const;
  [[nodiscard]] double AsDouble() const;
  [[nodiscard]] const std::string& AsString() const;
  [[nodiscard]] const std::vector<Json>& items() const;
  [[nodiscard]] const std::vector<Member>& members() const;

  // Array items or object members; 0 for scalars.
  [[nodiscard]] size_t size() const;

  // The member, or nullptr when absent or when this is no object.
  [[nodiscard]] const Json* Find(absl::string_view key) const;
  [[nodiscard]] Json* Find(absl::string_view key);
  [[nodiscard]] bool Has(absl::string_view key) const { return Find(key) != nullptr; }
  // The member, or null when absent: chains safely.
  const Json& operator[](absl::string_view key) const;
  // By a dotted path without dots inside keys: At("spec.template.metadata").
  [[nodiscard]] const Json& At(absl::string_view dotted_path) const;

  // Makes this an object if it is null. REQUIRES: null or object.
  Json& Set(absl::string_view key, Json value);
  // The member, made null first if absent. REQUIRES: null or object.
  Json& Mutable(absl::string_view key);
  bool Erase(absl::string_view key);
  // Makes this an array if it is null. REQUIRES: null or array.
  void Append(Json value);
  std::vector<Json>& mutable_items();      // REQUIRES: array
  std::vector<Member>& mutable_members();  // REQUIRES: object

  // Deep; object members in any order; 1 and 1.0 are equal.
  friend bool operator==(const Json& a, const Json& b);

 private:
  using Items = SharedValue<std::vector<Json>>;
  using Members = SharedValue<std::vector<Member>>;
  // REQUIRES, for all three: type_ is that of `other`, and nothing stands in the union.
  void CopyFrom(const Json& other);
  void MoveFrom(Json& other) noexcept { Fill(std::move(other)); }
  template <typename Other>
  void Fill(Other&& other);  // copied, or moved from an rvalue
  void Clear() {
    if (type_ >= Type::kString) Destroy();
  }
  void Destroy();

  // A variant by hand: values are moved about while they are built more than anything else.
  Type type_ = Type::kNull;
  union {
    bool bool_;
    int64_t int_;
    double double_;
    std::string string_;
    Items items_;
    Members members_;
  };
};

template <typename Other>
void Json::Fill(Other&& other) {
  switch (type_) {
    case Type::kNull:
      return;
    case Type::kBool:
      bool_ = other.bool_;
      return;
    case Type::kInt:
      int_ = other.int_;
      return;
    case Type::kDouble:
      double_ = other.double_;
      return;
    case Type::kString:
      new (&string_) std::string(std::forward<Other>(other).string_);
      return;
    case Type::kArray:
      new (&items_) Items(std::forward<Other>(other).items_);
      return;
    case Type::kObject:
      new (&members_) Members(std::forward<Other>(other).members_);
      return;
  }
}

// The text as the inside of a JSON string, without the quotes.
[[nodiscard]] std::string JsonEscaped(absl::string_view text);
// With the quotes.
[[nodiscard]] std::string JsonQuoted(absl::string_view text);

}  // namespace maniple
