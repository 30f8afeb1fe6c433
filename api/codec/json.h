// A JSON document as a value: what the embedded server stores, what YAML is read into, what small
// replies are parsed to.
//
// Objects keep their members in the order of insertion; a repeated key replaces the earlier one.
// Integers and decimals stay apart, so `1` does not come back as `1.0`. Parsing is iterative and
// bounded in depth, so hostile nesting cannot exhaust the stack; destruction and copying are
// bounded by the same depth. Large lists and watch events are not read through this type but
// through api/codec/decode.h.
//
//   ASSIGN_OR_RETURN(Json pod, Json::Parse(bytes));
//   const std::string& name = pod["metadata"]["name"].AsString();   // "" when absent or of another
//   type pod.Set("status", Json::Object({{"phase", "Pending"}}));
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maniple {

class Json final {
 public:
  using Member = std::pair<std::string, Json>;
  static constexpr int kMaxDepth = 256;

  enum class Type { kNull, kBool, kInt, kDouble, kString, kArray, kObject };

  Json() = default;                                              // null
  Json(std::nullptr_t) {}                                        // NOLINT: literals read as JSON
  Json(bool value) : value_(value) {}                            // NOLINT
  Json(int value) : value_(static_cast<int64_t>(value)) {}       // NOLINT
  Json(int64_t value) : value_(value) {}                         // NOLINT
  Json(double value) : value_(value) {}                          // NOLINT
  Json(const char* value) : value_(std::string(value)) {}        // NOLINT
  Json(absl::string_view value) : value_(std::string(value)) {}  // NOLINT
  Json(std::string value) : value_(std::move(value)) {}          // NOLINT

  static Json Array(std::vector<Json> items = {});
  static Json Object(std::vector<Member> members = {});

  // Exactly one JSON value with nothing but white space after it; else InvalidArgument with the
  // byte offset.
  static absl::StatusOr<Json> Parse(absl::string_view text);
  // Compact, or two spaces a level.
  [[nodiscard]] std::string Dump() const;
  [[nodiscard]] std::string DumpPretty() const;

  [[nodiscard]] Type type() const;
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
  std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<Json>,
               std::vector<Member>>
      value_;
};

// The text as the inside of a JSON string, without the quotes.
[[nodiscard]] std::string JsonEscaped(absl::string_view text);

}  // namespace maniple
