#include "api/validation/format.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace maniple {
namespace {

// What Go can hold.
constexpr absl::Duration kLeastSpan = absl::Nanoseconds(std::numeric_limits<int64_t>::min());
constexpr absl::Duration kMostSpan = absl::Nanoseconds(std::numeric_limits<int64_t>::max());

bool AllDigits(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

bool IsIpv4(absl::string_view text) {
  int parts = 0;
  for (absl::string_view part : absl::StrSplit(text, '.')) {
    if (++parts > 4 || part.size() > 3 || !AllDigits(part)) return false;
    int value = 0;
    if (!absl::SimpleAtoi(part, &value) || value > 255) return false;
  }
  return parts == 4;
}

// Leading zeros are taken in an address of its own only, as kube-apiserver does.
bool IsStrictIpv4(absl::string_view text) {
  const auto begins_with_zero = [](absl::string_view part) {
    return part.size() > 1 && part[0] == '0';
  };
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  return IsIpv4(text) && std::none_of(parts.begin(), parts.end(), begins_with_zero);
}

// How many 16-bit groups the colon-separated text has; -1 when one is malformed. The last may be an
// IPv4 address where an IPv6 one ends.
enum class Tail { kGroup, kMayBeIpv4 };
int GroupsOf(absl::string_view text, Tail tail) {
  if (text.empty()) return 0;
  int groups = 0;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  for (size_t i = 0; i < parts.size(); ++i) {
    if (tail == Tail::kMayBeIpv4 && i + 1 == parts.size() && IsStrictIpv4(parts[i])) {
      return groups + 2;
    }
    if (parts[i].empty() || parts[i].size() > 4) return -1;
    if (!std::all_of(parts[i].begin(), parts[i].end(), absl::ascii_isxdigit)) return -1;
    ++groups;
  }
  return groups;
}

bool IsIpv6(absl::string_view text) {
  if (text.size() > 45) return false;
  const size_t gap = text.find("::");
  if (gap == absl::string_view::npos) return GroupsOf(text, Tail::kMayBeIpv4) == 8;
  const int before = GroupsOf(text.substr(0, gap), Tail::kGroup);
  const int after = GroupsOf(text.substr(gap + 2), Tail::kMayBeIpv4);
  return before >= 0 && after >= 0 && before + after <= 7;
}

bool IsCidr(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  int bits = 0;
  if (parts.size() != 2 || !AllDigits(parts[1]) || !absl::SimpleAtoi(parts[1], &bits)) return false;
  return (IsIpv4(parts[0]) && bits <= 32) || (IsIpv6(parts[0]) && bits <= 128);
}

bool IsHostname(absl::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  for (absl::string_view label : absl::StrSplit(text, '.')) {
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') {
      return false;
    }
    if (!std::all_of(label.begin(), label.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '-'; })) {
      return false;
    }
  }
  return true;
}

bool IsUuid(absl::string_view text) {
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '-') {
      if (i != 8 && i != 13 && i != 18 && i != 23) return false;
      continue;
    }
    if (!absl::ascii_isxdigit(text[i])) return false;
    digits.push_back(text[i]);
    if (digits.size() > 32) return false;
  }
  return digits.size() == 32;
}

bool IsEmail(absl::string_view text) {
  const size_t at = text.rfind('@');
  return at != absl::string_view::npos && at > 0 && text.find(' ') == absl::string_view::npos &&
         IsHostname(text.substr(at + 1));
}

bool IsBase64(absl::string_view text) {
  std::string decoded;
  return text.size() % 4 == 0 && absl::Base64Unescape(text, &decoded);
}

// "3 days", "1 hour": the other notation that the format takes.
bool IsWordyDuration(absl::string_view text) {
  constexpr absl::string_view kUnits[] = {"ns",   "nano",   "us",  "micro", "ms",     "milli", "s",
                                          "sec",  "second", "m",   "min",   "minute", "h",     "hr",
                                          "hour", "d",      "day", "w",     "wk",     "week"};
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(text[digits])) ++digits;
  if (digits == 0 || digits > 18) return false;
  const std::string unit = absl::AsciiStrToLower(absl::StripAsciiWhitespace(text.substr(digits)));
  return std::any_of(std::begin(kUnits), std::end(kUnits), [&unit](absl::string_view each) {
    return unit == each || (each.size() > 2 && unit == absl::StrCat(each, "s"));
  });
}

