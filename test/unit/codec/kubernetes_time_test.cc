// Times as Kubernetes writes them. Fears: a date that is none, or a longer text, is taken for a
// time; an offset is added the wrong way; years before 1970 or the last second of a year are one
// off; what is written cannot be read.
#include "api/codec/kubernetes_time.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/base/random.h"

namespace maniple::codec_kubernetes_time_test {
namespace {

bool IsLeap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int DaysOf(int year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[month - 1] + (month == 2 && IsLeap(year) ? 1 : 0);
}

// Counted day by day and year by year from 1970.
int64_t DaysSince1970(int year, int month, int day) {
  int64_t days = day - 1;
  for (int m = 1; m < month; ++m) days += DaysOf(year, m);
  for (int y = 1970; y < year; ++y) days += IsLeap(y) ? 366 : 365;
  for (int y = year; y < 1970; ++y) days -= IsLeap(y) ? 366 : 365;
  return days;
}

TEST(TimeOfKubernetes, EachDayOfOddYearsIsADateAndNoOtherIs) {
  for (const int year : {0, 1, 1900, 1969, 1970, 2000, 2024, 2025, 2100, 9999}) {
    for (int month = 0; month <= 13; ++month) {
      for (int day = 0; day <= 32; ++day) {
        const std::string text = absl::StrFormat("%04d-%02d-%02dT00:00:01Z", year, month, day);
        const absl::StatusOr<absl::Time> time = ParseKubernetesTime(text);
        const bool is_date = month >= 1 && month <= 12 && day >= 1 && day <= DaysOf(year, month);
        ASSERT_EQ(time.ok(), is_date) << text;
        if (!is_date) continue;
        ASSERT_EQ(absl::ToUnixSeconds(*time), DaysSince1970(year, month, day) * 86400 + 1) << text;
        ASSERT_EQ(FormatKubernetesTime(*time), text);
      }
    }
  }
}

TEST(TimeOfKubernetes, OffsetsAndFractionsCountAsWritten) {
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    const int hour = static_cast<int>(random.Below(24)),
              minute = static_cast<int>(random.Below(60));
    const int64_t micros = static_cast<int64_t>(random.Below(1'000'000));
    const bool behind = random.OneIn(2);
    const int year = 1960 + static_cast<int>(random.Below(20));
    const std::string text = absl::StrFormat("%d-03-01T12:00:59.%06d%c%02d:%02d", year, micros,
                                             behind ? '-' : '+', hour, minute);
    const absl::StatusOr<absl::Time> time = ParseKubernetesTime(text);
    ASSERT_TRUE(time.ok()) << text;
    const int64_t ahead = (hour * 60 + minute) * 60 * (behind ? -1 : 1);
    const int64_t seconds = DaysSince1970(year, 3, 1) * 86400 + 12 * 3600 + 59 - ahead;
    ASSERT_EQ(absl::ToUnixMicros(*time), seconds * 1'000'000 + micros) << text;
    const absl::StatusOr<absl::Time> again = ParseKubernetesTime(FormatKubernetesMicroTime(*time));
    ASSERT_TRUE(again.ok() && *again == *time) << text;
  }
}

TEST(TimeOfKubernetes, NoTextThatLacksOrAddsACharacterIsATime) {
  const std::string whole = "2026-07-21T10:11:12.5+01:30";
  ASSERT_TRUE(ParseKubernetesTime(whole).ok());
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string text = whole;
    if (whole[at] != '.' && whole[at] != '5') {
      EXPECT_FALSE(ParseKubernetesTime(text.erase(at, 1)).ok()) << at;
    }
    for (const char c : {'x', ' ', '-', '\0'}) {
      text = whole;
      EXPECT_FALSE(ParseKubernetesTime(text.insert(at, 1, c)).ok()) << at << c;
    }
    EXPECT_FALSE(ParseKubernetesTime(whole.substr(0, at)).ok()) << at;
  }
}

TEST(TimeOfKubernetes, AnOffsetDoesNotLeadOutOfTheYearsThatCanBeWritten) {
  EXPECT_TRUE(ParseKubernetesTime("9999-12-31T23:59:59.999999999Z").ok());
  EXPECT_FALSE(ParseKubernetesTime("9999-12-31T23:59:59-00:01").ok());
  EXPECT_FALSE(ParseKubernetesTime("0000-01-01T00:00:00+00:01").ok());
  EXPECT_FALSE(ParseKubernetesTime("2026-01-01T23:59:60Z").ok());
  EXPECT_FALSE(ParseKubernetesTime("2026-01-01T24:00:00Z").ok());
}

}  // namespace
}  // namespace maniple::codec_kubernetes_time_test
