#include "api/codec/quantity.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/status_macros.h"
#include "api/codec/utf8.h"

namespace maniple {
namespace {

using Wide = unsigned __int128;

constexpr int64_t kNanosPerUnit = 1'000'000'000;
constexpr int64_t kNanosPerMilli = 1'000'000;
constexpr int64_t kMostUnits = std::numeric_limits<int64_t>::max();
// 2^63-1 has 19 digits: more in front of the point saturate whatever they are.
constexpr int64_t kMostDigits = 19;
// After so many zeros behind the point (60 bits of a suffix, 9 digits of nano) all that is left is
// the rounding.
constexpr int64_t kMostLeadingZeros = 64;
constexpr int64_t kMostExponent = 1'000'000'000;
constexpr absl::string_view kLarge = "kMGTPE";
constexpr absl::string_view kBinary = "KMGTPE";  // each with an 'i' behind it

struct Scale {
  int binary_bits = 0;   // times 2^binary_bits …
  int64_t exponent = 0;  // … times 10^exponent
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

absl::string_view TakeDigits(absl::string_view& text) {
  size_t count = 0;
  while (count < text.size() && IsDigit(text[count])) ++count;
  const absl::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

std::optional<Scale> ParseExponent(absl::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const absl::string_view digits = TakeDigits(text);
  if (digits.empty() || !text.empty()) return std::nullopt;
  int64_t value = 0;
  for (const char c : digits) value = std::min(kMostExponent, value * 10 + (c - '0'));
  return Scale{0, negative ? -value : value};
}

std::optional<Scale> ParseSuffix(absl::string_view suffix) {
  static constexpr absl::string_view kSmall = "num";
  if (suffix.empty()) return Scale{};
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const size_t at = kBinary.find(suffix[0]);
    if (at == absl::string_view::npos) return std::nullopt;
    return Scale{static_cast<int>(at + 1) * 10, 0};
  }
  if (suffix.size() > 1) {
    if (suffix[0] != 'e' && suffix[0] != 'E') return std::nullopt;
    return ParseExponent(suffix.substr(1));
  }
  if (const size_t at = kSmall.find(suffix[0]); at != absl::string_view::npos) {
    return Scale{0, 3 * static_cast<int64_t>(at) - 9};
  }
  if (const size_t at = kLarge.find(suffix[0]); at != absl::string_view::npos) {
    return Scale{0, 3 * static_cast<int64_t>(at) + 3};
  }
  return std::nullopt;
}

// digits * 10^-behind_point * 2^binary_bits in nano, rounded up, exactly; nullopt when it is above
// kMostUnits. `digits` has no leading zeros; `behind_point` may be negative or larger than their
// number.
std::optional<Wide> NanosOf(absl::string_view digits, int64_t behind_point, int binary_bits) {
  if (digits.empty()) return Wide{0};
  const int64_t before_point = static_cast<int64_t>(digits.size()) - behind_point;
  if (before_point > kMostDigits) return std::nullopt;

  Wide whole = 0;
  for (int64_t i = 0; i < before_point; ++i) {
    const bool given = i < static_cast<int64_t>(digits.size());
    whole = whole * 10 + (given ? static_cast<unsigned>(digits[static_cast<size_t>(i)] - '0') : 0u);
  }
  whole <<= binary_bits;
  if (whole > static_cast<Wide>(kMostUnits)) return std::nullopt;

  // 0.d1d2…dn * unit by Horner's rule from the last digit. Flooring each step is exact, because
  // every d * unit is whole; a remainder anywhere says that the result is not.
  const Wide unit = static_cast<Wide>(kNanosPerUnit) << binary_bits;
  Wide fraction = 0;
  bool inexact = false;
  const auto divide_with = [&](unsigned digit) {
    fraction += digit * unit;
    inexact |= fraction % 10 != 0;
    fraction /= 10;
  };
  const auto first = static_cast<size_t>(std::max<int64_t>(0, before_point));
  for (size_t i = digits.size(); i > first; --i)
    divide_with(static_cast<unsigned>(digits[i - 1] - '0'));
  for (int64_t i = std::min(kMostLeadingZeros, -before_point); i > 0; --i) divide_with(0);

  return whole * static_cast<Wide>(kNanosPerUnit) + fraction + (inexact ? 1 : 0);
}

absl::Status NotAQuantity(absl::string_view text) {
  const absl::string_view shown = Utf8Prefix(text, 64);
  return absl::InvalidArgumentError(absl::StrCat("\"", Printable(shown),
                                                 shown.size() < text.size() ? "…" : "",
                                                 "\" is no quantity (like 100m, 1.5Gi or 2e3)"));
}

bool CountsBytes(absl::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         absl::StartsWith(resource, "hugepages-");
}

struct Scaled {
  int64_t left = 0;
  std::string text;
};

// With as many steps' suffix as leave a whole number.
Scaled ScaledBy(int64_t step, int64_t bytes, absl::string_view suffixes, absl::string_view end) {
  size_t used = 0;
  for (; bytes != 0 && bytes % step == 0 && used < suffixes.size(); ++used) bytes /= step;
  if (used == 0) return {bytes, absl::StrCat(bytes)};
  return {bytes, absl::StrCat(bytes, suffixes.substr(used - 1, 1), end)};
}

// "64Gi" or "100G": whichever leaves the smaller number.
std::string BytesText(int64_t bytes) {
  const Scaled binary = ScaledBy(1024, bytes, kBinary, "i");
  const Scaled decimal = ScaledBy(1000, bytes, kLarge, "");
  const bool is_binary = bytes < 0 ? binary.left >= decimal.left : binary.left <= decimal.left;
  return is_binary ? binary.text : decimal.text;
}

}  // namespace

absl::StatusOr<Quantity> Quantity::Parse(absl::string_view text) {
  absl::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  const absl::string_view whole_digits = TakeDigits(rest);
  absl::string_view fraction_digits;
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    fraction_digits = TakeDigits(rest);
  }
  const std::optional<Scale> scale = ParseSuffix(rest);
  if ((whole_digits.empty() && fraction_digits.empty()) || !scale.has_value()) {
    return NotAQuantity(text);
  }
  const std::string joined = absl::StrCat(whole_digits, fraction_digits);
  absl::string_view digits = joined;
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  const int64_t behind_point = static_cast<int64_t>(fraction_digits.size()) - scale->exponent;

