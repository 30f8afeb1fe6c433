#include "api/validation/cel_functions.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/status_macros.h"
#include "api/validation/format.h"
#include "api/validation/pattern.h"

namespace maniple {
namespace {

using Arguments = absl::Span<const CelValue>;
using Answer = absl::StatusOr<CelValue>;

absl::StatusOr<absl::string_view> TextOf(const CelValue& value, absl::string_view function) {
  if (const auto text = value.AsText()) return *text;
  return NoOverload(function, value);
}

absl::StatusOr<Quantity> QuantityOf(const CelValue& value, absl::string_view function) {
  if (const auto* quantity = value.As<Quantity>()) return *quantity;
  return NoOverload(function, value);
}

// The shortest text without an exponent that reads back as the number.
std::string AllDigits(double number) {
  std::array<char, 512> text;
  char* const end = text.data() + text.size();
  return std::string(text.data(),
                     std::to_chars(text.data(), end, number, std::chars_format::fixed).ptr);
}

// Go's parsers take no white space; Abseil's do.
bool HasSpaceAtAnEnd(absl::string_view text) {
  return absl::StripAsciiWhitespace(text).size() != text.size();
}

// A value as text, as string() and join() write it.
Answer Print(const CelValue& value) {
  if (const auto text = value.AsText()) return CelValue::Text(std::string(*text));
  if (const auto* number = value.As<int64_t>()) return CelValue::Text(absl::StrCat(*number));
  if (const auto* number = value.As<double>()) return CelValue::Text(Json(*number).Dump());
  if (const auto* flag = value.As<bool>()) return CelValue::Text(*flag ? "true" : "false");
  if (const auto* span = value.As<absl::Duration>()) {
    return CelValue::Text(absl::StrCat(AllDigits(absl::ToDoubleSeconds(*span)), "s"));
  }
  if (const auto* time = value.As<absl::Time>()) {
    return CelValue::Text(absl::FormatTime("%Y-%m-%d%ET%H:%M:%E*SZ", *time, absl::UTCTimeZone()));
  }
  return NoOverload("string", value);
}

Answer SizeOf(Arguments a) {
  if (const auto size = a[0].Size()) return CelValue::Int(*size);
  return NoOverload("size", a[0]);
}

Answer ToInt(Arguments a) {
  if (a[0].As<int64_t>() != nullptr) return a[0];
  if (const auto* number = a[0].As<double>()) {
    if (!(*number > -9223372036854775808.0 && *number < 9223372036854775808.0)) {
      return absl::InvalidArgumentError("integer overflow");
    }
    return CelValue::Int(static_cast<int64_t>(*number));
  }
  if (const auto* time = a[0].As<absl::Time>()) return CelValue::Int(absl::ToUnixSeconds(*time));
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "int"));
  int64_t value = 0;
  if (HasSpaceAtAnEnd(text) || !absl::SimpleAtoi(text, &value)) {
    return absl::InvalidArgumentError("type conversion error from 'string' to 'int'");
  }
  return CelValue::Int(value);
}

Answer ToDouble(Arguments a) {
  if (a[0].As<double>() != nullptr) return a[0];
  if (const auto* number = a[0].As<int64_t>()) {
    return CelValue::Double(static_cast<double>(*number));
  }
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "double"));
  double value = 0;
  const bool read = !HasSpaceAtAnEnd(text) && absl::SimpleAtod(text, &value);
  const bool out_of_range = std::isinf(value) && text.find_first_of("nN") == text.npos;
  if (!read || out_of_range) {
    return absl::InvalidArgumentError("type conversion error from 'string' to 'double'");
  }
  return CelValue::Double(value);
}

Answer ToBool(Arguments a) {
  if (a[0].As<bool>() != nullptr) return a[0];
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "bool"));
  if (text == "true" || text == "True" || text == "TRUE" || text == "t" || text == "T" ||
      text == "1") {
    return CelValue::Bool(true);
  }
  if (text == "false" || text == "False" || text == "FALSE" || text == "f" || text == "F" ||
      text == "0") {
    return CelValue::Bool(false);
  }
  return absl::InvalidArgumentError("type conversion error from 'string' to 'bool'");
}

