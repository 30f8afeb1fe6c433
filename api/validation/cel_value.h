// A value while a CEL rule is evaluated. Private to this room.
//
// Objects and lists of the validated document are referred to, never copied, together with their
// schema, which decides how a scalar is read (a date-time string is a timestamp, the integer 1 of a
// `number` field is 1.0). Such references and borrowed text live as long as the document and the
// program; nothing outlives one evaluation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/json.h"
#include "api/codec/quantity.h"

namespace maniple {

struct SchemaNode;  // schema_node.h

// What an evaluation may still cost, in units of about one operation. Shared by all rules of one
// object.
struct CelBudget {
  int64_t remaining = 10'000'000;
};

class CelValue final {
 public:
  using List = std::vector<CelValue>;
  using Map = std::vector<std::pair<std::string, CelValue>>;
  struct Document {  // an array or object
    const Json* json = nullptr;
    const SchemaNode* schema = nullptr;  // nullptr: nothing is known
  };
  struct TypeName {
    absl::string_view name;
  };
  struct Optional {
    std::shared_ptr<const CelValue> value;  // nullptr = none
  };
  using Variant =
      std::variant<std::monostate, bool, int64_t, double, absl::string_view, std::string, Document,
                   std::shared_ptr<const List>, std::shared_ptr<const Map>, absl::Duration,
                   absl::Time, Quantity, TypeName, Optional>;

  CelValue() = default;  // null
  explicit CelValue(Variant value) : value_(std::move(value)) {}
  static CelValue Bool(bool value) { return CelValue(Variant(value)); }
  static CelValue Int(int64_t value) { return CelValue(Variant(value)); }
  static CelValue Double(double value) { return CelValue(Variant(value)); }
  static CelValue Text(std::string value) { return CelValue(Variant(std::move(value))); }
  static CelValue BorrowedText(absl::string_view value) { return CelValue(Variant(value)); }
  static CelValue OfList(List items);
  static CelValue OfMap(Map members);
  static CelValue None() { return CelValue(Variant(Optional{})); }
  static CelValue Some(CelValue value);
  static CelValue FromJson(const Json& json, const SchemaNode* schema);

  [[nodiscard]] const Variant& get() const { return value_; }
  template <typename T>
  [[nodiscard]] const T* As() const {
    return std::get_if<T>(&value_);
  }
  // Owned or borrowed text; nullopt when this is none.
  [[nodiscard]] std::optional<absl::string_view> AsText() const;

  [[nodiscard]] bool is_null() const { return As<std::monostate>() != nullptr; }
  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_map() const;

  // Items of a list, members of a map, code points of a text; nullopt for the rest.
  [[nodiscard]] std::optional<int64_t> Size() const;
  // REQUIRES: is_list() and 0 <= index < Size().
  [[nodiscard]] CelValue ItemAt(int64_t index) const;
  // REQUIRES: is_map() and 0 <= index < Size().
  [[nodiscard]] CelValue KeyAt(int64_t index) const;
  // The member; nullopt when absent, or null where the schema allows none. REQUIRES: is_map().
  [[nodiscard]] std::optional<CelValue> Member(absl::string_view key) const;

  // "int", "string", "list", … as type() names it.
  [[nodiscard]] absl::string_view Type() const;

 private:
  Variant value_;
};

// CEL's ==: numbers by value, lists and maps deeply, list-type set and map without regard to order;
// values of different types are unequal.
[[nodiscard]] bool CelEquals(const CelValue& a, const CelValue& b);
// -1, 0, 1; an error when the types have no common order.
[[nodiscard]] absl::StatusOr<int> CelCompare(const CelValue& a, const CelValue& b);
// A measure of the work that touching all of the value takes.
[[nodiscard]] int64_t CelWeight(const CelValue& value);

// What an operation answers that is not defined for such a value.
[[nodiscard]] absl::Status NoOverload(absl::string_view what, const CelValue& value);

}  // namespace maniple
