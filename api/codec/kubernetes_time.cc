#include "api/codec/kubernetes_time.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "api/codec/utf8.h"

namespace maniple {
namespace {

// Takes exactly `count` digits off the front.
std::optional<int> TakeNumber(absl::string_view& text, size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool Take(absl::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<absl::CivilSecond> TakeCivilSecond(absl::string_view& text) {
  const std::optional<int> year = TakeNumber(text, 4);
  if (!year || !Take(text, '-')) return std::nullopt;
  const std::optional<int> month = TakeNumber(text, 2);
  if (!month || !Take(text, '-')) return std::nullopt;
  const std::optional<int> day = TakeNumber(text, 2);
  if (!day || !Take(text, 'T')) return std::nullopt;
  const std::optional<int> hour = TakeNumber(text, 2);
  if (!hour || !Take(text, ':')) return std::nullopt;
  const std::optional<int> minute = TakeNumber(text, 2);
  if (!minute || !Take(text, ':')) return std::nullopt;
  const std::optional<int> second = TakeNumber(text, 2);
  if (!second) return std::nullopt;
  const absl::CivilSecond civil(*year, *month, *day, *hour, *minute, *second);
  // A civil time normalises 31 June to 1 July: what changed was no date.
  const bool same = civil.month() == *month && civil.day() == *day && civil.hour() == *hour &&
                    civil.minute() == *minute && civil.second() == *second;
  return same ? std::optional(civil) : std::nullopt;
}

// Digits beyond nanoseconds are read and dropped.
std::optional<absl::Duration> TakeFraction(absl::string_view& text) {
  if (!Take(text, '.')) return absl::ZeroDuration();
  int64_t nanos = 0;
  int64_t unit = 100'000'000;
  size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    nanos += unit * (text[digits] - '0');
    unit /= 10;
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return absl::Nanoseconds(nanos);
}

std::optional<absl::Duration> TakeOffset(absl::string_view& text) {
  if (Take(text, 'Z')) return absl::ZeroDuration();
  const bool behind = !text.empty() && text[0] == '-';
  if (!behind && (text.empty() || text[0] != '+')) return std::nullopt;
  text.remove_prefix(1);
  const std::optional<int> hours = TakeNumber(text, 2);
  if (!hours || *hours > 23 || !Take(text, ':')) return std::nullopt;
  const std::optional<int> minutes = TakeNumber(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  const absl::Duration offset = absl::Hours(*hours) + absl::Minutes(*minutes);
  return behind ? -offset : offset;
}

// In UTC, and so can be written.
bool HasYearOfFourDigits(absl::Time time) {
  static const absl::Time kFirst = absl::FromCivil(absl::CivilDay(0, 1, 1), absl::UTCTimeZone());
  static const absl::Time kEnd = absl::FromCivil(absl::CivilDay(10'000, 1, 1), absl::UTCTimeZone());
  return time >= kFirst && time < kEnd;
}

std::optional<absl::Time> ParseTime(absl::string_view text) {
  const std::optional<absl::CivilSecond> civil = TakeCivilSecond(text);
  if (!civil) return std::nullopt;
  const std::optional<absl::Duration> fraction = TakeFraction(text);
  if (!fraction) return std::nullopt;
  const std::optional<absl::Duration> offset = TakeOffset(text);
  if (!offset || !text.empty()) return std::nullopt;
  const absl::Time time =
      absl::FromUnixSeconds(*civil - absl::CivilSecond(1970, 1, 1)) + *fraction - *offset;
  return HasYearOfFourDigits(time) ? std::optional(time) : std::nullopt;
}

// "2026-07-21T10:11:12", if the year has four digits.
std::optional<std::string> FormatSeconds(absl::Time time) {
  if (!HasYearOfFourDigits(time)) return std::nullopt;
  const absl::CivilSecond at = absl::CivilSecond(1970, 1, 1) + absl::ToUnixSeconds(time);
  std::string text = "0000-00-00T00:00:00";
  const auto put = [&text](size_t begin, size_t digits, int64_t value) {
    for (size_t i = begin + digits; i > begin; value /= 10) {
      text[--i] = static_cast<char>('0' + value % 10);
    }
  };
  put(0, 4, at.year());
  put(5, 2, at.month());
  put(8, 2, at.day());
  put(11, 2, at.hour());
  put(14, 2, at.minute());
  put(17, 2, at.second());
  return text;
}

}  // namespace

absl::StatusOr<absl::Time> ParseKubernetesTime(absl::string_view text) {
  if (const std::optional<absl::Time> time = ParseTime(text)) return *time;
  return absl::InvalidArgumentError(absl::StrCat("\"", Printable(Utf8Prefix(text, 64)),
                                                 "\" is no time like 2006-01-02T15:04:05Z"));
}

std::string FormatKubernetesTime(absl::Time time) {
  if (const std::optional<std::string> seconds = FormatSeconds(time))
    return absl::StrCat(*seconds, "Z");
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

std::string FormatKubernetesMicroTime(absl::Time time) {
  if (const std::optional<std::string> seconds = FormatSeconds(time)) {
    const int64_t micros = absl::ToUnixMicros(time) - 1'000'000 * absl::ToUnixSeconds(time);
    return absl::StrCat(*seconds, ".", absl::Dec(micros, absl::kZeroPad6), "Z");
  }
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

}  // namespace maniple