Answer ToText(Arguments a) { return Print(a[0]); }
Answer ToDynamic(Arguments a) { return a[0]; }
Answer TypeOf(Arguments a) { return CelValue(CelValue::TypeName{a[0].Type()}); }

Answer ToDuration(Arguments a) {
  if (a[0].As<absl::Duration>() != nullptr) return a[0];
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "duration"));
  if (const auto span = ParseGoDuration(text)) return CelValue(*span);
  return absl::InvalidArgumentError("type conversion error from 'string' to 'duration'");
}

Answer ToTimestamp(Arguments a) {
  if (a[0].As<absl::Time>() != nullptr) return a[0];
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "timestamp"));
  if (const auto time = ParseDateTime(text)) return CelValue(*time);
  return absl::InvalidArgumentError("type conversion error from 'string' to 'timestamp'");
}

Answer ToQuantity(Arguments a) {
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "quantity"));
  const absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
  if (quantity.ok()) return CelValue(*quantity);
  return absl::InvalidArgumentError(
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

Answer IsQuantity(Arguments a) {
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "isQuantity"));
  return CelValue::Bool(Quantity::Parse(text).ok());
}

// --- text ---

template <bool (*kTest)(absl::string_view, absl::string_view)>
Answer TextTest(Arguments a) {
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "text function"));
  ASSIGN_OR_RETURN(const absl::string_view part, TextOf(a[1], "text function"));
  return CelValue::Bool(kTest(text, part));
}
bool StartsWith(absl::string_view text, absl::string_view part) {
  return absl::StartsWith(text, part);
}
bool EndsWith(absl::string_view text, absl::string_view part) { return absl::EndsWith(text, part); }
bool Contains(absl::string_view text, absl::string_view part) {
  return absl::StrContains(text, part);
}

Answer Matches(Arguments a) {
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "matches"));
  ASSIGN_OR_RETURN(const absl::string_view expression, TextOf(a[1], "matches"));
  ASSIGN_OR_RETURN(const Pattern pattern, Pattern::Compile(expression));
  return CelValue::Bool(pattern.Matches(text));
}

Answer LowerAscii(Arguments a) {
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "lowerAscii"));
  return CelValue::Text(absl::AsciiStrToLower(text));
}
Answer UpperAscii(Arguments a) {
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "upperAscii"));
  return CelValue::Text(absl::AsciiStrToUpper(text));
}
Answer Trim(Arguments a) {
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "trim"));
  return CelValue::Text(std::string(absl::StripAsciiWhitespace(text)));
}

Answer Split(Arguments a) {
  ASSIGN_OR_RETURN(const absl::string_view text, TextOf(a[0], "split"));
  ASSIGN_OR_RETURN(const absl::string_view separator, TextOf(a[1], "split"));
  if (separator.empty()) return absl::InvalidArgumentError("split by an empty separator");
  CelValue::List parts;
  for (absl::string_view part : absl::StrSplit(text, separator)) {
    parts.push_back(CelValue::Text(std::string(part)));
  }
  return CelValue::OfList(std::move(parts));
}

Answer JoinBy(const CelValue& list, absl::string_view separator) {
  if (!list.is_list()) return NoOverload("join", list);
  std::string joined;
  for (int64_t i = 0; i < *list.Size(); ++i) {
    const CelValue item = list.ItemAt(i);
    ASSIGN_OR_RETURN(const absl::string_view text, TextOf(item, "join"));
    absl::StrAppend(&joined, i == 0 ? "" : separator, text);
    if (joined.size() > 1 << 20) return absl::ResourceExhaustedError("join grows beyond 1 MiB");
  }
  return CelValue::Text(std::move(joined));
}
Answer Join(Arguments a) { return JoinBy(a[0], ""); }
Answer JoinWith(Arguments a) {
  ASSIGN_OR_RETURN(const absl::string_view separator, TextOf(a[1], "join"));
  return JoinBy(a[0], separator);
}

