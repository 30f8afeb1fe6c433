#include "api/devcluster/types/quantity_form.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/devcluster/types/builtin_schema.h"

namespace maniple::devcluster {
namespace {

using Wide = __int128;

constexpr absl::string_view kDecimalSuffixes[] = {"m", "", "k", "M", "G", "T", "P", "E"};
constexpr absl::string_view kBinarySuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
constexpr int kMaxDigits = 18;

enum class Family { kDecimal, kBinary, kExponent };

struct Scaled {
  Wide milli = 0;
  Family family = Family::kDecimal;
};

struct Number {
  Wide mantissa = 0;  // without its point
  int fraction_digits = 0;
};

std::optional<Number> TakeNumber(absl::string_view& rest) {
  Number number;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  int digits = 0;
  bool point = false;
  for (; !rest.empty() && (absl::ascii_isdigit(rest[0]) || (rest[0] == '.' && !point));
       rest.remove_prefix(1)) {
    if (rest[0] == '.') {
      point = true;
      continue;
    }
    number.mantissa = number.mantissa * 10 + (rest[0] - '0');
    if (number.mantissa != 0) ++digits;
    if (point) ++number.fraction_digits;
    if (digits > kMaxDigits || number.fraction_digits > kMaxDigits) return std::nullopt;
  }
  if (negative) number.mantissa = -number.mantissa;
  return number;
}

// What the suffix multiplies with, as 2^binary * 10^decimal.
struct Factor {
  int binary = 0;
  int decimal = 0;
  Family family = Family::kDecimal;
};

std::optional<Factor> FactorOf(absl::string_view suffix) {
  for (size_t i = 1; i < std::size(kBinarySuffixes); ++i) {
    if (suffix == kBinarySuffixes[i]) {
      return Factor{.binary = static_cast<int>(10 * i), .family = Family::kBinary};
    }
  }
  if (suffix == "n") return Factor{.decimal = -9};
  if (suffix == "u") return Factor{.decimal = -6};
  for (size_t i = 0; i < std::size(kDecimalSuffixes); ++i) {
    if (suffix == kDecimalSuffixes[i]) return Factor{.decimal = static_cast<int>(3 * i) - 3};
  }
  int exponent = 0;
  if ((suffix[0] == 'e' || suffix[0] == 'E') && absl::SimpleAtoi(suffix.substr(1), &exponent) &&
      exponent >= -kMaxDigits && exponent <= kMaxDigits) {
    return Factor{.decimal = exponent, .family = Family::kExponent};
  }
  return std::nullopt;
}

std::optional<Scaled> Parse(absl::string_view text) {
  absl::string_view rest = text;
  const std::optional<Number> number = TakeNumber(rest);
  if (!number.has_value() || rest.size() == text.size()) return std::nullopt;
  const std::optional<Factor> factor = FactorOf(rest);
  if (!factor.has_value()) return std::nullopt;
  Wide value = number->mantissa;
  if (value == 0) return Scaled{0, factor->family};
  // At most 2^60 * 2^60: no overflow.
  value <<= factor->binary;
  constexpr Wide kLimit = Wide{1} << 73;  // of 2^63 units in milli
  int tens = factor->decimal + 3 - number->fraction_digits;
  for (; tens > 0; --tens) {
    value *= 10;
    if (value > kLimit || value < -kLimit) return std::nullopt;
  }
  bool rounded = false;
  for (; tens < 0; ++tens) {
    rounded = rounded || value % 10 != 0;
    value /= 10;
  }
  if (rounded) value += number->mantissa > 0 ? 1 : -1;
  if (value / 1000 > INT64_MAX || value / 1000 < INT64_MIN) return std::nullopt;
  return Scaled{value, factor->family};
}

std::string WithSuffix(Wide value, absl::string_view suffix) {
  return absl::StrCat(static_cast<int64_t>(value), suffix);
}

std::string BinaryText(Wide units) {
  size_t suffix = 0;
  for (; units % 1024 == 0 && suffix + 1 < std::size(kBinarySuffixes); ++suffix) units /= 1024;
  return WithSuffix(units, kBinarySuffixes[suffix]);
}

}  // namespace

std::string CanonicalQuantity(absl::string_view text) {
  const std::optional<Scaled> scaled = Parse(text);
  if (!scaled.has_value()) return std::string(text);
  Wide value = scaled->milli;
  if (value == 0) return "0";
  const Wide units = value / 1000;
  if (scaled->family == Family::kBinary && (units >= 1024 || units <= -1024)) {
    const Wide rest = value % 1000;
    return BinaryText(rest == 0 ? units : units + (rest > 0 ? 1 : -1));
  }
  size_t suffix = 0;
  for (; value % 1000 == 0 && suffix + 1 < std::size(kDecimalSuffixes); ++suffix) value /= 1000;
  if (scaled->family != Family::kExponent) return WithSuffix(value, kDecimalSuffixes[suffix]);
  const int exponent = static_cast<int>(suffix) * 3 - 3;
  return exponent == 0 ? WithSuffix(value, "") : WithSuffix(value, absl::StrCat("e", exponent));
}

namespace {

std::string CanonicalAmount(const Json& amount) {
  return CanonicalQuantity(amount.is_string() ? amount.AsString() : amount.Dump());
}

bool IsCanonical(const SchemaMessage& message, const Json& object) {
  const auto is_canonical = [](const Json::Member& amount) {
    return !amount.second.is_number() &&
           (!amount.second.is_string() ||
            CanonicalAmount(amount.second) == amount.second.AsString());
  };
  for (const auto& [name, value] : object.members()) {
    const SchemaField* field = message.FindByName(name);
    if (field == nullptr) continue;
    if (field->type == FieldType::kQuantity && field->shape == FieldShape::kMap) {
      if (!std::all_of(value.members().begin(), value.members().end(), is_canonical)) return false;
    } else if (field->type == FieldType::kMessage && field->message != nullptr) {
      if (field->shape == FieldShape::kSingle && !IsCanonical(*field->message, value)) return false;
      for (const Json& item : value.items()) {
        if (!IsCanonical(*field->message, item)) return false;
      }
    }
  }
  return true;
}

void CanonicalizeMessage(const SchemaMessage& message, Json& object) {
  if (!object.is_object()) return;
  for (auto& [name, value] : object.mutable_members()) {
    const SchemaField* field = message.FindByName(name);
    if (field == nullptr) continue;
    if (field->type == FieldType::kQuantity && field->shape == FieldShape::kMap) {
      if (!value.is_object()) continue;
      for (auto& [resource, amount] : value.mutable_members()) {
        if (amount.is_string() || amount.is_number()) amount = CanonicalAmount(amount);
      }
    } else if (field->type == FieldType::kMessage && field->message != nullptr) {
      if (field->shape == FieldShape::kSingle) {
        CanonicalizeMessage(*field->message, value);
      } else if (value.is_array()) {
        for (Json& item : value.mutable_items()) CanonicalizeMessage(*field->message, item);
      }
    }
  }
}

}  // namespace

void CanonicalizeResources(const ResourceType& type, Json& object) {
  if (type.custom) return;
  const SchemaMessage* message = FindBuiltinSchema(type.api_version(), type.kind);
  // A walk that may change the object takes its own copy of all of it.
  if (message != nullptr && !IsCanonical(*message, object)) CanonicalizeMessage(*message, object);
}

}  // namespace maniple::devcluster