// In which each 0 stands for a digit.
bool HasShape(absl::string_view text, absl::string_view shape) {
  return std::equal(text.begin(), text.end(), shape.begin(), shape.end(), [](char c, char wanted) {
    return wanted == '0' ? absl::ascii_isdigit(c) : c == wanted;
  });
}

// Abseil lets white space, a sign and short fields pass.
bool IsDate(absl::string_view text) {
  absl::Time time;
  std::string error;
  return HasShape(text, "0000-00-00") && absl::ParseTime("%Y-%m-%d", text, &time, &error);
}

// "2026-11-29T02:45:40.125+01:30", of which the fraction may be absent.
bool HasShapeOfMoment(absl::string_view text) {
  constexpr size_t kSeconds = 17, kWhole = 19;
  if (text.size() < kWhole || !HasShape(text.substr(0, kWhole), "0000-00-00T00:00:00"))
    return false;
  if (text[kSeconds] > '5') return false;  // Abseil knows leap seconds
  text.remove_prefix(kWhole);
  if (absl::ConsumePrefix(&text, ".")) {
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0) return false;
    text.remove_prefix(digits);
  }
  return text == "Z" || HasShape(text, "+00:00") || HasShape(text, "-00:00");
}

}  // namespace

StringFormat StringFormatOf(absl::string_view name) {
  struct Row {
    absl::string_view name;
    StringFormat format;
  };
  constexpr Row kRows[] = {
      {"date-time", StringFormat::kDateTime}, {"date", StringFormat::kDate},
      {"duration", StringFormat::kDuration},  {"byte", StringFormat::kByte},
      {"uuid", StringFormat::kUuid},          {"ipv4", StringFormat::kIpv4},
      {"ipv6", StringFormat::kIpv6},          {"cidr", StringFormat::kCidr},
      {"hostname", StringFormat::kHostname},  {"email", StringFormat::kEmail},
  };
  for (const Row& row : kRows) {
    if (row.name == name) return row.format;
  }
  return StringFormat::kNone;
}

std::optional<absl::Time> ParseDateTime(absl::string_view text) {
  // The length bound keeps absurd fractions out.
  if (text.size() < 20 || text.size() > 64) return std::nullopt;
  std::string upper(text);
  if (upper[10] == 't') upper[10] = 'T';
  if (upper.back() == 'z') upper.back() = 'Z';
  absl::Time time;
  std::string error;
  if (!HasShapeOfMoment(upper) || !absl::ParseTime(absl::RFC3339_full, upper, &time, &error)) {
    return std::nullopt;
  }
  return time;
}

std::optional<absl::Duration> ParseGoDuration(absl::string_view text) {
  absl::Duration duration;
  if (text.empty() || text.size() > 64 || absl::StrContains(text, "inf")) return std::nullopt;
  // Go writes microseconds with either micro sign as well.
  const std::string plain = absl::StrReplaceAll(text, {{"\xC2\xB5", "u"}, {"\xCE\xBC", "u"}});
  if (!absl::ParseDuration(plain, &duration)) return std::nullopt;
  if (duration < kLeastSpan || duration > kMostSpan) return std::nullopt;
  return duration;
}

bool MatchesFormat(StringFormat format, absl::string_view text) {
  switch (format) {
    case StringFormat::kNone:
      return true;
    case StringFormat::kDateTime:
      return ParseDateTime(text).has_value();
    case StringFormat::kDate:
      return IsDate(text);
    case StringFormat::kDuration:

      return ParseGoDuration(text).has_value() || IsWordyDuration(text);
    case StringFormat::kByte:
      return IsBase64(text);
    case StringFormat::kUuid:
      return IsUuid(text);
    case StringFormat::kIpv4:
      return IsIpv4(text);
    case StringFormat::kIpv6:
      return IsIpv6(text);
    case StringFormat::kCidr:
      return IsCidr(text);
    case StringFormat::kHostname:
      return IsHostname(text);
    case StringFormat::kEmail:
      return IsEmail(text);
  }
  return true;
}

}  // namespace maniple