// --- lists ---

Answer IsSorted(Arguments a) {
  if (!a[0].is_list()) return NoOverload("isSorted", a[0]);
  for (int64_t i = 1; i < *a[0].Size(); ++i) {
    ASSIGN_OR_RETURN(const int order, CelCompare(a[0].ItemAt(i - 1), a[0].ItemAt(i)));
    if (order > 0) return CelValue::Bool(false);
  }
  return CelValue::Bool(true);
}

Answer Sum(Arguments a) {
  if (!a[0].is_list()) return NoOverload("sum", a[0]);
  if (*a[0].Size() == 0) return CelValue::Int(0);
  CelValue sum = a[0].ItemAt(0);
  for (int64_t i = 1; i < *a[0].Size(); ++i) {
    ASSIGN_OR_RETURN(sum, CelCompute(CelArithmetic::kAdd, sum, a[0].ItemAt(i)));
  }
  return sum;
}

// The extreme item: the first whose order against all others is `wanted` or 0.
Answer Extreme(Arguments a, int wanted) {
  if (!a[0].is_list()) return NoOverload("min or max", a[0]);
  if (*a[0].Size() == 0) return absl::InvalidArgumentError("min or max called on empty list");
  CelValue best = a[0].ItemAt(0);
  for (int64_t i = 1; i < *a[0].Size(); ++i) {
    CelValue item = a[0].ItemAt(i);
    ASSIGN_OR_RETURN(const int order, CelCompare(item, best));
    if (order == wanted) best = std::move(item);
  }
  return best;
}
Answer Least(Arguments a) { return Extreme(a, -1); }
Answer Most(Arguments a) { return Extreme(a, 1); }

// --- optionals ---

Answer HasValue(Arguments a) {
  const auto* optional = a[0].As<CelValue::Optional>();
  if (optional == nullptr) return NoOverload("hasValue", a[0]);
  return CelValue::Bool(optional->value != nullptr);
}
Answer ValueOf(Arguments a) {
  const auto* optional = a[0].As<CelValue::Optional>();
  if (optional == nullptr) return NoOverload("value", a[0]);
  if (optional->value == nullptr) return absl::InvalidArgumentError("optional.none() dereference");
  return *optional->value;
}
Answer OrValue(Arguments a) {
  const auto* optional = a[0].As<CelValue::Optional>();
  if (optional == nullptr) return NoOverload("orValue", a[0]);
  return optional->value == nullptr ? a[1] : *optional->value;
}

// --- quantities and durations ---

absl::StatusOr<int> CompareQuantities(Arguments a) {
  ASSIGN_OR_RETURN(const Quantity left, QuantityOf(a[0], "quantity function"));
  ASSIGN_OR_RETURN(const Quantity right, QuantityOf(a[1], "quantity function"));
  return left < right ? -1 : (left > right ? 1 : 0);
}
Answer IsGreaterThan(Arguments a) {
  ASSIGN_OR_RETURN(const int order, CompareQuantities(a));
  return CelValue::Bool(order > 0);
}
Answer IsLessThan(Arguments a) {
  ASSIGN_OR_RETURN(const int order, CompareQuantities(a));
  return CelValue::Bool(order < 0);
}
Answer CompareTo(Arguments a) {
  ASSIGN_OR_RETURN(const int order, CompareQuantities(a));
  return CelValue::Int(order);
}
Answer Sign(Arguments a) {
  ASSIGN_OR_RETURN(const Quantity quantity, QuantityOf(a[0], "sign"));
  return CelValue::Int(quantity < Quantity() ? -1 : (quantity > Quantity() ? 1 : 0));
}
Answer IsInteger(Arguments a) {
  ASSIGN_OR_RETURN(const Quantity quantity, QuantityOf(a[0], "isInteger"));
  return CelValue::Bool(quantity.IsWhole());
}
Answer AsInteger(Arguments a) {
  ASSIGN_OR_RETURN(const Quantity quantity, QuantityOf(a[0], "asInteger"));
  if (!quantity.IsWhole()) return absl::InvalidArgumentError("cannot convert value to integer");
  return CelValue::Int(quantity.Units().units());
}