  Wide most = static_cast<Wide>(kMostUnits) * static_cast<Wide>(kNanosPerUnit);
  const Wide nanos =
      std::min(most, NanosOf(digits, behind_point, scale->binary_bits).value_or(most));
  const int64_t sign = negative ? -1 : 1;
  Quantity out;
  out.units_ = sign * static_cast<int64_t>(nanos / static_cast<Wide>(kNanosPerUnit));
  out.nanos_ = sign * static_cast<int64_t>(nanos % static_cast<Wide>(kNanosPerUnit));
  return out;
}

Quantity& Quantity::operator+=(const Quantity& other) {
  constexpr __int128 kMost = static_cast<__int128>(kMostUnits) * kNanosPerUnit;
  const auto nanos_of = [](const Quantity& quantity) {
    return static_cast<__int128>(quantity.units_) * kNanosPerUnit + quantity.nanos_;
  };
  const __int128 sum = std::clamp(nanos_of(*this) + nanos_of(other), -kMost, kMost);
  units_ = static_cast<int64_t>(sum / kNanosPerUnit);
  nanos_ = static_cast<int64_t>(sum % kNanosPerUnit);
  return *this;
}

Amount Quantity::Milli() const {
  const int64_t up = nanos_ < 0 ? -(kNanosPerMilli - 1) : kNanosPerMilli - 1;
  return Amount(units_) * 1000 + Amount((nanos_ + up) / kNanosPerMilli);
}

Amount Quantity::Units() const {
  return Amount(units_) + Amount(nanos_ > 0 ? 1 : nanos_ < 0 ? -1 : 0);
}

bool Quantity::IsWhole() const { return nanos_ == 0; }

absl::StatusOr<Amount> ParseAmount(absl::string_view resource, absl::string_view text) {
  ASSIGN_OR_RETURN(const Quantity quantity, Quantity::Parse(text));
  return resource == "cpu" ? quantity.Milli() : quantity.Units();
}

std::string FormatAmount(absl::string_view resource, Amount amount) {
  if (CountsBytes(resource)) return BytesText(amount.units());
  if (resource != "cpu") return absl::StrCat(amount.units());
  if (amount.units() % 1000 == 0) return absl::StrCat(amount.units() / 1000);
  return absl::StrCat(amount.units(), "m");
}

}  // namespace maniple
