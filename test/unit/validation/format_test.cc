// The string formats of OpenAPI. Fears: white space or a short field passes for a date; a text that
// is cut short crashes; a span beyond what Go can hold is one.
#include "api/validation/format.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/validation/pattern.h"

namespace maniple::validation_format_test {
namespace {

// What go-openapi/strfmt takes, as it says it; whether the day exists is asked apart.
constexpr char kDay[] = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
constexpr char kTime[] =
    "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]+)?([zZ]|[+-][0-9]{2}:[0-9]{2})";

bool Fits(absl::string_view text, const std::string& expression) {
  return Pattern::Compile(absl::StrCat("^(?:", expression, ")$"))->Matches(text);
}

// One character of a good text is changed, put in or taken out.
std::string Mangled(std::string text, Random& random) {
  constexpr absl::string_view kLetters = "0123456789-:.+ TtZz\t";
  const size_t at = random.Below(text.size());
  const char letter = kLetters[random.Below(kLetters.size())];
  switch (random.Below(3)) {
    case 0:
      text[at] = letter;
      break;
    case 1:
      text.insert(at, 1, letter);
      break;
    default:
      text.erase(at, 1);
  }
  return text;
}

TEST(Format, WhatIsTakenForADateLooksLikeOne) {
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = "2026-11-29";
    for (uint64_t change = 0; change < 1 + random.Below(2); ++change) text = Mangled(text, random);
    if (!MatchesFormat(StringFormat::kDate, text)) continue;
    EXPECT_TRUE(Fits(text, kDay)) << text;
  }
  EXPECT_TRUE(MatchesFormat(StringFormat::kDate, "2024-02-29"));
  EXPECT_FALSE(MatchesFormat(StringFormat::kDate, "2026-02-29"));
  EXPECT_FALSE(MatchesFormat(StringFormat::kDate, " 2026-1-01"));
  EXPECT_FALSE(MatchesFormat(StringFormat::kDate, "2026-1-1  "));
}

TEST(Format, WhatIsTakenForAMomentLooksLikeOne) {
  Random random(8);
  for (int i = 0; i < 6000; ++i) {
    std::string text = i % 2 == 0 ? "2026-11-29T02:45:40.125Z" : "2026-11-29T02:45:40+01:30";
    for (uint64_t change = 0; change < 1 + random.Below(2); ++change) text = Mangled(text, random);
    if (!MatchesFormat(StringFormat::kDateTime, text)) continue;
    EXPECT_TRUE(Fits(text, absl::StrCat(kDay, "[Tt]", kTime))) << text;
  }
}

TEST(Format, BeginningsOfAMomentAreNone) {
  const std::string whole = "2026-11-29T02:45:40.125+01:30";
  EXPECT_TRUE(MatchesFormat(StringFormat::kDateTime, whole));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(MatchesFormat(StringFormat::kDateTime, whole.substr(0, size))) << size;
  }
}

TEST(Format, ASpanIsWhatGoCanHold) {
  EXPECT_EQ(ParseGoDuration("1h30m"), absl::Minutes(90));
  EXPECT_EQ(ParseGoDuration("1\xC2\xB5s2\xC2\xB5s"), absl::Microseconds(3));
  EXPECT_EQ(ParseGoDuration("2562047h47m16.854775807s"),
            absl::Nanoseconds(std::numeric_limits<int64_t>::max()));
  for (const std::string text : {"", "1", "s", "1 s", " 1s", "1s ", "inf", "-inf", "2562048h",
                                 "-2562048h", "9999999999999999999h"}) {
    EXPECT_FALSE(ParseGoDuration(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace maniple::validation_format_test