template <int64_t kMillisPerUnit>
Answer DurationPart(Arguments a) {
  const auto* span = a[0].As<absl::Duration>();
  if (span == nullptr) return NoOverload("duration function", a[0]);
  return CelValue::Int(*span / absl::Milliseconds(kMillisPerUnit));
}

constexpr CelFunction::Style kGlobal = CelFunction::Style::kGlobal;
constexpr CelFunction::Style kReceiver = CelFunction::Style::kReceiver;
constexpr int64_t kPatternCost = 500;  // compiling one takes microseconds

constexpr CelFunction kFunctions[] = {
    {"size", kGlobal, 1, 1, SizeOf},
    {"int", kGlobal, 1, 1, ToInt},
    {"double", kGlobal, 1, 1, ToDouble},
    {"bool", kGlobal, 1, 1, ToBool},
    {"string", kGlobal, 1, 1, ToText},
    {"dyn", kGlobal, 1, 1, ToDynamic},
    {"type", kGlobal, 1, 1, TypeOf},
    {"duration", kGlobal, 1, 1, ToDuration},
    {"timestamp", kGlobal, 1, 1, ToTimestamp},
    {"quantity", kGlobal, 1, 1, ToQuantity},
    {"isQuantity", kGlobal, 1, 1, IsQuantity},
    {"matches", kGlobal, 2, kPatternCost, Matches},
    {"size", kReceiver, 1, 1, SizeOf},
    {"startsWith", kReceiver, 2, 1, TextTest<StartsWith>},
    {"endsWith", kReceiver, 2, 1, TextTest<EndsWith>},
    {"contains", kReceiver, 2, 1, TextTest<Contains>},
    {"matches", kReceiver, 2, kPatternCost, Matches},
    {"lowerAscii", kReceiver, 1, 1, LowerAscii},
    {"upperAscii", kReceiver, 1, 1, UpperAscii},
    {"trim", kReceiver, 1, 1, Trim},
    {"split", kReceiver, 2, 1, Split},
    {"join", kReceiver, 1, 1, Join},
    {"join", kReceiver, 2, 1, JoinWith},
    {"isSorted", kReceiver, 1, 1, IsSorted},
    {"sum", kReceiver, 1, 1, Sum},
    {"min", kReceiver, 1, 1, Least},
    {"max", kReceiver, 1, 1, Most},
    {"hasValue", kReceiver, 1, 1, HasValue},
    {"value", kReceiver, 1, 1, ValueOf},
    {"orValue", kReceiver, 2, 1, OrValue},
    {"isGreaterThan", kReceiver, 2, 1, IsGreaterThan},
    {"isLessThan", kReceiver, 2, 1, IsLessThan},
    {"compareTo", kReceiver, 2, 1, CompareTo},
    {"sign", kReceiver, 1, 1, Sign},
    {"isInteger", kReceiver, 1, 1, IsInteger},
    {"asInteger", kReceiver, 1, 1, AsInteger},
    {"getHours", kReceiver, 1, 1, DurationPart<3'600'000>},
    {"getMinutes", kReceiver, 1, 1, DurationPart<60'000>},
    {"getSeconds", kReceiver, 1, 1, DurationPart<1'000>},
    {"getMilliseconds", kReceiver, 1, 1, DurationPart<1>},
};

absl::StatusOr<CelValue> ComputeInt(CelArithmetic operation, int64_t a, int64_t b) {
  int64_t out = 0;
  bool overflow = false;
  switch (operation) {
    case CelArithmetic::kAdd:
      overflow = __builtin_add_overflow(a, b, &out);
      break;
    case CelArithmetic::kSubtract:
      overflow = __builtin_sub_overflow(a, b, &out);
      break;
    case CelArithmetic::kMultiply:
      overflow = __builtin_mul_overflow(a, b, &out);
      break;
    case CelArithmetic::kDivide:
    case CelArithmetic::kModulo: {
      const bool divides = operation == CelArithmetic::kDivide;
      if (b == 0)
        return absl::InvalidArgumentError(divides ? "division by zero" : "modulus by zero");
      overflow = a == std::numeric_limits<int64_t>::min() && b == -1;
      if (!overflow) out = divides ? a / b : a % b;
      break;
    }
  }
  if (overflow) return absl::InvalidArgumentError("integer overflow");
  return CelValue::Int(out);
}

absl::StatusOr<CelValue> ComputeDouble(CelArithmetic operation, double a, double b) {
  switch (operation) {
    case CelArithmetic::kAdd:
      return CelValue::Double(a + b);
    case CelArithmetic::kSubtract:
      return CelValue::Double(a - b);
    case CelArithmetic::kMultiply:
      return CelValue::Double(a * b);
    case CelArithmetic::kDivide:
      return CelValue::Double(a / b);
    case CelArithmetic::kModulo:
      break;
  }
  return absl::InvalidArgumentError("no such overload: double % double");
}

CelValue Concatenate(const CelValue& a, const CelValue& b) {
  CelValue::List items;
  for (const CelValue* list : {&a, &b}) {
    for (int64_t i = 0; i < *list->Size(); ++i) items.push_back(list->ItemAt(i));
  }
  return CelValue::OfList(std::move(items));
}

// + and - of times and spans; nullopt when neither operand is one.
std::optional<CelValue> ComputeTime(CelArithmetic operation, const CelValue& a, const CelValue& b) {
  const bool adds = operation == CelArithmetic::kAdd;
  if (!adds && operation != CelArithmetic::kSubtract) return std::nullopt;
  const auto* a_span = a.As<absl::Duration>();
  const auto* b_span = b.As<absl::Duration>();
  const auto* a_time = a.As<absl::Time>();
  const auto* b_time = b.As<absl::Time>();
  if (a_span && b_span) return CelValue(adds ? *a_span + *b_span : *a_span - *b_span);
  if (a_time && b_span) return CelValue(adds ? *a_time + *b_span : *a_time - *b_span);
  if (a_span && b_time && adds) return CelValue(*b_time + *a_span);
  if (a_time && b_time && !adds) return CelValue(*a_time - *b_time);
  return std::nullopt;
}

}  // namespace

const CelFunction* FindCelFunction(absl::string_view name, CelFunction::Style style, size_t arity) {
  for (const CelFunction& function : kFunctions) {
    if (function.name == name && function.style == style && function.arity == arity) {
      return &function;
    }
  }
  return nullptr;
}

absl::string_view CelTypeByName(absl::string_view name) {
  for (absl::string_view type : {"bool", "int", "double", "string", "list", "map", "null_type"}) {
    if (type == name) return type;
  }
  return "";
}

absl::StatusOr<CelValue> CelCompute(CelArithmetic operation, const CelValue& a, const CelValue& b) {
  if (a.As<int64_t>() && b.As<int64_t>()) {
    return ComputeInt(operation, *a.As<int64_t>(), *b.As<int64_t>());
  }
  if (a.As<double>() && b.As<double>()) {
    return ComputeDouble(operation, *a.As<double>(), *b.As<double>());
  }
  if (operation == CelArithmetic::kAdd && a.AsText() && b.AsText()) {
    return CelValue::Text(absl::StrCat(*a.AsText(), *b.AsText()));
  }
  if (operation == CelArithmetic::kAdd && a.is_list() && b.is_list()) return Concatenate(a, b);
  if (std::optional<CelValue> time = ComputeTime(operation, a, b)) return *std::move(time);
  return absl::InvalidArgumentError(
      absl::StrCat("no such overload: arithmetic on ", a.Type(), " and ", b.Type()));
}

}  // namespace maniple
